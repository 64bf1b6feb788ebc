//! Whether a module fits a target.

use crate::tables::{Hardware, Limits};
use halite_bundle::estimate::{Estimate, Fit, FitVerdict};
use halite_target::estimate::InstructionCosts;

/// How far the estimate of temporaries may be off, as a part of it.
pub const MEMORY_MARGIN: f64 = 0.25;

/// Compares an estimate with logical cores that each join `logical_core` physical ones, and with the instruction limit, which is that
/// of the compiler's flags if they state one.
pub fn fit(
    estimate: &Estimate,
    hardware: &Hardware,
    limits: &Limits,
    costs: &InstructionCosts,
    logical_core: u32,
    stated_instructions: Option<u64>,
) -> Fit {
    let memory_limit =
        hardware.core_memory.saturating_mul(u64::from(logical_core)).saturating_sub(limits.model_overhead);
    let memory = &estimate.memory;
    let known = memory.total().saturating_sub(memory.temporaries) as f64;
    let with = |factor: f64| known + memory.temporaries as f64 * factor;
    let instructions = estimate.instructions.total() as f64;
    let instruction_limit = stated_instructions.unwrap_or(limits.instructions);
    let raised_limit = instruction_limit.max(limits.raised_instructions);
    let within = |limit| verdict(instructions / costs.factor, instructions * costs.factor, limit);
    Fit {
        memory: verdict(with(1.0 - MEMORY_MARGIN), with(1.0 + MEMORY_MARGIN), memory_limit),
        memory_limit,
        instructions: match (within(instruction_limit), within(raised_limit)) {
            (FitVerdict::Fits, _) => FitVerdict::Fits,
            (_, FitVerdict::Fits) => FitVerdict::FitsWithFlag,
            (_, raised) => raised,
        },
        instruction_limit,
        raised_limit,
    }
}

/// The verdict on a quantity between two bounds, against a limit.
fn verdict(least: f64, most: f64, limit: u64) -> FitVerdict {
    let limit = limit as f64;
    if most <= limit {
        FitVerdict::Fits
    } else if least > limit {
        FitVerdict::DoesNotFit
    } else {
        FitVerdict::MayNotFit
    }
}
