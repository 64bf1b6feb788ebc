//! The parts of a model that was cut, with what they cost.

use super::Line;
use halite_ir::composites::Transfer;
use halite_ir::{InferCx, Layer, Module, Registry};
use indexmap::IndexSet;
use serde::Serialize;

/// A part of a model.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct PartCost {
    /// The floating-point operations of its forward on a micro-batch of all ranks, a multiply-add counting as two.
    pub flops: u64,
    /// The paths of the layers whose weights it is the first to read, in the order of the weights.
    pub layers: Vec<String>,
    /// The bytes that it hands to the next part for a micro-batch of all ranks.
    pub sends: u64,
}

/// The parts of a module that `place-stages` cut, before `split-stages`; one where it was not cut.
pub fn part_costs(module: &Module, registry: &Registry) -> Vec<PartCost> {
    let Some(entry) = module.entry() else { return Vec::new() };
    let line = Line::of(&InferCx { functions: &module.functions, registry }, entry);
    let mut parts = vec![PartCost::default()];
    for (&at, flops) in line.insts.iter().zip(&line.flops) {
        let inst = &entry.insts[at];
        if let Some((from, to)) = Transfer::ends(&inst.op) {
            parts.resize_with(parts.len().max(to + 1), PartCost::default);
            parts[from].sends += inst.results.iter().map(|&result| entry.ty(result).bytes()).sum::<u64>();
        }
        if let Some(part) = parts.last_mut() {
            part.flops = part.flops.saturating_add(*flops);
        }
    }
    let mut layers: Vec<IndexSet<&Layer>> = vec![IndexSet::new(); parts.len()];
    for info in entry.params.iter().filter_map(|param| param.weight()) {
        if let Some(layer) = &info.layer {
            layers[info.part.unwrap_or(0).min(parts.len() - 1)].insert(layer);
        }
    }
    for (part, layers) in parts.iter_mut().zip(layers) {
        part.layers = layers.into_iter().map(ToString::to_string).collect();
    }
    parts
}
