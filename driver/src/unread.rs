//! Mistakes in the settings of a model whose recipe has mistakes too, so that all are shown at once.

use crate::definition::Definition;
use crate::given::Model;
use crate::libraries::known_libraries;
use halite_ir::Registry;
use halite_lang::{Options, Override};
use halite_recipe::model_of;
use halite_support::{Diagnostics, FileId, SourceMap, codes, sort_by_place};
use halite_target::Vocabulary;
use std::path::Path;

/// Adds to the mistakes of a recipe those in the settings of its model: unknown keys, and values of another kind.
pub(crate) fn with_settings(
    mut mistakes: Diagnostics,
    (file, folder): (FileId, &Path),
    overrides: &[String],
    vocabulary: &Vocabulary,
    sources: &mut SourceMap,
) -> Diagnostics {
    let Some((model, places)) = model_of(file, overrides, vocabulary, sources) else { return mistakes };
    let place = places.get("model.name");
    let found = match Definition::named(&model.name, place, folder, sources) {
        Ok(definition) => {
            let setting = |(key, value): (&String, &halite_recipe::ConfigValue)| Override {
                span: places.get(&format!("model.config.{key}")),
                hint: halite_recipe::hint(key, vocabulary, None).map(|hint| hint.help),
                ..Override::new(key, value.clone())
            };
            let overrides = model.config.iter().map(setting).collect();
            let options = Options { overrides, libraries: known_libraries(), ..Options::default() };
            match &definition.model {
                Model::Text(text) => {
                    halite_lang::elaborate_texts(text.texts(), &options, &Registry::builtin()).err().unwrap_or_default()
                }
                Model::Built(_) | Model::Program(_) => Diagnostics::new(),
            }
        }
        Err(unknown) => unknown,
    };
    let is_of_recipe = [codes::CONFIG_VALUE, codes::INPUT];
    mistakes.extend(found.into_iter().filter(|mistake| is_of_recipe.contains(&mistake.code())));
    sort_by_place(&mut mistakes, places.texts());
    mistakes
}
