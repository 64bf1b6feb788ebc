//! Where a model is cut into the parts of a pipeline.

use crate::schema::{Field, Kind};
use halite_schedule::Pipeline;
use halite_support::units::counted;
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Where a model is cut. In TOML `stages = [9, 10, 10, 9]` or `stages = ["layers.9", "layers.19", "layers.29"]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cuts {
    /// The number of layers of each part, at least 1, in the order of the model.
    Layers(Vec<u32>),
    /// The paths of the layers with which parts begin, in the order of the model: of each part but the first.
    Begins(Vec<String>),
}

impl Field for Cuts {
    const KIND: Kind = Kind::WholesOrTexts(1, u32::MAX as i64);
}

impl Cuts {
    /// The key of a recipe.
    pub const KEY: &str = "parallel.stages";

    /// Holds the cuts to the number of parts of a pipeline.
    ///
    /// # Errors
    /// When they are of more parts or fewer, or one is there twice, at the key to change.
    pub fn check(&self, pipeline: &Pipeline) -> Result<()> {
        let parts = pipeline.parts();
        let whole = match pipeline.chunks() {
            1 => format!("{parts} stages have {parts} parts"),
            chunks => format!("{} stages of {chunks} chunks have {parts} parts", pipeline.stages()),
        };
        let (message, help) = match self {
            Self::Layers(layers) if layers.len() != parts => (
                format!("`{}` has {} numbers, expected {parts}: {whole}", Self::KEY, layers.len()),
                "state the number of layers of each part, in the order of the model",
            ),
            Self::Begins(begins) if begins.len() + 1 != parts => (
                format!(
                    "`{}` names {}, expected {}: {whole}, and the first begins with the model",
                    Self::KEY,
                    counted(begins.len(), "layer"),
                    parts - 1
                ),
                "name the layer that each part but the first begins with",
            ),
            Self::Begins(begins) => return once(begins),
            Self::Layers(_) => return Ok(()),
        };
        Err(Diagnostic::error(codes::RECIPE_CLASH, message).key(Self::KEY).help(help))
    }
}

/// Refuses a layer with which two parts begin.
fn once(begins: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let Some(at) = begins.iter().position(|path| !seen.insert(path)) else { return Ok(()) };
    let message = format!("`{}` has `{}` twice", Cuts::KEY, begins[at]);
    let error = Diagnostic::error(codes::RECIPE_CLASH, message).key(format!("{}.{at}", Cuts::KEY));
    Err(error.help("name another layer for one of the two parts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(cuts: &Cuts, stages: usize, chunks: usize) -> (String, String) {
        let error = cuts.check(&Pipeline::new(stages, chunks, 4).unwrap()).unwrap_err();
        (error.recipe_key().unwrap_or_default().to_owned(), error.message().to_owned())
    }

    #[test]
    fn there_is_an_entry_for_each_part() {
        let layers = Cuts::Layers(vec![1, 2]);
        let begins = |paths: &[&str]| Cuts::Begins(paths.iter().map(|path| (*path).to_owned()).collect());
        let plain = Pipeline::new(2, 1, 4).unwrap();
        assert_eq!(layers.check(&plain), Ok(()));
        assert_eq!(begins(&["layers.1"]).check(&plain), Ok(()));
        let (key, message) = refused(&layers, 2, 2);
        assert_eq!(key, "parallel.stages");
        assert_eq!(message, "`parallel.stages` has 2 numbers, expected 4: 2 stages of 2 chunks have 4 parts");
        let (_, message) = refused(&begins(&["a.1", "a.2"]), 2, 1);
        let told =
            "`parallel.stages` names 2 layers, expected 1: 2 stages have 2 parts, and the first begins with the model";
        assert_eq!(message, told);
        let twice = ("parallel.stages.1".to_owned(), "`parallel.stages` has `a.1` twice".to_owned());
        assert_eq!(refused(&begins(&["a.1", "a.1"]), 3, 1), twice);
    }

    #[test]
    fn both_forms_are_written_as_they_are_read() {
        let read = |text: &str| serde_json::from_str::<Cuts>(text).unwrap();
        for (text, cuts) in [("[1,2]", Cuts::Layers(vec![1, 2])), ("[\"h.1\"]", Cuts::Begins(vec!["h.1".to_owned()]))] {
            assert_eq!(read(text), cuts);
            assert_eq!(serde_json::to_string(&cuts).unwrap(), text);
        }
    }
}
