//! The roles that a session knows: the purposes of the modules of a bundle, and the passes that make them.

mod builtin;

use halite_bundle::{MODEL_DUMPS, ModuleRole};
use halite_ir::{FuncResult, ResultRole};
use halite_passes::PipelineSpec;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Name, Result, codes};

/// The purpose of the modules of one name, and the passes that make them.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Role {
    /// Its name.
    pub name: ModuleRole,
    /// The inputs and outputs of a module of the role, in a line.
    pub summary: String,
    /// The results of the model that a module returns; those that have no role of their own are returned by all.
    pub returns: Vec<Returned>,
    /// The passes that make a module of the model.
    pub pipeline: PipelineSpec,
    /// The calls of the module in an update; `None` for a module that is no part of an update.
    pub calls: Option<Calls>,
}

/// Results of a model that modules of a role return.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Returned {
    /// The sum of the loss and the count of its elements, and the sums and counts of the model's metrics.
    Loss,
    /// Every value that the model shows, if it shows any.
    Probes,
    /// The value that the model shows by this name.
    Probe(Name),
}

/// The calls of a module in an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calls {
    /// Once.
    Once,
    /// Once for each micro-batch.
    PerMicroBatch,
}

impl Role {
    /// A role that is no part of an update.
    pub fn new(
        name: ModuleRole,
        summary: impl Into<String>,
        returns: impl Into<Vec<Returned>>,
        pipeline: impl Into<PipelineSpec>,
    ) -> Self {
        Self { name, summary: summary.into(), returns: returns.into(), pipeline: pipeline.into(), calls: None }
    }

    /// The role as a part of updates. An update calls the roles in the order in which they are compiled.
    #[must_use]
    pub fn called(self, calls: Calls) -> Self {
        Self { calls: Some(calls), ..self }
    }

    /// Whether its modules return a result of the model.
    pub(crate) fn returns(&self, result: &FuncResult) -> bool {
        result.role == ResultRole::Value || self.returns.iter().any(|returned| returned.is(result))
    }
}

impl Returned {
    /// The name of the value, where it is a single one.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Probe(name) => Some(name),
            Self::Loss | Self::Probes => None,
        }
    }

    fn is(&self, result: &FuncResult) -> bool {
        match self {
            Self::Loss => result.role.is_sum(),
            Self::Probes => result.role == ResultRole::Probe,
            Self::Probe(name) => result.role == ResultRole::Probe && result.name == *name,
        }
    }
}

/// The roles that a session knows. A value owned by the session.
///
/// The passes of a pipeline before the first that moves a module to another phase, or defines new results, are run once for all modules
/// of a bundle; the pipelines of their roles must begin with the same passes.
///
/// ```
/// use halite::Session;
/// use halite::pipelines::inference;
/// use halite::roles::{Returned, Role};
/// use halite_bundle::ModuleRole;
///
/// let mut session = Session::new();
/// let logits = ModuleRole::new("logits")?;
/// let returns = [Returned::Probe("logits".into())];
/// session.roles.register(Role::new(logits.clone(), "batch and weights to logits", returns, inference()))?;
///
/// session.roles.insert_after("auto-cast", "my-pass")?;
/// let text = |role| session.roles.get(role).map(|role| role.pipeline.to_string());
/// assert!(text(&ModuleRole::TRAIN_STEP)?.contains("auto-cast, my-pass, accumulate"));
/// assert!(text(&logits)?.contains("auto-cast, my-pass, "));
/// assert!(session.roles.insert_after("auto-casts", "my-pass").is_err());
///
/// let mut forward = session.roles.get(&ModuleRole::FORWARD)?.pipeline.clone();
/// forward.insert_after("dispatch-dialect", "my-pass")?;
/// session.roles.set_pipeline(&ModuleRole::FORWARD, forward)?;
/// # Ok::<(), halite_support::Diagnostic>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roles {
    roles: Vec<Role>,
}

impl Roles {
    /// The roles that Halite comes with.
    pub fn builtin() -> Self {
        Self { roles: builtin::roles() }
    }

    /// Adds a role.
    ///
    /// # Errors
    /// When another has its name, or the passes that all modules share are called by it.
    pub fn register(&mut self, role: Role) -> Result<()> {
        let name = role.name.name();
        if name == MODEL_DUMPS {
            let error = Diagnostic::error(codes::DUPLICATE, format!("a role cannot be named `{name}`"));
            return Err(error.note("what all modules share is called so").help("name it otherwise"));
        }
        if self.iter().any(|own| own.name == role.name) {
            let error = Diagnostic::error(codes::DUPLICATE, format!("a role named `{name}` is registered already"));
            return Err(error.help("name it otherwise; `set_pipeline` replaces the passes of a role"));
        }
        self.roles.push(role);
        Ok(())
    }

