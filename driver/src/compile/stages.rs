//! Stages of a pipeline.

use super::{CompiledModule, locate};
use crate::source::Source;
use halite_bundle::ModuleRole;
use halite_ir::StageTask;
use halite_support::{Diagnostic, Result, codes};

/// Refuses a recipe of which programs of stages would have to be made: there are none yet.
///
/// # Errors
/// When the recipe has several stages, at its key.
pub fn check_stages(source: &Source) -> Result<()> {
    let stages = source.recipe.stages();
    if stages >= 1 {
        return Ok(());
    }
    let message = format!("a pipeline of {stages} stages is not compiled yet");
    let help = "set `parallel.pipeline = 1`, and shard the model by `parallel.tensor`; one stage alone compiles with fewer `layers`";
    let error = Diagnostic::error(codes::NOT_SUPPORTED, message).key("parallel.pipeline").help(help);
    Err(locate(source, error.note("`halite inspect --schedule` shows what its stages would do")))
}

/// The stage of a pipeline that runs a module, and the task of the module there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StageOf {
    /// The task.
    pub task: StageTask,
    /// The stage, from 0.
    pub stage: usize,
}

impl StageOf {
    /// The name of a module of a role: `grad_step.forward_0`, `grad_step.backward_0`, `update_step.stage_0_round_1`.
    pub(super) fn name(self, role: &ModuleRole) -> String {
        let role = role.name();
        match self.task {
            StageTask::Forward { part } => format!("{role}.forward_{part}"),
            StageTask::Backward { part } => format!("{role}.backward_{part}"),
            StageTask::Update { stage, round } => format!("{role}.stage_{stage}_round_{round}"),
        }
    }
}

impl CompiledModule {
    /// Its name in a bundle: that of its role, or of its task.
    pub fn name(&self) -> String {
        self.stage.map_or_else(|| self.role.name().to_owned(), |stage| stage.name(&self.role))
    }
}
