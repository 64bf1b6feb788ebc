//! Pipelines: passes and their order.

mod spec;
mod text;

pub use spec::PipelineSpec;

use crate::framework::pass::{Kind, Milestone, Pass, PassInfo, Relation};
use halite_ir::Phase;
use halite_support::{Diagnostic, Name, Result, codes};
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Passes in order: the passes themselves, ready to run, or their names, which is a [`PipelineSpec`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipeline<P = Arc<dyn Pass>> {
    /// Passes and groups, in the order in which they run.
    pub stages: Vec<Stage<P>>,
}

/// One step of a pipeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stage<P = Arc<dyn Pass>> {
    /// A pass that runs where it stands.
    Once(P),
    /// Passes repeated until none of them changes the module.
    Fixpoint(Group<P>),
}

/// Passes repeated until none of them changes the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group<P = Arc<dyn Pass>> {
    /// The name of the group, where it has one: for people, and as a place to insert passes at.
    pub name: Option<Name>,
    /// Its passes in order.
    pub passes: Vec<P>,
    /// The most rounds of it. A group that still changes the module in the last round is warned of.
    pub rounds: NonZeroU32,
}

impl<P> Default for Pipeline<P> {
    fn default() -> Self {
        Self { stages: Vec::new() }
    }
}

impl<P> Stage<P> {
    /// The passes of this step in order, those of a group once.
    pub fn passes(&self) -> &[P] {
        match self {
            Stage::Once(pass) => std::slice::from_ref(pass),
            Stage::Fixpoint(group) => &group.passes,
        }
    }
}

impl<P> Group<P> {
    /// The most rounds of a group that states no other bound: 8.
    pub const ROUNDS: NonZeroU32 = NonZeroU32::MIN.saturating_add(7);

    /// The group with a name.
    #[must_use]
    pub fn named(self, name: impl Into<Name>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The group with another bound.
    #[must_use]
    pub fn rounds(self, rounds: NonZeroU32) -> Self {
        Self { rounds, ..self }
    }
}

impl<P> Pipeline<P> {
    /// Every pass in order, groups once.
    pub fn passes(&self) -> impl Iterator<Item = &P> {
        self.stages.iter().flat_map(Stage::passes)
    }

    /// The pipeline with something else in the place of each pass.
    pub fn map<Q>(&self, mut pass: impl FnMut(&P) -> Q) -> Pipeline<Q> {
        let Ok(mapped) = self.try_map(|one| Ok::<Q, Infallible>(pass(one)));
        mapped
    }

    /// The pipeline with what `pass` makes of each pass in its place.
    ///
    /// # Errors
    /// The first that `pass` gives.
    pub fn try_map<Q, E>(
        &self,
        mut pass: impl FnMut(&P) -> std::result::Result<Q, E>,
    ) -> std::result::Result<Pipeline<Q>, E> {
        let stage = |stage: &Stage<P>| {
            Ok(match stage {
                Stage::Once(one) => Stage::Once(pass(one)?),
                Stage::Fixpoint(Group { name, passes, rounds }) => {
                    let passes = passes.iter().map(&mut pass).collect::<std::result::Result<_, E>>()?;
                    Stage::Fixpoint(Group { name: name.clone(), passes, rounds: *rounds })
                }
            })
        };
        Ok(Pipeline { stages: self.stages.iter().map(stage).collect::<std::result::Result<_, E>>()? })
    }
}

impl Group {
    /// The names of its passes.
    pub fn names(&self) -> Group<Name> {
        let passes = self.passes.iter().map(|pass| pass.info().name).collect();
        Group { name: self.name.clone(), passes, rounds: self.rounds }
    }
}

impl Pipeline {
    /// The pipeline without its optimizations: what verification compares against.
    #[must_use]
    pub fn required_only(&self) -> Pipeline {
        let required = |stage: &&Stage| matches!(stage, Stage::Once(pass) if pass.info().kind == Kind::Required);
        Pipeline { stages: self.stages.iter().filter(required).cloned().collect() }
    }

    /// Whether it has passes that are not required.
    pub fn optimizes(&self) -> bool {
        self.passes().any(|pass| pass.info().kind != Kind::Required)
    }

    /// The pipeline in two: what comes before the first pass that moves a module to another phase or gives it new inputs and results,
    /// and that pass with the rest.
    #[must_use]
    pub fn split_at_phase(&self) -> (Pipeline, Pipeline) {
        let moves_on = |info: PassInfo| info.gives.is_some() || info.relation == Relation::Defines;
        self.split_at(|pass| moves_on(pass.info()))
    }

    /// The pipeline in two: what comes before the first pass of one of these milestones, and that pass with the rest.
    #[must_use]
    pub fn split_before(&self, milestones: &[Milestone]) -> (Pipeline, Pipeline) {
        self.split_at(|pass| pass.info().milestone.is_some_and(|own| milestones.contains(&own)))
    }

    fn split_at(&self, starts: impl Fn(&dyn Pass) -> bool) -> (Pipeline, Pipeline) {
        let starts = |stage: &Stage| stage.passes().iter().any(|pass| starts(pass.as_ref()));
        let at = self.stages.iter().position(starts).unwrap_or(self.stages.len());
        let (before, after) = self.stages.split_at(at);
        (Pipeline { stages: before.to_vec() }, Pipeline { stages: after.to_vec() })
    }

    /// Checks that nothing in a group moves a module to another phase, which it does once.
    fn check_groups(&self) -> Result<()> {
        let groups = self.stages.iter().filter_map(|stage| match stage {
            Stage::Once(_) => None,
            Stage::Fixpoint(group) => Some(&group.passes),
        });
        let moves = |info: PassInfo| Some((info.gives?, info.name));
        match groups.flatten().find_map(|pass| moves(pass.info())) {
            None => Ok(()),
            Some((phase, name)) => {
                let message = format!("`{name}` cannot be repeated, because it leads to phase `{phase}`");
                Err(Diagnostic::error(codes::PIPELINE, message)
                    .help(format!("take `{name}` out of the group `(...)*`")))
            }
        }
    }

    /// Checks that each pass finds a phase it accepts, starting from `phase`, however often groups are repeated.
    ///
    /// # Errors
    /// Naming the first pass that does not.
    pub fn check_phases(&self, mut phase: Phase) -> Result<()> {
        self.check_groups()?;
        for pass in self.passes() {
            let info = pass.info();
            if !info.needs.contains(&phase) {
                let (name, from, to) = (info.name, info.needs.start(), info.needs.end());
                let takes = if from == to { format!("`{from}`") } else { format!("`{from}` to `{to}`") };
                return Err(Diagnostic::error(
                    codes::PIPELINE,
                    format!("`{name}` takes modules in phase {takes}, but is given one in `{phase}`"),
                )
                .help(if phase > *to {
                    format!("put `{name}` before the pass that leads to `{phase}`, or start from an earlier module")
                } else {
                    format!("put the passes that lead to `{from}` before `{name}`")
                }));
            }
            phase = info.gives.unwrap_or(phase);
        }
        Ok(())
    }
}
