//! The target `cpu`: HLO for CPU XLA, which takes any sound module.

use halite_bundle::estimate::MemoryKind;
use halite_hlo::graph::Graph;
use halite_ir::{LowerOptions, Products};
use halite_recipe::{Calls, Recipe, TargetName};
use halite_support::Result;
use halite_target::estimate::{Analysis, Backend, Order, Question, analyze};
use halite_target::{RankSource, Target, Variant};

/// The CPU compiler of OpenXLA, as its dumps show it.
pub const CPU_XLA: Backend =
    Backend { order: Order::BreadthFirst, widens: true, recomputes: true, keeps_calls: true, borrows_results: true };

/// CPU XLA. Programs call no kernels, their processes need no settings, and there is no limit to compare with.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTarget;

impl Target for CpuTarget {
    fn variants(&self) -> Vec<Variant> {
        vec![Variant::new("cpu", "XLA on the CPU, which verifies programs")]
    }

    /// Kept, as measured against inlined calls on the steps of the peer bench: as fast, with a third less memory, and recomputation in
    /// the backward is not merged with the forward computation that it repeats.
    fn calls(&self) -> Calls {
        Calls::Keep
    }

    /// CPU XLA (0.0.1 of the plugin) fails as it runs a product of `bf16` whose batch dimensions it has to move: "Unsupported element type
    /// for DotThunk::Execute".
    fn forms(&self, _: &Recipe, options: LowerOptions) -> LowerOptions {
        LowerOptions { products: Products::WideUnlessBatchLeads, ..options }
    }

    fn ranks(&self) -> Option<RankSource> {
        Some(RankSource::Instruction)
    }

    /// Small, so that programs have the form that they have on other targets and take no more memory for it.
    fn bucket_bytes(&self, _: &Recipe) -> Option<u64> {
        Some(1 << 20)
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
