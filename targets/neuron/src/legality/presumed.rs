//! Opcodes that no document lists and that a target is presumed to take.

use crate::tables::TakenOpcodes;
use crate::{Generation, Tables};
use halite_hlo::graph::Graph;
use halite_target::{Basis, Provenance};
use std::collections::BTreeMap;

/// An opcode of a module that the target is presumed to take.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Presumed {
    /// The opcode as HLO names it.
    pub opcode: String,
    /// How many instructions have it.
    pub count: usize,
    /// The source of the presumption.
    pub provenance: &'static Provenance,
}

/// The opcodes of a module of which it is our conclusion alone that a target takes them, by name.
pub fn presumed(graph: &Graph, target: Generation) -> Vec<Presumed> {
    let rests = |row: &&TakenOpcodes| row.targets.contains(&target) && row.provenance.basis == Basis::Inferred;
    let rows = Tables::builtin().opcodes.iter().filter(rests);
    let known: BTreeMap<&str, &Provenance> =
        rows.flat_map(|row| row.opcodes.iter().map(|opcode| (opcode.as_str(), &row.provenance))).collect();
    let mut counts = BTreeMap::<&str, usize>::new();
    for opcode in (0..graph.len()).map(|at| graph.opcode(at)) {
        if known.contains_key(opcode) {
            *counts.entry(opcode).or_default() += 1;
        }
    }
    let of = |(opcode, count): (&str, usize)| Presumed { opcode: opcode.to_owned(), count, provenance: known[opcode] };
    counts.into_iter().map(of).collect()
}
