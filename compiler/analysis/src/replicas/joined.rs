//! Atoms that a program never tells apart, as one: what lies along all ranks of an axis is followed once, however many there are.

use super::groups::{atoms_in_any_order, atoms_of};
use halite_ir::{Function, Inst, Layout, Module, Op};
use halite_tensor::{AtomId, Digit, Mesh, Sharding};
use rustc_hash::FxHashSet;

/// The layout of a module over fewer atoms; `None` where there are none to join.
pub(super) fn joined(module: &Module, layout: &Layout) -> Option<Layout> {
    let mesh = &layout.mesh;
    let mut apart = vec![false; mesh.atoms().len()];
    let pairs = || 0..mesh.atoms().len().saturating_sub(1);
    for sharding in layout.shardings.values() {
        pairs().filter(|&atom| !together_in(sharding, atom)).for_each(|atom| apart[atom] = true);
    }
    let unordered = layout.terms.values().cloned().map(|atoms| (atoms, false));
    for (atoms, ordered) in unordered.chain(exchanges(module, mesh)) {
        pairs().filter(|&atom| !together(&atoms, atom, ordered)).for_each(|atom| apart[atom] = true);
    }
    let divisors = divisors(module);
    pairs().filter(|&atom| divisors.contains(&mesh.atoms()[atom].stride)).for_each(|atom| apart[atom] = true);
    let (joined, became) = mesh.joined(|atom| apart[atom]);
    let fewer = joined.atoms().len() < mesh.atoms().len();
    fewer.then(|| Layout {
        shardings: layout.shardings.iter().map(|(name, own)| (name.clone(), over(&joined, own, &became))).collect(),
        terms: layout.terms.iter().map(|(name, atoms)| (name.clone(), mapped(atoms, &became))).collect(),
        mesh: joined,
    })
}

/// The atoms of each collective, and whether their order counts; groups that are those of no atoms are left out.
fn exchanges(module: &Module, mesh: &Mesh) -> FxHashSet<(Vec<AtomId>, bool)> {
    let insts = module.functions.iter().flat_map(|function| &function.insts);
    let atoms = |op: &Op| match op {
        Op::AllReduce(op) => Some((atoms_in_any_order(mesh, &op.groups)?, false)),
        Op::ReduceScatter(op) => Some((atoms_of(mesh, &op.groups)?, true)),
        Op::AllGather(op) => Some((atoms_of(mesh, &op.groups)?, true)),
        Op::AllToAll(op) => Some((atoms_of(mesh, &op.groups)?, true)),
        _ => None,
    };
    insts.filter_map(|inst| atoms(&inst.op)).collect()
}

/// By what numbers are divided. By the stride of an atom is so when its coordinate is taken from the number of the rank.
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

/// Whether an atom and the next both are among some, or neither; where their order counts, one after the other.
fn together(atoms: &[AtomId], atom: AtomId, ordered: bool) -> bool {
    let at = |atom: AtomId| atoms.iter().position(|&other| other == atom);
    match (at(atom), at(atom + 1)) {
        (Some(major), Some(minor)) => !ordered || minor == major + 1,
        (None, None) => true,
        _ => false,
    }
}

/// Whether an atom and the next are one digit of a dimension, or neither shards any.
fn together_in(sharding: &Sharding, atom: AtomId) -> bool {
    match (sharding.find(atom), sharding.find(atom + 1)) {
        (Some((dim, major)), Some((other, minor))) => dim == other && major.stride == minor.stride * minor.size,
        (None, None) => true,
        _ => false,
    }
}

fn mapped(atoms: &[AtomId], became: &[AtomId]) -> Vec<AtomId> {
    let mut mapped: Vec<AtomId> = atoms.iter().map(|&atom| became[atom]).collect();
    mapped.sort_unstable();
    mapped.dedup();
    mapped
}

fn over(mesh: &Mesh, sharding: &Sharding, became: &[AtomId]) -> Sharding {
    let mut over = Sharding::replicated(sharding.0.len());
    for (dim, digits) in sharding.0.iter().enumerate() {
        for digit in digits {
            let atom = became[digit.atom];
            match over.0[dim].iter_mut().find(|own| own.atom == atom) {
                Some(own) => own.stride = digit.stride,
                None => over.0[dim].push(Digit { atom, size: mesh.atoms()[atom].size, stride: digit.stride }),
            }
        }
    }
    over
}
