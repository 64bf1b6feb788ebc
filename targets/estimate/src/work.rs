//! The work of a module, from its values.

use super::graph::{Class, Graph, ValueId};
use halite_bundle::work::{CollectiveKind, Collectives, Products, Work};
use halite_hlo::cost::Product;
use halite_hlo::{Opcode, proto::HloInstructionProto};
use halite_tensor::group_steps;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// The work of computations that stay calls, by their numbers.
pub(super) type OfCallees = FxHashMap<u32, Work>;

/// The work of a computation with its calls entered; that of those which stay calls is known.
pub(super) fn count(graph: &Graph<'_>, callees: &OfCallees) -> Work {
    let mut counter = Counter::default();
    for id in 0..graph.values.len() as ValueId {
        counter.add(graph, id, callees);
    }
    let ends = graph.parameters().iter().chain(graph.results()).map(|&end| graph.value(end).bytes());
    counter.bytes = ends.fold(counter.bytes, u64::saturating_add);
    counter.work()
}

/// Whether an opcode makes no elements, because it is part of how others address their operands.
pub(super) fn is_free(opcode: &str) -> bool {
    matches!(
        opcode,
        "bitcast-convert" | "broadcast" | "constant" | "copy" | "iota" | "partition-id" | "replica-id" | "slice"
    )
}

/// Counts under way: products and collectives by all but their number.
#[derive(Default)]
struct Counter {
    products: IndexMap<Products, u64>,
    collectives: IndexMap<Collectives, u64>,
    elements: u64,
    bytes: u64,
}

impl Counter {
    fn add(&mut self, graph: &Graph<'_>, id: ValueId, callees: &OfCallees) {
        let value = graph.value(id);
        let read = || graph.operands(id).iter().map(|operand| graph.value(*operand).elements).max().unwrap_or(0);
        match value.class {
            Class::Parameter | Class::Concatenate | Class::Call { is_last: false, .. } => {}
            Class::Fused { .. } if is_free(&value.inst.opcode) => {}
            Class::Fused { .. } | Class::Gather => self.add_elements(value.elements),
            Class::Reduce { .. } => self.add_elements(read()),
            Class::Update => {
                self.add_elements(graph.operands(id).last().map_or(0, |operand| graph.value(*operand).elements))
            }
            Class::Kernel => self.add_elements(read().max(value.elements)),
            Class::Dot(_) => self.add_product(graph, id),
            Class::Collective => self.add_collective(graph, id),
            Class::Call { callee, is_last: true } => {
                if let Some(work) = callees.get(&callee) {
                    self.add_work(work);
                }
            }
        }
    }

    fn add_elements(&mut self, count: u64) {
        self.elements = self.elements.saturating_add(count);
    }

    fn add_product(&mut self, graph: &Graph<'_>, id: ValueId) {
        let value = graph.value(id);
        let dtype = graph.hlo.operand_shape(value.at, 0).and_then(|shape| shape.dtype());
        let Some((product, dtype)) = Product::of(graph.hlo, value.at).zip(dtype) else { return };
        let Product { batch, rows, inner, columns } = product;
        *self.products.entry(Products { dtype, batch, rows, inner, columns, count: 0 }).or_default() += 1;
    }

    fn add_collective(&mut self, graph: &Graph<'_>, id: ValueId) {
        let value = graph.value(id);
        let is_part = id > 0 && graph.value(id - 1).at == value.at;
        let Some(kind) = kind(&value.inst.opcode).filter(|_| !is_part) else { return };
        let parts = (id..graph.values.len() as ValueId).map(|part| graph.value(part));
        let parts = parts.take_while(|part| part.at == value.at).map(|part| part.bytes());
        let bytes = parts.fold(0, u64::saturating_add);
        let group = group(value.inst, kind);
        let ranks = group.iter().fold(1, |ranks: u64, step| ranks.saturating_mul(step.0));
        let bytes = if kind == CollectiveKind::ReduceScatter { bytes.saturating_mul(ranks) } else { bytes };
        *self.collectives.entry(Collectives { kind, bytes, group, count: 0 }).or_default() += 1;
    }

    /// Adds the work of a call.
    fn add_work(&mut self, work: &Work) {
        for own in &work.products {
            *self.products.entry(Products { count: 0, ..own.clone() }).or_default() += own.count;
        }
        for own in &work.collectives {
            *self.collectives.entry(Collectives { count: 0, ..own.clone() }).or_default() += own.count;
        }
        self.elements = self.elements.saturating_add(work.elements);
    }

    fn work(self) -> Work {
        let products = self.products.into_iter().map(|(own, count)| Products { count, ..own });
        let collectives = self.collectives.into_iter().map(|(own, count)| Collectives { count, ..own });
        Work {
            products: products.collect(),
            elements: self.elements,
            bytes: self.bytes,
            collectives: collectives.collect(),
        }
    }
}

fn kind(opcode: &str) -> Option<CollectiveKind> {
    Some(match Opcode::parse(opcode)? {
        Opcode::AllGather => CollectiveKind::AllGather,
        Opcode::AllReduce => CollectiveKind::AllReduce,
        Opcode::ReduceScatter => CollectiveKind::ReduceScatter,
        Opcode::AllToAll => CollectiveKind::AllToAll,
        Opcode::CollectivePermute => CollectiveKind::Permute,
        _ => return None,
    })
}

/// The ranks of the first group.
fn first_group(inst: &HloInstructionProto) -> Vec<usize> {
    let groups = inst.groups().unwrap_or_default();
    let ranks = groups.first().map(|group| group.replica_ids.iter().filter_map(|&rank| usize::try_from(rank).ok()));
    ranks.into_iter().flatten().collect()
}

/// The counts and distances of the ranks of a group; of a permutation two ranks, as far from each other as the farthest.
fn group(inst: &HloInstructionProto, kind: CollectiveKind) -> Vec<(u64, u64)> {
    if kind == CollectiveKind::Permute {
        let apart = inst.source_target_pairs.iter().map(|pair| pair.source.abs_diff(pair.target)).max();
        return vec![(2, apart.unwrap_or(1))];
    }
    let steps = group_steps(&first_group(inst));
    steps.into_iter().map(|(count, distance)| (count as u64, distance as u64)).collect()
}
