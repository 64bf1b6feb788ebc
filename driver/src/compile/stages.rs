//! Stages of a pipeline.

use super::CompiledModule;
use halite_bundle::ModuleRole;
use halite_ir::{Module, StageTask};
use halite_passes::StageProgram;
use halite_support::Name;
use indexmap::IndexMap;

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
            StageTask::BackwardInput { part } => format!("{role}.backward_input_{part}"),
            StageTask::BackwardWeights { part } => format!("{role}.backward_weights_{part}"),
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

/// Another program that a compiled one is too, but for names.
#[derive(Clone, Debug)]
pub struct Twin {
    /// The stage that runs it, and its task there.
    pub stage: StageOf,
    /// The program as it was before the passes of its own.
    pub(super) module: Module,
    /// Its names of parameters and results, by those of the compiled one.
    pub(super) names: IndexMap<Name, Name>,
}

impl Twin {
    /// The twin of a module, before the passes of its own.
    pub(super) fn of(module: &Module, twin: StageProgram) -> Self {
        let StageProgram { task, stage, module: own } = twin;
        let mut names = IndexMap::new();
        if let (Some(entry), Some(twin)) = (module.entry(), own.entry()) {
            let params = entry.params.iter().zip(&twin.params).map(|(entry, own)| (&entry.name, &own.name));
            let results = entry.results.iter().zip(&twin.results).map(|(entry, own)| (&entry.name, &own.name));
            names.extend(params.chain(results).map(|(entry, own)| (entry.clone(), own.clone())));
        }
        Self { stage: StageOf { task, stage }, module: own, names }
    }
}
