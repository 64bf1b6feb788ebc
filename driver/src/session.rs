//! A compiler session: the registries and texts of one embedder, or of one run of the command line.

use crate::Bundle;
use crate::model::ModelBuilder;
use crate::roles::Roles;
use crate::source::{self, ModelInput, Source};
use halite_bundle::ModuleRole;
use halite_ir::Registry;
use halite_optim::{ScheduleShape, UpdateRule};
use halite_passes::{DialectRegistry, Findings, MadeBy, PassCx, PassRegistry, Pipeline, TargetView, UnreadInputs};
use halite_recipe::{Precision, Recipe, Words};
use halite_support::files::read_text;
use halite_support::{Diagnostic, Diagnostics, FileId, Name, SourceMap};
use halite_target::{Target, Targets, Vocabulary};
use halite_tensor::DType;
use std::path::Path;
use std::sync::Arc;

type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// The composites, passes, kernels, roles of modules and source texts that compilations share. Sessions are independent of each
/// other; there is no global state. A session is compiled with through a shared reference, by as many threads as there are.
///
/// Each of these can be added to from outside: [`Registry::register`] takes a composite, [`PassRegistry::register`] a pass,
/// [`Roles::insert_after`] puts it to work, [`Roles::register`] takes a role, [`DialectRegistry::register`] a kernel,
/// [`register_target`](Self::register_target) a target, [`register_rule`](Self::register_rule) an update rule and
/// [`register_schedule`](Self::register_schedule) a shape of schedules.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Session {
    /// Known composites.
    pub registry: Registry,
    /// Known passes.
    pub passes: PassRegistry,
    /// Targets, update rules, shapes of schedules and formats of data that recipes may name. See
    /// [`register_target`](Self::register_target), [`register_rule`](Self::register_rule) and
    /// [`register_schedule`](Self::register_schedule).
    pub vocabulary: Vocabulary,
    /// Known kernels: those of the targets, and others.
    pub kernels: DialectRegistry,
    /// Known roles of modules, with the passes that make them.
    pub roles: Roles,
    /// Texts that diagnostics point into.
    pub sources: SourceMap,
}

impl Session {
    /// A session with the built-in composites, passes, roles, targets, update rules, shapes of schedules and formats of data.
    pub fn new() -> Self {
        let mut session = Self {
            registry: Registry::builtin(),
            passes: PassRegistry::builtin(),
            vocabulary: Vocabulary { formats: formats(), ..Vocabulary::builtin(Targets::default()) },
            kernels: DialectRegistry::default(),
            roles: Roles::builtin(),
            sources: SourceMap::new(),
        };
        for target in halite_targets::builtin().iter() {
            session.register_target(target.clone()).expect("a test makes a session");
        }
        session
    }

    /// Adds a target with its kernels. Recipes name its variants, and may hold its table.
    ///
    /// # Errors
    /// When a target or a kernel has one of its names already.
    pub fn register_target(&mut self, target: Arc<dyn Target>) -> Result<()> {
        let kernels = target.kernels();
        self.vocabulary.targets.register(target)?;
        kernels.into_iter().try_for_each(|kernel| self.kernels.register(kernel))
    }

    /// Adds an update rule. Recipes choose it by a table `[optimizer.<name>]`.
    ///
    /// # Errors
    /// As [`UpdateRules::register`](halite_optim::UpdateRules::register).
    pub fn register_rule(&mut self, rule: Arc<dyn UpdateRule>) -> Result<()> {
        self.vocabulary.rules.register(rule)
    }

    /// Adds a shape of schedules. Recipes choose it by `schedule.shape`.
    ///
    /// # Errors
    /// As [`ScheduleShapes::register`](halite_optim::ScheduleShapes::register).
    pub fn register_schedule(&mut self, shape: Arc<dyn ScheduleShape>) -> Result<()> {
        self.vocabulary.shapes.register(shape)
    }

    /// The passes that make a module of a role.
    ///
    /// # Errors
    /// When there is no such role, or the session lacks one of its passes.
    pub fn pipeline(&self, role: &ModuleRole) -> Result<Pipeline> {
        self.passes.pipeline(&self.roles.get(role)?.pipeline)
    }

