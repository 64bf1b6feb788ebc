//! Inputs of a compilation: a recipe and a model, from a preset, from files, or made in Rust.

mod unknown;

use crate::definition::{Definition, is_definition};
use crate::hugging_face::Positions;
use crate::libraries::registered;
use crate::unread;
use halite_import::Program;
use halite_lang::Elaborated;
use halite_recipe::{ConfigValue, Places, Recipe};
use halite_support::files::{self, stem};
use halite_support::{Diagnostic, Diagnostics, FileId, SourceMap, codes, sort_by_place};
use halite_target::Vocabulary;
use indexmap::IndexMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::given::Model;
pub use crate::libraries::ModelText;

/// The recipe of a model file that comes without one. It says nothing that the model says.
const DEFAULT_RECIPE: &str = "\
halite = 1

[model]
name = ?

[optimizer.adamw]
lr = 1e-3
clip_norm = 1.0
";

/// A recipe with its model, loaded. Every session compiles it: where its texts are not among the `sources` of the session,
/// diagnostics say less of places.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Source {
    /// A short name: that of the preset or the stem of the file.
    pub name: String,
    /// The recipe with all overrides.
    pub recipe: Recipe,
    /// The text of the recipe.
    pub recipe_source: FileId,
    /// The places of the keys of the recipe.
    pub places: Places,
    /// The model's name for people.
    pub model_name: String,
    /// The model to compile: a text with its configuration, or a model made in Rust.
    pub model: Model,
    /// Warnings on a `config.json` that the model comes from.
    pub warnings: Diagnostics,
    /// The number of positions that the checkpoint of such a file is made for, where the recipe does not state the length of sequences.
    pub(crate) positions: Option<Positions>,
}

/// A model for [`Session::source`](crate::Session::source).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ModelInput {
    /// The built-in model, the model file or the `config.json` that the recipe names.
    Named,
    /// A text in the model language, which may use built-in libraries.
    Text(String),
    /// One that is built already.
    Built(Arc<Elaborated>),
    /// A program that another framework made.
    Program(Arc<Program>),
}

impl From<&str> for ModelInput {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Elaborated> for ModelInput {
    fn from(model: Elaborated) -> Self {
        Self::Built(Arc::new(model))
    }
}

impl Source {
    /// See [`Session::source`](crate::Session::source).
    pub(crate) fn new(
        recipe: Recipe,
        model: impl Into<ModelInput>,
        vocabulary: &Vocabulary,
        sources: &mut SourceMap,
    ) -> Result<Self, Diagnostics> {
        let text = toml::to_string(&recipe).map_err(|error| {
            let message = format!("the recipe holds a value that TOML cannot: {error}");
            Diagnostic::error(codes::RECIPE_RANGE, message).help("choose a value that TOML can hold")
        })?;
        let recipe_source = sources.add("<recipe>", text);
        let (recipe, places) = halite_recipe::load(recipe_source, &[], vocabulary, sources)?;
        let name = stem(Path::new(&recipe.model.name));
        let model = match model.into() {
            ModelInput::Named => {
                let place = places.get("model.name");
                let definition = Definition::named(&recipe.model.name, place, Path::new(""), sources)?;
                let name = definition.name.clone();
                return Ok(defined(name, (recipe, places), recipe_source, definition));
            }
            ModelInput::Text(text) => Model::Text(alone(&name, text, sources)?),
            ModelInput::Built(model) => Model::Built(model),
            ModelInput::Program(program) => Model::Program(program),
        };
        Ok(given(name, (recipe, places), recipe_source, model))
    }

    /// The text of the model where it is no built-in one and none made in Rust: what the recipe needs besides, with
    /// [`own_libraries`](Self::own_libraries), to be compiled elsewhere.
    pub fn own_text(&self) -> Option<&str> {
        let Model::Text(text) = &self.model else { return None };
        let text = text.model().text();
        (halite_models::model(&self.model_name) != Some(text)).then_some(text)
    }

