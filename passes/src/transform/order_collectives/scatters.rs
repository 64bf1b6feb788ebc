//! The gradients that are scattered in each layer.

use super::gathers::Gathers;
use halite_ir::{Def, Function, Inst, Op, Value};

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

/// The scatters of a function that nothing reads before the next layer.
pub(super) fn scatters(function: &Function, gathers: &[Gathers]) -> Vec<Scatter> {
    let mut read = vec![function.insts.len(); function.values.len()];
    for (at, inst) in function.insts.iter().enumerate().rev() {
        inst.args.iter().for_each(|arg| read[arg.index()] = at);
    }
    let made = |value: &Value| match function.values[value.index()].def {
        Def::Inst(at, _) => at as usize,
        Def::Param(_) => 0,
    };
    let scatter = |(at, inst): (usize, &Inst)| {
        let Op::ReduceScatter(_) = inst.op else { return None };
        let made = inst.args.iter().map(made).max()?;
        let layer = gathers.partition_point(|group| group.first_read <= made).checked_sub(1)?;
        let first_read = inst.results.iter().map(|result| read[result.index()]).min()?;
        let bytes = inst.args.iter().map(|&arg| function.ty(arg).bytes()).sum();
        Some(Scatter { at, layer, first_read, bytes })
    };
    let all = function.insts.iter().enumerate().filter_map(scatter);
    let waits = |scatter: &Scatter| gathers.get(scatter.layer + 1).is_some_and(|next| next.first_read < scatter.first_read);
    all.filter(waits).collect()
}
