//! The gradients that are scattered in each layer.

use super::gathers::Gathers;
use halite_ir::{Def, Function, Inst, Op, Value};
use rustc_hash::FxHashMap;

/// A gradient that is scattered.
#[derive(Debug)]
pub(super) struct Scatter {
    /// Its position.
    pub(super) at: usize,
    /// The number of the layer that makes the gradient, among those that gather weights.
    pub(super) layer: usize,
    /// The position of the first reader.
    pub(super) first_read: usize,
    /// The bytes of the gradient before it is scattered, on a rank.
    pub(super) bytes: u64,
}

/// The scatters of a function that nothing reads before the next layer. A gradient is scattered along one axis after another, or summed along
/// one that does not store parts: then these go together.
pub(super) fn scatters(function: &Function, gathers: &[Gathers]) -> Vec<Scatter> {
    let first_read = first_reads(function);
    let mut made: FxHashMap<Value, usize> = FxHashMap::default();
    let mut all = Vec::new();
    for (at, inst) in function.insts.iter().enumerate().filter(|(_, inst)| sums(inst)) {
        let before: Vec<usize> = inst.args.iter().filter_map(|arg| made.get(arg).copied()).collect();
        if before.is_empty() && matches!(inst.op, Op::AllReduce(_)) {
            continue;
        }
        let defined = inst.args.iter().filter_map(|arg| match function.values[arg.index()].def {
            Def::Inst(at, _) => Some(at as usize),
            Def::Param(_) => None,
        });
        let Some(own) = before.iter().copied().max().or_else(|| defined.max()) else { continue };
        made.extend(inst.results.iter().map(|&result| (result, own)));
        let layer = gathers.partition_point(|group| group.first_read <= own).checked_sub(1);
        let first_read = inst.results.iter().map(|result| first_read[result.index()]).min();
        let (Some(layer), Some(first_read)) = (layer, first_read) else { continue };
        let args = if before.is_empty() { &inst.args[..] } else { &[] };
        let bytes = args.iter().map(|&arg| function.ty(arg).bytes()).sum();
        if gathers.get(layer + 1).is_some_and(|next| next.first_read < first_read) {
            all.push(Scatter { at, layer, first_read, bytes });
        }
    }
    all
}

/// Whether an instruction adds what ranks have.
pub(super) fn sums(inst: &Inst) -> bool {
    matches!(inst.op, Op::ReduceScatter(_) | Op::AllReduce(_))
}

/// The position of the first reader of each value that adds nothing: of the sum, where one does.
fn first_reads(function: &Function) -> Vec<usize> {
    let mut read = vec![function.insts.len(); function.values.len()];
    for (at, inst) in function.insts.iter().enumerate().rev() {
        for (place, &arg) in inst.args.iter().enumerate() {
            let own = if sums(inst) { read[inst.results[place].index()] } else { at };
            read[arg.index()] = read[arg.index()].min(own);
        }
    }
    read
}