    /// The files that the text of the model uses, and those that these use, each with its path from the folder of the model.
    pub fn own_libraries(&self) -> Vec<(PathBuf, String)> {
        let Model::Text(text) = &self.model else { return Vec::new() };
        text.files().map(|(path, file)| (path.to_path_buf(), file.text().to_owned())).collect()
    }

    /// The same source with the sizes of a step that its recipe leaves to its model, whose configuration is `config`. A batch that
    /// several ranks share is stated.
    pub fn with_sizes(&self, config: &IndexMap<String, ConfigValue>) -> Self {
        let mut source = self.clone();
        let size = |stated: Option<usize>, key: &str| stated.or_else(|| size(config, key));
        (source.recipe.batch, source.recipe.seq) = (size(self.recipe.batch, "batch"), size(self.recipe.seq, "seq"));
        source
    }

    /// The same with sequences of this length.
    pub(crate) fn with_seq(&self, seq: usize) -> Self {
        let mut source = self.clone();
        (source.recipe.seq, source.positions) = (Some(seq), None);
        source
    }

    /// Puts mistakes in the order of its texts: those that say the recipe, then the model, then what that uses.
    pub(crate) fn sort(&self, mistakes: &mut [Diagnostic]) {
        let mut texts = self.places.texts().to_vec();
        if let Model::Text(text) = &self.model {
            texts.extend(text.texts().files().map(|file| file.id()));
        }
        sort_by_place(mistakes, &texts);
    }
}

/// See [`Session::load`](crate::Session::load).
pub(crate) fn load(
    input: &str,
    overrides: &[String],
    vocabulary: &Vocabulary,
    sources: &mut SourceMap,
) -> Result<Source, Diagnostics> {
    load_over(input, None, overrides, vocabulary, sources)
}

/// As [`load`], with the precision and the optimizer of another recipe laid over, as [`halite_recipe::load_over`] does.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_over(
    input: &str,
    layer: Option<FileId>,
    overrides: &[String],
    vocabulary: &Vocabulary,
    sources: &mut SourceMap,
) -> Result<Source, Diagnostics> {
    let path = Path::new(input);
    let changes = Changes { layer, overrides, vocabulary };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => {
            let text = files::read_text(path)?;
            from_recipe(stem(path), sources.add(input, text), &files::folder_of(path), changes, sources)
        }
        _ if is_definition(path) => from_model(path, changes, sources),
        _ => match halite_models::preset(input) {
            Some(text) => {
                let file = sources.add(format!("<{input}.toml>"), text);
                from_recipe(input.to_owned(), file, Path::new("."), changes, sources)
            }
            None if halite_models::model(input).is_some() => {
                let definition = Definition::named(input, None, Path::new(""), sources)?;
                from_definition(input.to_owned(), definition, changes, sources)
            }
            None => Err(unknown::input(input).into()),
        },
    }
}

/// Changes to a recipe as it is read.
#[derive(Clone, Copy)]
struct Changes<'a> {
    vocabulary: &'a Vocabulary,
    layer: Option<FileId>,
    overrides: &'a [String],
}

impl Changes<'_> {
    fn load(self, file: FileId, sources: &mut SourceMap) -> Result<(Recipe, Places), Diagnostics> {
        halite_recipe::load_over(file, self.layer, self.overrides, self.vocabulary, sources)
    }
}

fn from_recipe(
    name: String,
    file: FileId,
    folder: &Path,
    changes: Changes<'_>,
    sources: &mut SourceMap,
) -> Result<Source, Diagnostics> {
    let loaded = changes.load(file, sources);
    let (recipe, places) = loaded.map_err(|mistakes| {
        unread::with_settings(mistakes, (file, folder), changes.overrides, changes.vocabulary, sources)
    })?;
    let definition = Definition::named(&recipe.model.name, places.get("model.name"), folder, sources)?;
    Ok(defined(name, (recipe, places), file, definition))
}

