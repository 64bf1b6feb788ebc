//! Sums over ranks that hold the same already: inputs show that they do, and that nothing takes the multiple back.

use super::witness::{ReplicaWitness, ran};
use halite_ir::ops::Reduction;
use halite_ir::{FuncId, FuncResult, Function, Inst, Module, Op, Registry, ResultRole, Value, inline_into_entry};
use halite_support::Name;

/// The most instructions between a sum and the division by the number of ranks.
const MAX_STEPS: usize = 64;

/// The witness that a sum, given by its function and the number of its instruction, is of values that all ranks hold already. `None`
/// where no input shows it, where the sum is of constants, which counts ranks, and where the number of ranks is divided out of it:
/// that is a mean.
pub(super) fn sums_twice(module: &Module, registry: &Registry, at: (FuncId, usize)) -> Option<ReplicaWitness> {
    if at.0.index() + 1 < module.functions.len() {
        // The entry alone shows its values: calls are written in their place, and the sum is found again by where it comes from.
        let loc = module.function(at.0).insts.get(at.1)?.loc;
        let mut flat = module.clone();
        inline_into_entry(&mut flat, registry).ok()?;
        let is_it =
            |inst: &Inst| matches!(inst.op, Op::AllReduce(_)) && flat.locs.code(inst.loc) == module.locs.code(loc);
        let insts = flat.entry()?.insts.iter().enumerate();
        return insts.filter(|(_, inst)| is_it(inst)).find_map(|(at, _)| in_entry(&flat, registry, at));
    }
    in_entry(module, registry, at.1)
}

fn in_entry(module: &Module, registry: &Registry, at: usize) -> Option<ReplicaWitness> {
    let entry = module.entry()?;
    let inst = entry.insts.get(at)?;
    let Op::AllReduce(sum) = &inst.op else { return None };
    let groups = sum.groups.lists();
    let group = groups.first()?;
    let size = group.len();
    let (&[operand], &[result]) = (&inst.args[..], &inst.results[..]) else { return None };
    if sum.kind != Reduction::Sum || !is_fed(entry, operand) || is_mean(entry, operand, result, size) {
        return None;
    }
    let shown = |value: Value| FuncResult { value, name: Name::default(), role: ResultRole::Value };
    let mut probed = entry.clone();
    probed.results = vec![shown(operand), shown(result)];
    let mut witness = None;
    for ranks in ran(module, registry, &probed)? {
        let held: Vec<Vec<f64>> = group.iter().map(|&rank| ranks[rank][0].f64s()).collect();
        if held.iter().any(|own| *own != held[0]) {
            return None;
        }
        let at = held[0].iter().position(|own| own.is_finite() && *own != 0.0)?;
        let found = ranks[group[0]][1].f64s()[at];
        witness = Some(ReplicaWitness { result: inst.op.name().into(), rank: group[0], found, expected: held[0][at] });
    }
    witness
}

/// Whether a value is computed from floating-point parameters.
fn is_fed(entry: &Function, value: Value) -> bool {
    let mut fed = vec![false; entry.values.len()];
    for param in &entry.params {
        fed[param.value.index()] = entry.ty(param.value).dtype().is_float();
    }
    for inst in &entry.insts {
        if inst.args.iter().any(|arg| fed[arg.index()]) {
            inst.results.iter().for_each(|result| fed[result.index()] = true);
        }
    }
    fed[value.index()]
}

/// Whether nothing is done with a sum, or with what is summed, before it is divided by the number of ranks: a mean.
pub(super) fn is_plain_mean(function: &Function, operand: Value, result: Value, size: usize) -> bool {
    let divides = |inst: &Inst, of: Value| {
        let by = |at: usize| constant(function, inst.args[at]);
        let is = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-3);
        match &inst.op {
            Op::Divide(_) => inst.args[0] == of && is(by(1), size as f64),
            Op::Multiply(_) => (0..2).any(|at| inst.args[at] == of && is(by(1 - at), 1.0 / size as f64)),
            _ => false,
        }
    };
    if is_divided(function, operand, divides) {
        return true;
    }
    let (mut open, mut steps, mut divided) = (vec![result], 0, false);
    while let Some(value) = open.pop() {
        if function.results.iter().any(|result| result.value == value) {
            return false;
        }
        for user in function.insts.iter().filter(|inst| inst.args.contains(&value)) {
            steps += 1;
            match divides(user, value) {
                true => divided = true,
                false if moves(&user.op) && steps < MAX_STEPS => open.extend(&user.results),
                false => return false,
            }
        }
    }
    divided
}

/// Whether the number of ranks is divided out before the sum or after it.
fn is_mean(entry: &Function, operand: Value, result: Value, size: usize) -> bool {
    let divides = |inst: &Inst, of: Value| {
        let other = |at: usize| inst.args.get(1 - at).and_then(|&other| constant(entry, other));
        let at = inst.args.iter().position(|&arg| arg == of).unwrap_or_default();
        let (by, most) = match &inst.op {
            // By the number of ranks, or of what all of them have.
            Op::Divide(_) if at == 0 => (other(0), f64::INFINITY),
            // A factor is anything, but for this one.
            Op::Multiply(_) => (other(at).map(|factor| 1.0 / factor), 1.0),
            _ => (None, 0.0),
        };
        by.is_some_and(|by| {
            let parts = by.abs() / size as f64;
            (1.0..=most).contains(&parts.round()) && (parts - parts.round()).abs() < 1e-3 * parts
        })
    };
    if is_divided(entry, operand, divides) {
        return true;
    }
    let (mut open, mut steps) = (vec![result], 0);
    while let Some(value) = open.pop().filter(|_| steps < MAX_STEPS) {
        for user in entry.insts.iter().filter(|inst| inst.args.contains(&value)) {
            steps += 1;
            if divides(user, value) {
                return true;
            }
            let keeps = matches!(user.op, Op::Slice(_) | Op::Multiply(_) | Op::Add(_) | Op::Subtract(_) | Op::Sqrt(_));
            if keeps || moves(&user.op) {
                open.extend(&user.results);
            }
        }
    }
    false
}

/// Whether a value is the result of an instruction that `divides` one of its operands, but for moves.
fn is_divided(function: &Function, value: Value, divides: impl Fn(&Inst, Value) -> bool) -> bool {
    let mut before = value;
    for _ in 0..MAX_STEPS {
        let Some(inst) = function.def(before) else { break };
        if inst.args.iter().any(|&arg| divides(inst, arg)) {
            return true;
        }
        if !moves(&inst.op) {
            break;
        }
        before = inst.args[0];
    }
    false
}

/// Whether an op leaves the magnitudes of all elements as they are.
fn moves(op: &Op) -> bool {
    matches!(op, Op::Reshape(_) | Op::Convert(_) | Op::Transpose(_) | Op::BroadcastInDim(_) | Op::Negate(_))
}

/// The number that each element of a value is, where it is a constant, perhaps repeated.
fn constant(entry: &Function, value: Value) -> Option<f64> {
    let mut value = value;
    for _ in 0..MAX_STEPS {
        let inst = entry.def(value)?;
        match &inst.op {
            Op::Constant(constant) => return constant.splat_value(),
            Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Convert(_) => value = inst.args[0],
            _ => return None,
        }
    }
    None
}