    /// All roles in order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &Role> {
        self.roles.iter()
    }

    /// The role of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, name: &ModuleRole) -> Result<&Role> {
        self.iter().find(|role| role.name == *name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &ModuleRole) -> Diagnostic {
        let names: Vec<&str> = self.iter().map(|role| role.name.name()).collect();
        let error = Diagnostic::error(codes::MODULE, format!("there is no role `{}`", name.name()));
        error.help(suggestion(name.name(), &names))
    }

    /// Replaces the pipeline of a role.
    ///
    /// # Errors
    /// When there is no such role.
    pub fn set_pipeline(&mut self, name: &ModuleRole, pipeline: impl Into<PipelineSpec>) -> Result<()> {
        let Some(role) = self.roles.iter_mut().find(|role| role.name == *name) else { return Err(self.unknown(name)) };
        role.pipeline = pipeline.into();
        Ok(())
    }

    /// Inserts a pass before the first of the name `anchor`, in each pipeline that has it, as
    /// [`PipelineSpec::insert_before`] does.
    ///
    /// # Errors
    /// When no pipeline has the other pass, or `pass` cannot be the name of a pass.
    pub fn insert_before(&mut self, anchor: &str, pass: &str) -> Result<()> {
        self.having(anchor)?.try_for_each(|pipeline| pipeline.insert_before(anchor, pass))
    }

    /// Inserts a pass after the first of the name `anchor`, in each pipeline that has it, as
    /// [`PipelineSpec::insert_after`] does.
    ///
    /// # Errors
    /// When no pipeline has the other pass, or `pass` cannot be the name of a pass.
    pub fn insert_after(&mut self, anchor: &str, pass: &str) -> Result<()> {
        self.having(anchor)?.try_for_each(|pipeline| pipeline.insert_after(anchor, pass))
    }

    /// The pipelines that have a pass, or a group, of this name; there must be one.
    fn having<'a>(&'a mut self, anchor: &'a str) -> Result<impl Iterator<Item = &'a mut PipelineSpec>> {
        if !self.iter().any(|role| role.pipeline.contains(anchor)) {
            let names: Vec<&str> = self.iter().flat_map(|role| role.pipeline.names()).map(|name| &**name).collect();
            let error = Diagnostic::error(codes::PIPELINE, format!("no pipeline has the pass `{anchor}`"));
            return Err(error.help(suggestion(anchor, &names)));
        }
        let pipelines = self.roles.iter_mut().map(|role| &mut role.pipeline);
        Ok(pipelines.filter(move |pipeline| pipeline.contains(anchor)))
    }
}

impl Default for Roles {
    fn default() -> Self {
        Self::builtin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_ir::Value;

    #[test]
    fn a_role_returns_what_it_names_and_what_has_no_role() {
        let result = |name: &str, role| FuncResult { value: Value::new(0), name: name.into(), role };
        let results = [
            result("loss", ResultRole::Loss),
            result("count", ResultRole::Count),
            result("logits", ResultRole::Probe),
            result("hidden", ResultRole::Probe),
            result("plain", ResultRole::Value),
        ];
        let returned = |returns: Vec<Returned>| -> Vec<&str> {
            let role = Role::new(ModuleRole::EVAL, "", returns, ["cse"]);
            results.iter().filter(|result| role.returns(result)).map(|result| &*result.name).collect()
        };
        assert_eq!(returned(vec![Returned::Loss]), ["loss", "count", "plain"]);
        assert_eq!(returned(vec![Returned::Probes]), ["logits", "hidden", "plain"]);
        assert_eq!(returned(vec![Returned::Probe("hidden".into())]), ["hidden", "plain"]);
    }

    #[test]
    fn passes_go_to_each_pipeline_that_has_the_anchor() {
        let mut roles = Roles::builtin();
        roles.insert_before("update", "own").unwrap();
        assert!(!roles.get(&ModuleRole::FORWARD).unwrap().pipeline.contains("own"));
        roles.insert_after("clean-up", "after-group").unwrap();
        roles.insert_before("simplify", "in-group").unwrap();
        for role in roles.iter() {
            let text = role.pipeline.to_string();
            assert!(text.contains("clean-up(cse, in-group, simplify, fold-constant, dce)*, after-group, "), "{text}");
        }
        let error = roles.insert_after("auto-casts", "own").unwrap_err();
        assert!(error.to_string().contains("no pipeline has the pass `auto-casts`"), "{error}");
        let before = roles.clone();
        assert_eq!(roles.insert_after("auto-cast", "own, dce").unwrap_err().code(), codes::NAME);
        assert_eq!(roles, before);
    }
}
