//! Estimates of the memory and instructions of a module, and whether it fits.

use crate::fit::fit;
use crate::{Generation, Tables};
use halite_bundle::estimate::{Estimate, Fit, MemoryKind};
use halite_hlo::graph::Graph;
use halite_support::Result;
use halite_target::estimate::{Analysis, Backend, Order, Question, analyze};
use std::str::FromStr;

/// `neuronx-cc`. Nothing of this is documented: it is what its hardware suggests, whose engines take narrow floats as they
/// are, and that a compiler for little memory keeps to an order in which values live shortly.
pub const NEURONX_CC: Backend =
    Backend { order: Order::Program, widens: false, recomputes: false, keeps_calls: false, borrows_results: false };

/// The flag of `neuronx-cc` that joins physical cores.
const LOGICAL_CORE: &str = "--logical-nc-config";
/// The flag of `neuronx-cc` that raises its limit of instructions in a module.
pub(crate) const INSTRUCTION_LIMIT: &str = "--internal-max-instruction-limit";

/// Estimates memory and instructions of a module on a logical core of a generation, with the kind of data that each parameter holds
/// where that is known. The estimate is compared with the capacity under the flags of a manifest.
///
/// # Errors
/// When the module is malformed.
pub fn of_hlo(hlo: &Graph, generation: Generation, flags: &[String], arguments: &[MemoryKind]) -> Result<Analysis> {
    let costs = Tables::builtin().costs(generation);
    let mut analysis = analyze(hlo, Question { backend: NEURONX_CC, arguments, costs })?;
    analysis.estimate.fit = compared(&analysis.estimate, generation, flags);
    Ok(analysis)
}

/// Compares an estimate with the capacity under the flags of a manifest; `None` where that is not known.
pub(crate) fn compared(estimate: &Estimate, generation: Generation, flags: &[String]) -> Option<Fit> {
    let tables = Tables::builtin();
    let (hardware, limits) = (tables.hardware(generation)?, tables.limits(generation)?);
    let instructions = stated(flags, INSTRUCTION_LIMIT);
    Some(fit(estimate, hardware, limits, tables.costs(generation)?, logical_core(generation, flags), instructions))
}

/// How many physical cores one logical core joins, by the flags of a manifest or by default.
pub fn logical_core(generation: Generation, flags: &[String]) -> u32 {
    let sizes = Tables::builtin().hardware(generation).map_or(&[][..], |hardware| &hardware.logical_core_sizes);
    stated(flags, LOGICAL_CORE).or(sizes.first().copied()).unwrap_or(1)
}

/// The number that a flag states.
fn stated<T: FromStr>(flags: &[String], flag: &str) -> Option<T> {
    flags.iter().find_map(|given| given.strip_prefix(flag)?.strip_prefix('=')?.parse().ok())
}
