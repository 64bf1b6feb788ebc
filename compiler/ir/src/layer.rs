//! Layers of a model.

use halite_support::Name;
use std::fmt;

/// One of a list of alike parts of a model, such as a block of a transformer. A fact that the model states: what a weight or a scope is
/// called says nothing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Layer {
    /// The path of the list: `model.layers`.
    pub list: Name,
    /// Its place there, from 0.
    pub index: u32,
}

impl Layer {
    /// Reads a path as models and IR text write it, up to the first number that is a part of it: `model.layers.3` of
    /// `model.layers.3.mlp.up_proj.weight`. None where there is no such number, or nothing before it.
    pub fn of_path(path: &str) -> Option<Self> {
        let (mut before, mut start) = ("", 0);
        for part in path.split('.') {
            let index = part.parse().ok().filter(|index: &u32| !before.is_empty() && index.to_string() == part);
            if let Some(index) = index {
                return Some(Self { list: path[..start - 1].into(), index });
            }
            (before, start) = (part, start + part.len() + 1);
        }
        None
    }

    /// The last part of the path of its list: `layers`.
    pub fn list_name(&self) -> &str {
        self.list.rsplit('.').next().unwrap_or_default()
    }

    /// Its path, and the same without the first parts: `model.layers.3`, `layers.3`. People may write any that no other layer has.
    pub fn spellings(&self) -> impl Iterator<Item = String> + '_ {
        let rests = self.list.match_indices('.').map(|(at, _)| &self.list[at + 1..]);
        [&*self.list].into_iter().chain(rests).map(|list| format!("{list}.{}", self.index))
    }

    /// The rest of a name that begins with the path of the layer: `mlp.up_proj.weight`. It serves to write names shorter; nothing else
    /// follows from it.
    pub fn inside<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(&*self.list)?.strip_prefix('.')?.strip_prefix(&*self.index.to_string())?.strip_prefix('.')
    }
}

impl fmt::Display for Layer {
    /// Its path: `model.layers.3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.list, self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_the_layer() {
        let layer = |list: &str, index| Some(Layer { list: list.into(), index });
        assert_eq!(Layer::of_path("model.layers.13.mlp.0.weight"), layer("model.layers", 13));
        assert_eq!(Layer::of_path("h.2"), layer("h", 2));
        for path in ["model.norm.weight", "3.weight", "model.layers.3b.weight", "a..3", "", "h.99999999999", "h.03"] {
            assert_eq!(Layer::of_path(path), None, "{path}");
        }
    }

    #[test]
    fn names_are_shorter_inside() {
        let layer = Layer { list: "model.layers".into(), index: 1 };
        assert_eq!(layer.inside("model.layers.1.mlp.weight"), Some("mlp.weight"));
        assert_eq!(layer.inside("model.layers.13.mlp.weight"), None);
        assert_eq!(layer.inside("other"), None);
        assert_eq!(layer.to_string(), "model.layers.1");
        assert_eq!(layer.spellings().collect::<Vec<_>>(), ["model.layers.1", "layers.1"]);
    }
}
