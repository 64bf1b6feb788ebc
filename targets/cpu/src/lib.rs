//! The target `cpu`: HLO for CPU XLA, which takes whatever is sound.

use halite_bundle::estimate::MemoryKind;
use halite_hlo::graph::Graph;
use halite_recipe::TargetName;
use halite_support::Result;
use halite_target::estimate::{Analysis, Backend, Order, Question, analyze};
use halite_target::{Target, Variant};

/// The CPU compiler of OpenXLA, as its dumps show it.
pub const CPU_XLA: Backend =
    Backend { order: Order::BreadthFirst, widens: true, recomputes: true, borrows_results: true };

/// CPU XLA. Programs call no kernels, nothing surrounds their processes, and there is no limit to compare with.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTarget;

impl Target for CpuTarget {
    fn variants(&self) -> Vec<Variant> {
        vec![Variant::new("cpu", "XLA on the CPU, which verifies programs")]
    }

    fn analyze(
        &self,
        hlo: &Graph,
        _variant: &TargetName,
        _flags: &[String],
        arguments: &[MemoryKind],
    ) -> Result<Analysis> {
        analyze(hlo, Question { backend: CPU_XLA, arguments, costs: None })
    }
}
