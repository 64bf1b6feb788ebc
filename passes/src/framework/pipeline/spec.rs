//! Pipelines of names, as people write and change them.

use super::{Group, Pipeline, Stage};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Name, Result, codes};

/// The passes that run and their order, by name. [`PassRegistry::pipeline`](crate::PassRegistry::pipeline) finds the passes.
///
/// It is made of names and groups, or read from its printed form: names between commas; `(a, b)*` repeats a group until
/// none of its passes changes the module, `(a, b)*3` at most 3 times, and `tidy(a, b)*` is a group with the name `tidy`.
///
/// ```
/// use halite_passes::{Group, PipelineSpec};
///
/// let tidy = Group::new(["cse", "dce"]).named("tidy");
/// let mut spec = PipelineSpec::from(["bind-recipe"]).then(tidy).then(["inline"]);
/// spec.insert_after("tidy", "my-pass")?;
/// spec.insert_before("dce", "my-other-pass")?;
/// assert_eq!(spec.to_string(), "bind-recipe, tidy(cse, my-other-pass, dce)*, my-pass, inline");
/// assert_eq!(spec.to_string().parse(), Ok(spec));
/// # Ok::<(), halite_support::Diagnostic>(())
/// ```
pub type PipelineSpec = Pipeline<Name>;

impl Group<Name> {
    /// A group without a name, repeated at most [`ROUNDS`](Self::ROUNDS) times.
    pub fn new(passes: impl IntoIterator<Item = impl Into<Name>>) -> Self {
        Self { name: None, passes: passes.into_iter().map(Into::into).collect(), rounds: Self::ROUNDS }
    }
}

impl<N: Into<Name>, const COUNT: usize> From<[N; COUNT]> for PipelineSpec {
    /// Passes that run once each.
    fn from(passes: [N; COUNT]) -> Self {
        Self { stages: passes.into_iter().map(|pass| Stage::Once(pass.into())).collect() }
    }
}

impl From<Group<Name>> for PipelineSpec {
    fn from(group: Group<Name>) -> Self {
        Self { stages: vec![Stage::Fixpoint(group)] }
    }
}

impl PipelineSpec {
    /// The pipeline with more at its end.
    #[must_use]
    pub fn then(mut self, more: impl Into<Self>) -> Self {
        self.stages.extend(more.into().stages);
        self
    }

    /// Inserts a pass before the first pass, or named group, of the name `anchor`. In a group, it is repeated with the group.
    ///
    /// # Errors
    /// When nothing has that name, or `pass` cannot be the name of a pass.
    pub fn insert_before(&mut self, anchor: &str, pass: &str) -> Result<()> {
        self.insert(anchor, 0, pass)
    }

    /// Inserts a pass after the first pass, or named group, of the name `anchor`. In a group, it is repeated with the group.
    ///
    /// # Errors
    /// When nothing has that name, or `pass` cannot be the name of a pass.
    pub fn insert_after(&mut self, anchor: &str, pass: &str) -> Result<()> {
        self.insert(anchor, 1, pass)
    }

    /// Whether a pass, or a named group, has this name.
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The names of passes and groups, in order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.stages.iter().flat_map(|stage| group_name(stage).into_iter().chain(stage.passes()))
    }

    fn insert(&mut self, anchor: &str, offset: usize, pass: &str) -> Result<()> {
        let pass = Name::from(pass);
        pass.check("pass", "-_.")?;
        match self.find(anchor) {
            None => {
                let names: Vec<&str> = self.names().map(|name| &**name).collect();
                let message = format!("the pipeline has no pass or group `{anchor}`");
                return Err(Diagnostic::error(codes::PIPELINE, message).help(suggestion(anchor, &names)));
            }
            Some((at, None)) => self.stages.insert(at + offset, Stage::Once(pass)),
            Some((at, Some(inner))) => {
                if let Stage::Fixpoint(group) = &mut self.stages[at] {
                    group.passes.insert(inner + offset, pass);
                }
            }
        }
        Ok(())
    }

    /// The first stage that has this name, or whose group has a pass of this name, and then where.
    fn find(&self, name: &str) -> Option<(usize, Option<usize>)> {
        self.stages.iter().enumerate().find_map(|(at, stage)| match stage {
            Stage::Once(pass) => (pass == name).then_some((at, None)),
            Stage::Fixpoint(group) if group.name.as_ref().is_some_and(|own| own == name) => Some((at, None)),
            Stage::Fixpoint(group) => Some((at, Some(group.passes.iter().position(|pass| pass == name)?))),
        })
    }
}

fn group_name(stage: &Stage<Name>) -> Option<&Name> {
    match stage {
        Stage::Once(_) => None,
        Stage::Fixpoint(group) => group.name.as_ref(),
    }
}