    /// The context of passes beside a module that is compiled: the registries of this session, a recipe and its target, and the place
    /// to leave findings.
    ///
    /// # Errors
    /// When the session does not know the target.
    pub fn pass_cx<'a>(&'a self, recipe: Option<&'a Recipe>, findings: Option<&'a Findings>) -> Result<PassCx<'a>> {
        let target = recipe.map(|recipe| self.vocabulary.targets.get(&recipe.target)).transpose()?;
        let target = TargetView {
            kernels: self.kernels.entries(),
            rounds_by_switch: target.is_some_and(Target::rounds_by_switch),
            calls: recipe.zip(target).map(|(recipe, target)| recipe.calls(target.calls())).unwrap_or_default(),
            unread_inputs: match target.is_some_and(Target::drops_unread_inputs) {
                true => UnreadInputs::Go,
                false => UnreadInputs::Stay,
            },
            divides_inexactly: target.is_some_and(Target::divides_inexactly),
            ranks: target.and_then(Target::ranks),
            bucket_bytes: recipe.zip(target).and_then(|(recipe, target)| target.bucket_bytes(recipe)),
        };
        let Vocabulary { rules, shapes, .. } = &self.vocabulary;
        let made_by = MadeBy::Compiler;
        Ok(PassCx { registry: &self.registry, rules, shapes, recipe, findings, target, made_by, smaller: None })
    }

    /// Loads a preset (`tiny`), a recipe (`path/to/recipe.toml`) or a model (`gpt2`, `path/to/model.hal`, or `path/to/config.json` of
    /// Hugging Face's Transformers, with default settings), with overrides `key=value`. Its texts join the sources.
    ///
    /// # Errors
    /// When there is nothing of that name, a file cannot be read, or the recipe is wrong: every mistake of it.
    pub fn load(&mut self, input: &str, overrides: &[String]) -> Result<Source, Diagnostics> {
        source::load(input, overrides, &self.vocabulary, &mut self.sources)
    }

    /// The recipe in a file, whose text joins the sources. The model is not read: it may be gone.
    ///
    /// # Errors
    /// When the file cannot be read, or the recipe is wrong: every mistake of it.
    pub fn recipe_at(&mut self, path: &Path) -> Result<Recipe, Diagnostics> {
        let file = self.sources.add(path.display().to_string(), read_text(path)?);
        Ok(halite_recipe::load(file, &[], &self.vocabulary, &mut self.sources)?.0)
    }

    /// As [`load`](Self::load), with the precision and the optimizer of another recipe, a text of this session, laid over.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_over(&mut self, input: &str, layer: FileId, overrides: &[String]) -> Result<Source, Diagnostics> {
        source::load_over(input, Some(layer), overrides, &self.vocabulary, &mut self.sources)
    }

    /// A model without a recipe, with default settings and overrides `key=value`, as [`load`](Self::load) takes model files. A text
    /// joins the sources under the name `<name.hal>`.
    ///
    /// ```
    /// let text = "model m { config { batch = 2; n = 4 } fn main(x: f32[batch, n]) {
    ///   param w: [n, n] = normal(0.02)
    ///   y = linear(x, w)
    ///   return sum(y * y, [0, 1]), 2.0
    /// } }";
    /// let mut session = halite::Session::new();
    /// let source = session.load_model("m", text, &["optimizer.adamw.lr=1e-2".to_owned()])?;
    /// assert_eq!(source.name, "m");
    /// # Ok::<(), halite::support::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// When an override is wrong, or there is no built-in model of that name where none is given.
    pub fn load_model(
        &mut self,
        name: &str,
        model: impl Into<ModelInput>,
        overrides: &[String],
    ) -> Result<Source, Diagnostics> {
        source::load_model(name, model.into(), overrides, &self.vocabulary, &mut self.sources)
    }

    /// A recipe as a text, with overrides `key=value`. It joins the sources under the name `<name.toml>`; a path to a model is relative
    /// to the current folder.
    ///
    /// # Errors
    /// Every mistake of the recipe, or that there is no such model.
    pub fn load_recipe(&mut self, name: &str, text: &str, overrides: &[String]) -> Result<Source, Diagnostics> {
        source::load_recipe(name, text, overrides, &self.vocabulary, &mut self.sources)
    }

    /// A recipe made in Rust with its model. It is held to the same rules as a recipe in a file: it is written as TOML, which
    /// joins the sources under the name `<recipe>`, so that diagnostics point at its keys. A path to a model is relative to
    /// the current folder.
    ///
    /// ```
    /// use halite::recipe::{ModelChoice, Optimizer, Recipe};
    /// use halite::source::ModelInput;
    ///
    /// let mut session = halite::Session::new();
    /// let model = ModelChoice::new("llama").with("vocab", 256).with("layers", 1);
    /// let recipe = Recipe::new(model, 2, 16, Optimizer::new("adamw", -1.0));
    /// let mistakes = session.source(recipe, ModelInput::Named).unwrap_err();
    /// assert_eq!(mistakes[0].message(), "`optimizer.adamw.lr` is -1.0, expected a number greater than 0");
    /// ```
    ///
    /// # Errors
    /// Every mistake of the recipe, or that there is no such model.
    pub fn source(&mut self, recipe: Recipe, model: impl Into<ModelInput>) -> Result<Source, Diagnostics> {
        Source::new(recipe, model, &self.vocabulary, &mut self.sources)
    }

    /// Reads the bundle in a folder, and checks it against its own recipe.
    ///
    /// # Errors
    /// As [`Bundle::read`].
    pub fn read_bundle(&self, folder: &Path) -> Result<Bundle> {
        Bundle::read(folder, &self.vocabulary)
    }

    /// A builder of a model that is compiled by a recipe: it has the composites of this session, and the element type that
    /// the recipe asks models for.
    #[track_caller]
    pub fn model(&self, name: impl Into<Name>, recipe: &Recipe) -> ModelBuilder {
        ModelBuilder::new(name, &self.registry).with_float(float(&recipe.precision))
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

/// The formats that files of data may have.
fn formats() -> Words {
    Words { words: halite_data::words(), meanings: halite_data::meanings() }
}

/// The element type that models are elaborated in; `auto-cast` narrows from there.
pub(crate) fn float(precision: &Precision) -> DType {
    if precision.operand == DType::F64 { DType::F64 } else { DType::F32 }
}

#[cfg(test)]
mod tests {
    use super::Session;

    #[test]
    fn sessions_are_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Session>();
        shared::<crate::Bundle>();
        shared::<crate::source::Source>();
    }
}
