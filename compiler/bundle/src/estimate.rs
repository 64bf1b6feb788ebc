//! Estimates of the resources that a module needs on one core.

use crate::work::Work;
use serde::{Deserialize, Serialize};

/// The estimated resources that a module needs on one core, from its HLO alone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// Device memory.
    pub memory: MemoryEstimate,
    /// Instructions of the machine.
    pub instructions: InstructionEstimate,
    /// The work, of which a machine makes a time.
    #[serde(default)]
    pub work: Work,
    /// Opcodes that the estimate does not know: each is counted as a kernel that stores its result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// The comparison with a target; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// Device memory of a module, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryEstimate {
    /// All entry parameters; exact.
    pub arguments: u64,
    /// All results, those that take the memory of parameters included; exact.
    pub outputs: u64,
    /// The part of the results that takes the memory of parameters; exact.
    pub aliased: u64,
    /// The most that intermediate values take at one time; an estimate.
    pub temporaries: u64,
    /// State of the bundle that stays on the core while the module runs, which does not take it; exact.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resident: u64,
    /// The live memory by kind when intermediate values take the most. Results that take no parameter's memory count throughout.
    pub peak: MemoryByKind,
}

impl MemoryEstimate {
    /// Parameters, results beside them, the most that intermediate values take, and what stays on the core beside the module.
    pub fn total(&self) -> u64 {
        let results = self.outputs.saturating_sub(self.aliased);
        let own = self.arguments.saturating_add(results).saturating_add(self.temporaries);
        own.saturating_add(self.resident)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "`serde` calls it so")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// The kinds of contents of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Weights, and copies of weights in another type or order.
    Weights,
    /// Moments, masters and counters of the optimizer.
    Optimizer,
    /// Data of one step.
    Batch,
    /// Parameters that no buffer describes.
    Arguments,
    /// Results that take no parameter's memory.
    Results,
    /// Values that the backward makes and the optimizer reads, and the sums of them over micro-batches.
    Gradients,
    /// Values that are made before the backward begins and read when it has.
    Activations,
    /// All other intermediate values.
    Workspace,
    /// State that stays on the core while a module runs that does not take it.
    Resident,
}

impl MemoryKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [MemoryKind; 9] = [
        MemoryKind::Weights,
        MemoryKind::Optimizer,
        MemoryKind::Batch,
        MemoryKind::Arguments,
        MemoryKind::Results,
        MemoryKind::Gradients,
        MemoryKind::Activations,
        MemoryKind::Workspace,
        MemoryKind::Resident,
    ];

    /// The words for people.
    pub fn name(self) -> &'static str {
        match self {
            MemoryKind::Weights => "weights",
            MemoryKind::Optimizer => "optimizer",
            MemoryKind::Batch => "batch",
            MemoryKind::Arguments => "arguments",
            MemoryKind::Results => "results",
            MemoryKind::Gradients => "gradients",
            MemoryKind::Activations => "activations",
            MemoryKind::Workspace => "workspace",
            MemoryKind::Resident => "resident",
        }
    }
}

/// Bytes of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryByKind {
    /// Bytes of [`MemoryKind::Weights`].
    pub weights: u64,
    /// Bytes of [`MemoryKind::Optimizer`].
    pub optimizer: u64,
    /// Bytes of [`MemoryKind::Batch`].
    pub batch: u64,
    /// Bytes of [`MemoryKind::Arguments`].
    pub arguments: u64,
    /// Bytes of [`MemoryKind::Results`].
    pub results: u64,
    /// Bytes of [`MemoryKind::Gradients`].
    pub gradients: u64,
    /// Bytes of [`MemoryKind::Activations`].
    pub activations: u64,
    /// Bytes of [`MemoryKind::Workspace`].
    pub workspace: u64,
    /// Bytes of [`MemoryKind::Resident`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resident: u64,
}

impl MemoryByKind {
    /// The bytes of a kind.
    pub fn of(&self, kind: MemoryKind) -> u64 {
        match kind {
            MemoryKind::Weights => self.weights,
            MemoryKind::Optimizer => self.optimizer,
            MemoryKind::Batch => self.batch,
            MemoryKind::Arguments => self.arguments,
            MemoryKind::Results => self.results,
            MemoryKind::Gradients => self.gradients,
            MemoryKind::Activations => self.activations,
            MemoryKind::Workspace => self.workspace,
            MemoryKind::Resident => self.resident,
        }
    }

    /// The bytes of a kind, to be changed.
    pub fn of_mut(&mut self, kind: MemoryKind) -> &mut u64 {
        match kind {
            MemoryKind::Weights => &mut self.weights,
            MemoryKind::Optimizer => &mut self.optimizer,
            MemoryKind::Batch => &mut self.batch,
            MemoryKind::Arguments => &mut self.arguments,
            MemoryKind::Results => &mut self.results,
            MemoryKind::Gradients => &mut self.gradients,
            MemoryKind::Activations => &mut self.activations,
            MemoryKind::Workspace => &mut self.workspace,
            MemoryKind::Resident => &mut self.resident,
        }
    }

    /// The bytes of all kinds.
    pub fn total(&self) -> u64 {
        let Self { weights, optimizer, batch, arguments, results, gradients, activations, workspace, resident } = *self;
        let kinds = [weights, optimizer, batch, arguments, results, gradients, activations, workspace, resident];
        kinds.into_iter().fold(0, u64::saturating_add)
    }
}

/// Instructions of the machine, by what they do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstructionEstimate {
    /// Products of tiles, loads of their stationary side included.
    pub matmul: u64,
    /// Arithmetic on tiles, reductions and copies from the accumulators.
    pub vector: u64,
    /// Transfers between device memory and on-chip memory.
    pub transfer: u64,
    /// Kernels that are called by name, with all that they do.
    pub kernel: u64,
    /// Collectives.
    pub collective: u64,
}

impl InstructionEstimate {
    /// All instructions.
    pub fn total(&self) -> u64 {
        let Self { matmul, vector, transfer, kernel, collective } = *self;
        [matmul, vector, transfer, kernel, collective].into_iter().fold(0, u64::saturating_add)
    }
}

/// A comparison of a module with the limits of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Whether it fits in the memory of a logical core.
    pub memory: FitVerdict,
    /// Device memory of a logical core, less the part that a loaded model takes beside its buffers, in bytes.
    pub memory_limit: u64,
    /// Whether the compiler takes that many instructions.
    pub instructions: FitVerdict,
    /// Instructions that the compiler takes in one module, with the flags that it is given.
    pub instruction_limit: u64,
    /// Instructions that it takes with a flag that raises the limit, as far as that is known.
    pub raised_limit: u64,
}

impl Fit {
    /// The worse of both verdicts.
    pub fn verdict(&self) -> FitVerdict {
        self.memory.max(self.instructions)
    }
}

/// Whether something fits, given how far an estimate may be off.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FitVerdict {
    /// Even if the estimate is low.
    Fits,
    /// With a flag of the compiler that raises a limit.
    FitsWithFlag,
    /// It depends on how far the estimate is off.
    MayNotFit,
    /// Not even if the estimate is high.
    DoesNotFit,
}

impl FitVerdict {
    /// The words for people.
    pub fn name(self) -> &'static str {
        match self {
            FitVerdict::Fits => "fits",
            FitVerdict::FitsWithFlag => "fits with a flag",
            FitVerdict::MayNotFit => "may not fit",
            FitVerdict::DoesNotFit => "does not fit",
        }
    }
}
