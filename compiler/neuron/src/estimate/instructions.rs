//! Instructions of the machine, from counts of tiles.
//!
//! The matrix engine multiplies a stationary tile `[inner, rows]` with a moving tile `[inner, columns]`; the vector and
//! scalar engines work on tiles of all partitions; transfers move one tile. What does not fill a tile takes one all the same.

use super::graph::{Class, Graph, Value};
use super::storage::Steps;
use halite_hlo::proto::ShapeProto;
use halite_spec::estimate::InstructionEstimate;
use halite_spec::target::InstructionCosts;

pub(super) fn count(graph: &Graph<'_>, steps: &Steps, costs: &InstructionCosts) -> InstructionEstimate {
    let mut all = InstructionEstimate::default();
    for id in 0..graph.values.len() as u32 {
        let value = graph.value(id);
        let read = || graph.operands(id).iter().map(|operand| graph.value(*operand).elements).max().unwrap_or(0);
        match value.class {
            Class::Parameter | Class::Concatenate => {}
            Class::Fused { .. } if is_free(&value.inst.opcode) => {}
            Class::Fused { .. } => all.vector += tiles(value.elements, costs.vector_tile()),
            Class::Reduce { .. } => all.vector += tiles(read(), costs.vector_tile()),
            Class::Dot(_) => add_product(&mut all, graph, id, costs),
            // One descriptor for each row that is read or written.
            Class::Gather => all.transfer += tiles(value.elements, costs.vector_tile()) * costs.indexed_transfers,
            Class::Update => all.transfer += tiles(updated(graph, id), costs.vector_tile()) * costs.indexed_transfers,
            Class::Collective => all.collective += costs.collective,
            Class::Kernel => all.kernel += tiles(read().max(value.elements), costs.vector_tile()) * costs.kernel_passes,
        }
    }
    for (id, step) in steps.steps.iter().enumerate() {
        let reads = steps.reads(id as u32).iter().map(|read| steps.steps[*read as usize].bytes);
        all.transfer += reads.chain([step.bytes]).map(|bytes| bytes.div_ceil(costs.transfer_bytes)).sum::<u64>();
    }
    all
}

fn tiles(elements: u64, tile: u64) -> u64 {
    elements.div_ceil(tile.max(1))
}

/// What costs nothing: it is part of how others address their operands.
fn is_free(opcode: &str) -> bool {
    matches!(
        opcode,
        "bitcast-convert" | "broadcast" | "constant" | "copy" | "iota" | "partition-id" | "replica-id" | "slice"
    )
}

/// Elements of the last operand of an update, which replace others.
fn updated(graph: &Graph<'_>, id: u32) -> u64 {
    graph.operands(id).last().map_or(0, |operand| graph.value(*operand).elements)
}

/// Adds the tiles of a product, one copy for each tile of the result.
fn add_product(all: &mut InstructionEstimate, graph: &Graph<'_>, id: u32, costs: &InstructionCosts) {
    let value = graph.value(id);
    let [lhs, rhs] =
        [0, 1].map(|side| graph.operands(id).get(side).map_or(0, |operand| graph.value(*operand).elements));
    let Product { batch, rows, inner, columns } = Product::of(value, lhs, rhs);
    // Either side may stay; the compiler takes what needs fewer.
    let results = |rows: u64, columns: u64| rows.div_ceil(costs.matmul[1]) * columns.div_ceil(costs.matmul[2]);
    let results = batch * results(rows, columns).min(results(columns, rows));
    all.matmul += results * inner.div_ceil(costs.matmul[0]) * costs.matmul_issues;
    all.vector += results;
}

/// The sizes of a product of matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Product {
    batch: u64,
    rows: u64,
    inner: u64,
    columns: u64,
}

impl Product {
    fn of(value: &Value<'_>, lhs: u64, rhs: u64) -> Self {
        let num_batch = value.inst.dot_dimension_numbers.as_ref().map_or(0, |dims| dims.lhs_batch_dimensions.len());
        let sizes = value.inst.shape.as_ref().map_or(&[][..], |ShapeProto { dimensions, .. }| dimensions);
        let batch = sizes.iter().take(num_batch).map(|size| u64::try_from(*size).unwrap_or(0)).product::<u64>().max(1);
        // lhs = batch * rows * inner, rhs = batch * columns * inner, result = batch * rows * columns.
        let result = value.elements.max(1);
        let inner = integer_root((lhs / batch).saturating_mul(rhs / batch) / (result / batch).max(1)).max(1);
        Self { batch, rows: lhs / batch / inner, inner, columns: rhs / batch / inner }
    }
}

/// The whole part of a square root.
fn integer_root(square: u64) -> u64 {
    let mut root = (square as f64).sqrt() as u64;
    while root.saturating_mul(root) > square {
        root -= 1;
    }
    while (root + 1).saturating_mul(root + 1) <= square {
        root += 1;
    }
    root
}
