//! What the modules of a bundle are expected to need on one core, and what to change where that is too much.

mod advice;
mod plot;

pub use advice::warning;
pub use plot::plot;

use crate::neuron;
use halite_hlo::proto::HloModuleProto;
use halite_neuron::estimate::{Analysis, Backend, Question, analyze, fit};
use halite_spec::estimate::{Estimate, MemoryKind};
use halite_spec::{Buffer, ModuleEntry, Recipe, Target};
use halite_support::Result;
use halite_target::Tables;
use halite_tensor::BufferSlot;
use std::collections::BTreeMap;

/// The flag of `neuronx-cc` that joins physical cores, as manifests spell it.
const LOGICAL_CORE: &str = "--logical-nc-config=";

/// What a module needs on a core of a target, with what its parameters hold where that is known. For CPU XLA there is
/// nothing to compare with.
///
/// # Errors
/// When the module is malformed.
pub fn of_hlo(hlo: &HloModuleProto, target: Target, logical_core: u32, arguments: &[MemoryKind]) -> Result<Analysis> {
    let tables = Tables::builtin();
    let costs = tables.costs(target);
    let backend = if target.is_neuron() { Backend::NEURON } else { Backend::CPU_XLA };
    let mut analysis = analyze(hlo, Question { backend, arguments, costs })?;
    if let (Some(hardware), Some(limits), Some(costs)) = (tables.hardware(target), tables.limits(target), costs) {
        analysis.estimate.fit = Some(fit(&analysis.estimate, hardware, limits, costs, logical_core));
    }
    Ok(analysis)
}

/// What a module of a bundle needs for the target of its recipe, for the manifest; `None` for CPU XLA.
///
/// # Errors
/// When the module is malformed.
pub(crate) fn of_module(
    hlo: &HloModuleProto,
    entry: &ModuleEntry,
    buffers: &[Buffer],
    recipe: &Recipe,
) -> Result<Option<Estimate>> {
    if !recipe.target.is_neuron() {
        return Ok(None);
    }
    let arguments = arguments(entry, buffers);
    let logical_core = logical_core(recipe.target, &neuron::flags(recipe));
    Ok(Some(of_hlo(hlo, recipe.target, logical_core, &arguments)?.estimate))
}

/// How many physical cores one logical core joins, by the flags of a manifest or by default.
pub fn logical_core(target: Target, flags: &[String]) -> u32 {
    let stated = flags.iter().find_map(|flag| flag.strip_prefix(LOGICAL_CORE)?.parse().ok());
    let sizes = Tables::builtin().hardware(target).map_or(&[][..], |hardware| &hardware.logical_core_sizes);
    stated.or(sizes.first().copied()).unwrap_or(1)
}

/// What the parameters of a module hold, by the slots of the buffers that they read.
pub fn arguments(entry: &ModuleEntry, buffers: &[Buffer]) -> Vec<MemoryKind> {
    let slots: BTreeMap<&str, BufferSlot> = buffers.iter().map(|buffer| (buffer.name.as_str(), buffer.slot)).collect();
    let kind = |name: &str| match slots.get(name) {
        Some(BufferSlot::Batch) => MemoryKind::Batch,
        Some(BufferSlot::Weight) => MemoryKind::Weights,
        Some(BufferSlot::State(_)) => MemoryKind::Optimizer,
        None => MemoryKind::Arguments,
    };
    entry.inputs.iter().map(|port| kind(&port.name)).collect()
}
