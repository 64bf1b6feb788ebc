//! The cost of work in instructions of the machine.

use crate::provenance::Provenance;
use halite_recipe::TargetName;
use serde::{Deserialize, Serialize};

/// A model of the instructions that a compiler makes of HLO.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstructionCosts {
    /// The targets that these costs apply to.
    pub targets: Vec<TargetName>,
    /// The largest product of one instruction: inner size, rows of the stationary side, columns of the moving side.
    pub matmul: [u64; 3],
    /// Instructions for each such product.
    pub matmul_issues: u64,
    /// Partitions of on-chip memory, all of which one instruction works on.
    pub partitions: u64,
    /// Elements of each partition that one instruction of the vector engines works on.
    pub vector_elements: u64,
    /// Bytes that one transfer between device memory and on-chip memory moves.
    pub transfer_bytes: u64,
    /// Transfers for a vector tile of elements that are read or written at positions.
    pub indexed_transfers: u64,
    /// Instructions of a kernel for a vector tile of its largest operand or result.
    pub kernel_passes: u64,
    /// Instructions of one collective.
    pub collective: u64,
    /// The factor by which a count may be off either way.
    pub factor: f64,
    /// The source of these numbers.
    pub provenance: Provenance,
}

impl InstructionCosts {
    /// Elements that one instruction of the vector engines works on.
    pub fn vector_tile(&self) -> u64 {
        self.partitions.saturating_mul(self.vector_elements)
    }
}
