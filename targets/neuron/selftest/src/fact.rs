//! The facts of the tables that rest on our conclusion or on one source.

use halite_neuron::{Generation, Tables};
use halite_target::{Basis, Provenance};

/// A row of a table that a device may confirm or refute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// The table and the row: `opcodes/call`.
    pub key: String,
    /// The statement of the row.
    pub says: String,
    /// Its source.
    pub provenance: &'static Provenance,
}

/// The rows of a target's tables that are inferred or known from a single source, in the order of tables and rows.
pub fn facts(target: Generation) -> Vec<Fact> {
    let tables = Tables::builtin();
    let mut all = Vec::new();
    let mut add = |table: &str, row: &str, says: String, provenance: &'static Provenance| {
        if matches!(provenance.basis, Basis::Inferred | Basis::SingleSource) {
            all.push(Fact { key: format!("{table}/{row}"), says, provenance });
        }
    };
    for row in tables.opcodes.iter().filter(|row| row.targets.contains(&target)) {
        for opcode in &row.opcodes {
            add("opcodes", opcode, format!("the compiler takes `{opcode}`"), &row.provenance);
        }
    }
    for row in tables.rules.iter().filter(|row| row.targets.contains(&target)) {
        add("rules", &row.id, row.consequence.clone(), &row.provenance);
    }
    for row in tables.kernels.iter().filter(|row| row.targets.contains(&target)) {
        add("kernels", &row.name, format!("what `{}` takes and gives", row.name), &row.provenance);
    }
    for row in tables.elements.iter().filter(|row| row.targets.contains(&target)) {
        add("elements", &row.dtype, format!("how `{}` is taken: {}", row.dtype, row.note), &row.provenance);
    }
    for row in tables.hardware.iter().filter(|row| row.target == target) {
        let says = "the sizes of groups that collectives take".to_owned();
        add("hardware", "groups", says, &row.groups.provenance);
        for strided in &row.groups.strided {
            let says = format!("collectives take groups of {} ranks, each {} apart", strided.size, strided.stride);
            add("hardware", &format!("groups.strided.{}", strided.size), says, &strided.provenance);
        }
    }
    if let Some(costs) = tables.costs(target) {
        add("costs", "all", "what work costs in instructions of the machine".to_owned(), &costs.provenance);
    }
    all
}