/// See [`Session::load_recipe`](crate::Session::load_recipe).
pub(crate) fn load_recipe(
    name: &str,
    text: &str,
    overrides: &[String],
    vocabulary: &Vocabulary,
    sources: &mut SourceMap,
) -> Result<Source, Diagnostics> {
    let file = sources.add(format!("<{name}.toml>"), text);
    from_recipe(name.to_owned(), file, Path::new(""), Changes { layer: None, overrides, vocabulary }, sources)
}

/// The text of the recipe of a model of this name that comes without one.
fn default_recipe_text(name: &str) -> String {
    DEFAULT_RECIPE.replace('?', &toml::Value::from(name).to_string())
}

fn from_model(path: &Path, changes: Changes<'_>, sources: &mut SourceMap) -> Result<Source, Diagnostics> {
    from_definition(name_of(path), Definition::read(path, None, sources)?, changes, sources)
}

/// A model that comes without a recipe.
fn from_definition(
    name: String,
    definition: Definition,
    changes: Changes<'_>,
    sources: &mut SourceMap,
) -> Result<Source, Diagnostics> {
    let (file, (recipe, places)) = default_recipe(&definition.name, changes, sources)?;
    Ok(defined(name, (recipe, places), file, definition))
}

/// The recipe of a model that comes without one.
fn default_recipe(
    model: &str,
    changes: Changes<'_>,
    sources: &mut SourceMap,
) -> Result<(FileId, (Recipe, Places)), Diagnostics> {
    let file = sources.add("<default recipe>", default_recipe_text(model));
    let (recipe, mut places) = changes.load(file, sources)?;
    places.forget(file);
    Ok((file, (recipe, places)))
}

/// See [`Session::load_model`](crate::Session::load_model).
pub(crate) fn load_model(
    name: &str,
    model: ModelInput,
    overrides: &[String],
    vocabulary: &Vocabulary,
    sources: &mut SourceMap,
) -> Result<Source, Diagnostics> {
    let changes = Changes { layer: None, overrides, vocabulary };
    let model = match model {
        ModelInput::Named => {
            let definition = Definition::named(name, None, Path::new(""), sources)?;
            return from_definition(name.to_owned(), definition, changes, sources);
        }
        ModelInput::Text(text) => Model::Text(alone(name, text, sources)?),
        ModelInput::Built(model) => Model::Built(model),
        ModelInput::Program(program) => Model::Program(program),
    };
    let (file, recipe) = default_recipe(name, changes, sources)?;
    Ok(given(name.to_owned(), recipe, file, model))
}

/// A model that comes as a text alone.
fn alone(name: &str, text: String, sources: &mut SourceMap) -> Result<Arc<ModelText>, Diagnostics> {
    let text = registered(format!("<{name}.hal>"), text, sources);
    ModelText::read(text, None, sources)
}

/// A source from a recipe and a model that comes with it.
fn given(name: String, (recipe, places): (Recipe, Places), recipe_source: FileId, model: Model) -> Source {
    let (model_name, warnings) = (name.clone(), Diagnostics::new());
    Source { name, recipe, recipe_source, places, model_name, model, warnings, positions: None }
}

/// A source from a recipe and the definition that it names.
fn defined(
    name: String,
    (mut recipe, mut places): (Recipe, Places),
    recipe_source: FileId,
    definition: Definition,
) -> Source {
    let mut positions = definition.complete(&mut recipe, &mut places);
    let mut warnings = Diagnostics::new();
    if let Some(seq) = recipe.seq {
        warnings.extend(positions.take().and_then(|positions| positions.warning(seq)));
    }
    let (model_name, model) = (definition.name, definition.model);
    Source { name, recipe, recipe_source, places, model_name, model, warnings, positions }
}

