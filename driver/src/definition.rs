//! The definition of a model: a built-in one, a model file, a program of another framework, or a `config.json`.

use crate::given::Model;
use crate::hugging_face::{self, Imported, Positions};
use crate::libraries::{ModelText, registered};
use crate::program_file;
use halite_hlo::CheckedHlo;
use halite_import::Program;
use halite_recipe::{Places, Recipe};
use halite_support::files;
use halite_support::nearest::{list, suggestion};
use halite_support::{Diagnostic, Diagnostics, SourceMap, Span, codes};
use std::path::Path;
use std::sync::Arc;

/// The endings of files that define models, but for those of programs.
const ENDINGS: [&str; 2] = [".hal", ".json"];

/// Whether a path is named as one of a file that defines a model.
pub(crate) fn is_definition(path: &Path) -> bool {
    let is_text = path.to_str().is_some_and(|path| ENDINGS.iter().any(|ending| path.ends_with(ending)));
    is_text || program_file::is_named(path)
}

/// The endings of files that define models, for messages.
pub(crate) fn endings() -> String {
    list(&ENDINGS.iter().chain(&program_file::ENDINGS).copied().collect::<Vec<_>>())
}

/// The definition of a model.
pub(crate) struct Definition {
    /// Its name for people; that of a built-in model is also the one in a recipe.
    pub(crate) name: String,
    pub(crate) model: Model,
    /// The settings of a `config.json`.
    imported: Option<Imported>,
}

impl Definition {
    /// The definition that a recipe names: a built-in model, or a file in `folder`.
    ///
    /// # Errors
    /// When there is none, what it uses cannot be used, or the `config.json` is not one that a built-in model computes: every mistake
    /// in it.
    pub(crate) fn named(
        name: &str,
        place: Option<Span>,
        folder: &Path,
        sources: &mut SourceMap,
    ) -> Result<Self, Diagnostics> {
        if let Some(text) = built_in(name, sources)? {
            return Ok(Self { name: name.to_owned(), model: Model::Text(text), imported: None });
        }
        if is_definition(Path::new(name)) {
            return Self::read(&folder.join(name), place, sources);
        }
        let known: Vec<&str> = halite_models::models().iter().map(|(name, _)| *name).collect();
        let help = match name.split_once('/') {
            Some((_, model)) => of_hub(model),
            None => format!("{} (a path to a model ends in {})", suggestion(name, &known), endings()),
        };
        let error = Diagnostic::error(codes::INPUT, format!("there is no built-in model `{name}`"));
        Err(error.or_at(place, "unknown model").help(help).into())
    }

    /// The definition in a model file, or the built-in one that a `config.json` stands for.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub(crate) fn read(path: &Path, place: Option<Span>, sources: &mut SourceMap) -> Result<Self, Diagnostics> {
        let name = files::stem(path);
        let named = |error: Diagnostic| error.or_at(place, "named here");
        if program_file::is_named(path) {
            let hlo = program_file::read(path, sources)
                .map_err(|mistakes| mistakes.into_iter().map(named).collect::<Diagnostics>())?;
            let hlo = CheckedHlo::new(hlo)?;
            let model = Model::Program(Arc::new(Program::read(name.as_str(), hlo)?));
            return Ok(Self { name, model, imported: None });
        }
        let text = files::read_text(path).map_err(named)?;
        let source = registered(path.display().to_string(), text, sources);
        if path.extension().is_some_and(|extension| extension == "hal") {
            let model = Model::Text(ModelText::read(source, path.parent(), sources)?);
            return Ok(Self { name, model, imported: None });
        }
        let imported = hugging_face::import(&source)?;
        let missing = || Diagnostic::bug(format!("there is no built-in model `{}`", imported.model));
        let text = built_in(imported.model, sources)?.ok_or_else(missing)?;
        Ok(Self { name: imported.model.to_owned(), model: Model::Text(text), imported: Some(imported) })
    }

    /// Adds the settings of a `config.json` to a recipe, which take effect where the recipe states none, so that the recipe says the
    /// same without that file. Returns the number of positions that the checkpoint is made for, by that file.
    pub(crate) fn complete(&self, recipe: &mut Recipe, places: &mut Places) -> Option<Positions> {
        let imported = self.imported.as_ref()?;
        recipe.model.name.clone_from(&self.name);
        let config = &mut recipe.model.config;
        for (&key, (value, span)) in &imported.settings {
            if config.contains_key(key) {
                continue;
            }
            config.insert(key.to_owned(), value.clone());
            if let Some(span) = *span {
                places.add(format!("model.config.{key}"), span);
            }
        }
        config.sort_keys();
        imported.positions
    }
}

/// The help on the name of a checkpoint that others publish.
pub(crate) fn of_hub(model: &str) -> String {
    format!(
        "nothing is downloaded: if it is a checkpoint of Hugging Face, fetch it and give the path of its `{model}/config.json`"
    )
}

/// The text of a built-in model.
fn built_in(name: &str, sources: &mut SourceMap) -> Result<Option<Arc<ModelText>>, Diagnostics> {
    let text = halite_models::model(name).map(|text| registered(format!("<{name}.hal>"), text, sources));
    text.map(|text| ModelText::read(text, None, sources)).transpose()
}
