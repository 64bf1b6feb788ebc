//! Instructions of the machine, from counts of tiles.
//!
//! The matrix engine multiplies a stationary tile `[inner, rows]` with a moving tile `[inner, columns]`; the vector and
//! scalar engines work on tiles of all partitions; transfers move one tile. What does not fill a tile takes one all the same.

use super::InstructionCosts;
use super::graph::{Class, Graph};
use super::storage::Steps;
use super::work::is_free;
use halite_bundle::estimate::InstructionEstimate;
use halite_hlo::cost::Product;

pub(super) fn count(graph: &Graph<'_>, steps: &Steps, costs: &InstructionCosts) -> InstructionEstimate {
    let mut all = InstructionEstimate::default();
    for id in 0..graph.values.len() as u32 {
        let value = graph.value(id);
        let read = || graph.operands(id).iter().map(|operand| graph.value(*operand).elements).max().unwrap_or(0);
        match value.class {
            Class::Parameter | Class::Concatenate | Class::Call { .. } => {}
            Class::Fused { .. } if is_free(&value.inst.opcode) => {}
            Class::Fused { .. } => add(&mut all.vector, tiles(value.elements, costs.vector_tile())),
            Class::Reduce { .. } => add(&mut all.vector, tiles(read(), costs.vector_tile())),
            Class::Dot(_) => add_product(&mut all, graph, id, costs),
            // One descriptor for each row that is read or written.
            Class::Gather => {
                let tiles = tiles(value.elements, costs.vector_tile());
                add(&mut all.transfer, tiles.saturating_mul(costs.indexed_transfers));
            }
            Class::Update => {
                let tiles = tiles(updated(graph, id), costs.vector_tile());
                add(&mut all.transfer, tiles.saturating_mul(costs.indexed_transfers));
            }
            Class::Collective => add(&mut all.collective, costs.collective),
            Class::Kernel => {
                let tiles = tiles(read().max(value.elements), costs.vector_tile());
                add(&mut all.kernel, tiles.saturating_mul(costs.kernel_passes));
            }
        }
    }
    for (id, step) in steps.steps.iter().enumerate() {
        let reads = steps.reads(id as u32).iter().map(|read| steps.steps[*read as usize].bytes);
        reads.chain([step.bytes]).for_each(|bytes| add(&mut all.transfer, bytes.div_ceil(costs.transfer_bytes)));
    }
    all
}

/// Counts of sound modules may pass 64 bits too; they stay at the most.
fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

fn tiles(elements: u64, tile: u64) -> u64 {
    elements.div_ceil(tile.max(1))
}

/// Elements of the last operand of an update, which replace others.
fn updated(graph: &Graph<'_>, id: u32) -> u64 {
    graph.operands(id).last().map_or(0, |operand| graph.value(*operand).elements)
}

/// Adds the tiles of a product, one copy for each tile of the result.
fn add_product(all: &mut InstructionEstimate, graph: &Graph<'_>, id: u32, costs: &InstructionCosts) {
    let Some(Product { batch, rows, inner, columns }) = Product::of(graph.hlo, graph.value(id).at) else { return };
    // Either side may stay; the compiler takes what needs fewer.
    let results =
        |rows: u64, columns: u64| rows.div_ceil(costs.matmul[1]).saturating_mul(columns.div_ceil(costs.matmul[2]));
    let results = batch.saturating_mul(results(rows, columns).min(results(columns, rows)));
    let products = results.saturating_mul(inner.div_ceil(costs.matmul[0]));
    add(&mut all.matmul, products.saturating_mul(costs.matmul_issues));
    add(&mut all.vector, results);
}
