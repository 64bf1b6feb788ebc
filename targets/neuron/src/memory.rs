//! What a module needs on a core, and whether it fits.

use crate::fit::fit;
use crate::{Generation, Tables};
use halite_bundle::estimate::{Estimate, Fit, MemoryKind};
use halite_hlo::graph::Graph;
use halite_support::Result;
use halite_target::estimate::{Analysis, Backend, Order, Question, analyze};

/// `neuronx-cc`. Nothing of this is documented: it is what its hardware suggests, whose engines take narrow floats as they
/// are, and that a compiler for little memory keeps to an order in which values live shortly.
pub const NEURONX_CC: Backend =
    Backend { order: Order::Program, widens: false, recomputes: false, keeps_calls: false, borrows_results: false };

/// The flag of `neuronx-cc` that joins physical cores, as manifests spell it.
const LOGICAL_CORE: &str = "--logical-nc-config=";

/// What a module needs on a logical core of a generation that joins so many physical ones, with what its parameters hold where
/// that is known, compared with what there is.
///
/// # Errors
/// When the module is malformed.
pub fn of_hlo(hlo: &Graph, generation: Generation, logical_core: u32, arguments: &[MemoryKind]) -> Result<Analysis> {
    let costs = Tables::builtin().costs(generation);
    let mut analysis = analyze(hlo, Question { backend: NEURONX_CC, arguments, costs })?;
    analysis.estimate.fit = compared(&analysis.estimate, generation, logical_core);
    Ok(analysis)
}

/// An estimate, compared with what a logical core has that joins so many physical ones; `None` where that is not known.
pub(crate) fn compared(estimate: &Estimate, generation: Generation, logical_core: u32) -> Option<Fit> {
    let tables = Tables::builtin();
    let (hardware, limits) = (tables.hardware(generation)?, tables.limits(generation)?);
    Some(fit(estimate, hardware, limits, tables.costs(generation)?, logical_core))
}

/// How many physical cores one logical core joins, by the flags of a manifest or by default.
pub fn logical_core(generation: Generation, flags: &[String]) -> u32 {
    let stated = flags.iter().find_map(|flag| flag.strip_prefix(LOGICAL_CORE)?.parse().ok());
    let sizes = Tables::builtin().hardware(generation).map_or(&[][..], |hardware| &hardware.logical_core_sizes);
    stated.or(sizes.first().copied()).unwrap_or(1)
}