/// A size in the configuration of a model.
pub(crate) fn size(config: &IndexMap<String, ConfigValue>, key: &str) -> Option<usize> {
    config.get(key).and_then(ConfigValue::size)
}

/// The stem of a file, or the folder's name where all files are called `config.json`.
fn name_of(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name).filter(|_| path.ends_with("config.json"));
    folder.and_then(|folder| folder.to_str()).map_or_else(|| stem(path), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::CompileOptions;
    use halite_bundle::ModuleRole;

    fn message(input: &str, overrides: &[&str]) -> (String, String) {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let error = crate::Session::new().load(input, &overrides).unwrap_err().remove(0);
        (error.to_string(), error.help_text().unwrap_or_default().to_owned())
    }

    #[test]
    fn presets_models_and_recipes_are_found() {
        let mut session = crate::Session::new();
        assert_eq!(session.load("tiny", &[]).unwrap().name, "tiny");
        let loaded = session.load("gpt2", &["layers=2".to_owned()]).unwrap();
        assert_eq!((loaded.name.as_str(), loaded.recipe.model.name.as_str()), ("gpt2", "gpt2"));
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("mine.hal");
        std::fs::write(&model, "model mine {}").unwrap();
        let loaded = session.load(model.to_str().unwrap(), &["batch=3".to_owned()]).unwrap();
        assert_eq!((loaded.model_name.as_str(), loaded.recipe.batch), ("mine", Some(3)));
        let recipe = folder.path().join("r.toml");
        std::fs::write(&recipe, default_recipe_text("mine.hal")).unwrap();
        let loaded = session.load(recipe.to_str().unwrap(), &[]).unwrap();
        assert_eq!((loaded.name.as_str(), loaded.model_name.as_str()), ("r", "mine"));
        let Model::Text(text) = loaded.model else { panic!("a text was loaded") };
        let file = text.model();
        assert_eq!((file.text(), session.sources.file(file.id())), ("model mine {}", Some(file)));
    }

    #[test]
    fn a_recipe_is_a_text_too() {
        let mut session = crate::Session::new();
        let source = session.load_recipe("mine", &default_recipe_text("llama"), &["seq=64".to_owned()]).unwrap();
        assert_eq!((source.name.as_str(), source.model_name.as_str(), source.recipe.seq), ("mine", "llama", Some(64)));
        let mistakes =
            session.load_recipe("mine", &default_recipe_text("llama").replace("1e-3", "0"), &[]).unwrap_err();
        let place = mistakes[0].primary().unwrap().span;
        assert_eq!(session.sources.file(place.file).unwrap().name(), "<mine.toml>");
        assert_eq!(session.sources.position(place).unwrap().line, 7);
    }

    /// A name is a text for people, whatever characters it has.
    #[test]
    fn names_of_models_need_no_care() {
        let name = "a \"b\" \\ ü ?";
        let source = crate::Session::new().load_model(name, "model m {}", &[]).unwrap();
        assert_eq!(source.recipe.model.name, name);
    }

    /// Loads a model file with overrides and compiles its training step.
    fn compiled(text: &str, overrides: &[&str]) -> Result<crate::Bundle, Diagnostics> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.hal");
        std::fs::write(&path, text).unwrap();
        let mut session = crate::Session::new();
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let source = session.load(path.to_str().unwrap(), &overrides)?;
        for place in source.places.texts() {
            assert_ne!(*place, source.recipe_source, "nobody wrote that text");
        }
        let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
        Ok(session.compile(&source, &options)?.bundle)
    }

    #[test]
    fn the_sizes_of_a_model_hold_unless_others_are_stated() {
        let text = "model m {\n  config { batch = 2; seq = 32; vocab = 8 }\n  fn main(tokens: s32[batch, seq + 1]) {\n    \
                    param table: [vocab, vocab] = normal(0.02)\n    logits = embedding(tokens[:, :seq], table)\n    \
                    loss, count = cross_entropy(logits, tokens[:, 1:])\n    return loss, count\n  }\n}\n";
        let sizes = |overrides: &[&str]| {
            let manifest = compiled(text, overrides).unwrap().manifest;
            let recipe = (manifest.recipe.batch, manifest.recipe.seq);
            (manifest.buffers[0].shape.clone(), recipe, manifest.statistics.tokens_per_step)
        };
        assert_eq!(sizes(&[]), (vec![2, 33], (Some(2), Some(32)), 64));
        assert_eq!(sizes(&["seq=4"]), (vec![2, 5], (Some(2), Some(4)), 8));
        assert_eq!(sizes(&["batch=3", "seq=4"]), (vec![3, 5], (Some(3), Some(4)), 12));
    }

    #[test]
    fn a_model_without_sequences_needs_no_seq() {
        let text = "model m {\n  config { batch = 2; width = 6; classes = 3 }\n  \
                    fn main(x: f32[batch, width], labels: s32[batch]) {\n    \
                    param weight: [classes, width] = normal(0.02)\n    logits = linear(x, weight)\n    \
                    loss, count = cross_entropy(logits, labels)\n    return loss, count\n  }\n}\n";
        let manifest = compiled(text, &[]).unwrap().manifest;
        assert_eq!((manifest.recipe.batch, manifest.recipe.seq), (Some(2), None));
        assert_eq!(manifest.statistics.tokens_per_step, 2);
        let mistakes = compiled(text, &["seq=4"]).unwrap_err();
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert_eq!(mistakes[0].message(), "model `m` has no config key `seq`");
        let mistakes = compiled(text, &["widht=4"]).unwrap_err();
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert_eq!(mistakes[0].help_text(), Some("did you mean `width`?"));
    }

    /// A model that is built is compiled by the default recipe with overrides, which agree with its settings.
    #[test]
    fn a_built_model_needs_no_recipe() {
        let mut session = crate::Session::new();
        let m = crate::model::ModelBuilder::new("mine", &session.registry);
        m.setting("batch", 2);
        let x = m.batch("x", halite_tensor::DType::F32, [2, 4]);
        let y = x.matmul(m.param("w", [4, 4], halite_tensor::Init::Ones));
        let built = m.finish((y * y).sum_all(), m.scalar(2.0)).unwrap();
        let mut load = |overrides: &[&str]| {
            let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
            let source = session.load_model("mine", built.clone(), &overrides)?;
            assert!(!source.places.texts().contains(&source.recipe_source), "nobody wrote that text");
            let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
            Ok::<_, Diagnostics>(session.compile(&source, &options)?.bundle.manifest)
        };
        let manifest = load(&["batch=2", "optimizer.adamw.clip_norm=3.0"]).unwrap();
        let optimizer = serde_json::to_value(&manifest.recipe.optimizer).unwrap();
        assert_eq!((&*manifest.model.name, &optimizer["adamw"]["clip_norm"]), ("mine", &serde_json::json!(3.0)));
        assert_eq!(load(&["batch=3"]).unwrap_err().len(), 1);
        assert_eq!(
            load(&["optimizer.adamw.lrr=1"]).unwrap_err()[0].help_text(),
            Some("did you mean `lr`? `halite help lr` describes it")
        );
    }

    #[test]
    fn unknown_inputs_get_a_suggestion() {
        let (text, help) = message("tinny", &[]);
        assert_eq!(
            text,
            "error[E0401]: `tinny` is no preset, no built-in model, and no path to a recipe (`.toml`) or a model (`.hal`, `.json`, `.mlir`, `.hlo`, `.pb` and `.txt`)"
        );
        assert_eq!(help, "did you mean `tiny`?");
        assert!(message("none.toml", &[]).0.starts_with("error[E0501]: cannot read `none.toml`"));
        assert!(message("tiny", &["model.name=lama"]).1.starts_with("did you mean `llama`?"));
    }
}
