//! Sub-axes that a program never tells apart, as one: what lies along all ranks of an axis is followed once, however many there are.

use super::groups::{sub_axes_in_any_order, sub_axes_of};
use halite_ir::{Function, Inst, Layout, Module, Op};
use halite_tensor::{DimShard, Mesh, Sharding, SubAxisId};
use rustc_hash::FxHashSet;

/// The layout of a module over fewer sub-axes; `None` where there are none to join.
pub(super) fn joined(module: &Module, layout: &Layout) -> Option<Layout> {
    let mesh = &layout.mesh;
    let mut apart = vec![false; mesh.sub_axes().len()];
    let pairs = || 0..mesh.sub_axes().len().saturating_sub(1);
    for sharding in layout.shardings.values() {
        pairs().filter(|&sub_axis| !together_in(sharding, sub_axis)).for_each(|sub_axis| apart[sub_axis] = true);
    }
    let unordered = layout.terms.values().cloned().map(|sub_axes| (sub_axes, false));
    for (sub_axes, ordered) in unordered.chain(exchanges(module, mesh)) {
        pairs().filter(|&sub_axis| !together(&sub_axes, sub_axis, ordered)).for_each(|sub_axis| apart[sub_axis] = true);
    }
    let divisors = divisors(module);
    pairs()
        .filter(|&sub_axis| divisors.contains(&mesh.sub_axes()[sub_axis].stride))
        .for_each(|sub_axis| apart[sub_axis] = true);
    let (joined, became) = mesh.joined(|sub_axis| apart[sub_axis]);
    let fewer = joined.sub_axes().len() < mesh.sub_axes().len();
    fewer.then(|| Layout {
        shardings: layout.shardings.iter().map(|(name, own)| (name.clone(), over(&joined, own, &became))).collect(),
        terms: layout.terms.iter().map(|(name, sub_axes)| (name.clone(), mapped(sub_axes, &became))).collect(),
        mesh: joined,
    })
}

/// The sub-axes of each collective, and whether their order counts; groups that are those of no sub-axes are left out.
fn exchanges(module: &Module, mesh: &Mesh) -> FxHashSet<(Vec<SubAxisId>, bool)> {
    let insts = module.functions.iter().flat_map(|function| &function.insts);
    let sub_axes = |op: &Op| match op {
        Op::AllReduce(op) => Some((sub_axes_in_any_order(mesh, &op.groups)?, false)),
        Op::ReduceScatter(op) => Some((sub_axes_of(mesh, &op.groups)?, true)),
        Op::AllGather(op) => Some((sub_axes_of(mesh, &op.groups)?, true)),
        Op::AllToAll(op) => Some((sub_axes_of(mesh, &op.groups)?, true)),
        _ => None,
    };
    insts.filter_map(|inst| sub_axes(&inst.op)).collect()
}

/// By what numbers are divided. By the stride of a sub-axis is so when its coordinate is taken from the number of the rank.
fn divisors(module: &Module) -> FxHashSet<usize> {
    let of = |function: &Function| -> Vec<usize> {
        let divides = |inst: &&Inst| matches!(inst.op, Op::Divide(_)) && function.ty(inst.results[0]).dtype().is_int();
        let by = |inst: &Inst| match &function.def(inst.args[1])?.op {
            Op::Constant(constant) => constant.splat_value().map(|value| value as usize),
            _ => None,
        };
        function.insts.iter().filter(divides).filter_map(by).collect()
    };
    module.functions.iter().flat_map(of).collect()
}

/// Whether a sub-axis and the next both are among some, or neither; where their order counts, one after the other.
fn together(sub_axes: &[SubAxisId], sub_axis: SubAxisId, ordered: bool) -> bool {
    let at = |sub_axis: SubAxisId| sub_axes.iter().position(|&other| other == sub_axis);
    match (at(sub_axis), at(sub_axis + 1)) {
        (Some(major), Some(minor)) => !ordered || minor == major + 1,
        (None, None) => true,
        _ => false,
    }
}

/// Whether a sub-axis and the next are one digit of a dimension, or neither shards any.
fn together_in(sharding: &Sharding, sub_axis: SubAxisId) -> bool {
    match (sharding.find(sub_axis), sharding.find(sub_axis + 1)) {
        (Some((dim, major)), Some((other, minor))) => dim == other && major.stride == minor.stride * minor.size,
        (None, None) => true,
        _ => false,
    }
}

fn mapped(sub_axes: &[SubAxisId], became: &[SubAxisId]) -> Vec<SubAxisId> {
    let mut mapped: Vec<SubAxisId> = sub_axes.iter().map(|&sub_axis| became[sub_axis]).collect();
    mapped.sort_unstable();
    mapped.dedup();
    mapped
}

fn over(mesh: &Mesh, sharding: &Sharding, became: &[SubAxisId]) -> Sharding {
    let mut over = Sharding::replicated(sharding.0.len());
    for (dim, digits) in sharding.0.iter().enumerate() {
        for digit in digits {
            let sub_axis = became[digit.sub_axis];
            match over.0[dim].iter_mut().find(|own| own.sub_axis == sub_axis) {
                Some(own) => own.stride = digit.stride,
                None => {
                    over.0[dim].push(DimShard { sub_axis, size: mesh.sub_axes()[sub_axis].size, stride: digit.stride })
                }
            }
        }
    }
    over
}
