//! Branches that data choose.

use crate::site::Site;
use halite_ir::ops::{BroadcastInDim, Call, Compare, Constant, Direction, Not, Or, Select};
use halite_ir::{FuncId, InferCx, Value, Values};
use halite_tensor::{DType, Dims, HostTensor};

/// The results of the branch that is taken, chosen from those of all: each is computed, as none does anything else. Branches that talk to
/// other ranks do, as only some ranks may take them.
pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    let ("conditional", Some((&number, mut rest))) = (site.opcode(), site.args.split_first()) else { return None };
    let callees: Vec<FuncId> =
        site.graph.callees(site.at).map(|callee| *site.functions.get(callee?)?).collect::<Option<_>>()?;
    if callees.iter().any(|&callee| talks(site, callee)) {
        return None;
    }
    let taken = taken(site, number, callees.len())?;
    let mut chosen: Option<Values> = None;
    for (&callee, &taken) in callees.iter().zip(&taken).rev() {
        // Operands are those of one branch after another; here of the last first.
        let (before, own) = rest.split_at_checked(rest.len().checked_sub(params(site, callee))?)?;
        rest = before;
        let args = own.iter().map(|&arg| gated(site, taken, arg)).collect::<Option<Values>>()?;
        let own = site.b.emit_all(Call { callee }, &args).ok()?;
        chosen = Some(match chosen {
            Some(others) => choices(site, taken, (&own, &others))?,
            None => own,
        });
    }
    chosen.filter(|_| rest.is_empty())
}

fn params(site: &Site<'_, '_>, function: FuncId) -> usize {
    site.b.module().function(function).params.len()
}

/// Whether a function has instructions that all ranks have to run in one order.
fn talks(site: &Site<'_, '_>, function: FuncId) -> bool {
    let module = site.b.module();
    let cx = InferCx { functions: &module.functions, registry: site.b.registry() };
    module.function(function).insts.iter().any(|inst| inst.op.def().effect(&cx).ordered)
}

/// For each of so many branches, whether it is taken: the first of two where the number is a truth value, else that of the number, the last
/// for a number that none has.
fn taken(site: &mut Site<'_, '_>, number: Value, count: usize) -> Option<Vec<Value>> {
    let mut taken = Vec::with_capacity(count);
    let mut any: Option<Value> = None;
    for at in 0..count.checked_sub(1)? {
        let is_taken = match site.b.dtype(number) {
            DType::Pred => number,
            dtype => {
                let own = HostTensor::from_ints(dtype, [], [i128::try_from(at).ok()?]);
                let own = site.emit(Constant::new(own), &[])?;
                site.emit(Compare { direction: Direction::Eq }, &[number, own])?
            }
        };
        taken.push(is_taken);
        any = Some(match any {
            Some(any) => site.emit(Or, &[any, is_taken])?,
            None => is_taken,
        });
    }
    taken.push(match any {
        Some(any) => site.emit(Not, &[any])?,
        None => site.emit(Constant::splat(DType::Pred, [], 1.0), &[])?,
    });
    Some(taken)
}

/// An operand of a branch. Its gradient is zero where the branch is not taken, also if the branch has no finite one.
fn gated(site: &mut Site<'_, '_>, taken: Value, x: Value) -> Option<Value> {
    if !site.b.dtype(x).is_float() {
        return Some(x);
    }
    let [stopped] = site.b.composite("stop_gradient", &[], &[x]).ok()?[..].try_into().ok()?;
    choice(site, taken, [x, stopped])
}

/// The first of two values where a branch is taken, else the second.
fn choice(site: &mut Site<'_, '_>, taken: Value, [own, other]: [Value; 2]) -> Option<Value> {
    let shape = site.b.shape(own).clone();
    let everywhere = match shape.rank() {
        0 => taken,
        _ => site.emit(BroadcastInDim { dims: Dims::new(), shape }, &[taken])?,
    };
    site.emit(Select, &[everywhere, own, other])
}

fn choices(site: &mut Site<'_, '_>, taken: Value, (own, others): (&[Value], &[Value])) -> Option<Values> {
    own.iter().zip(others).map(|(&own, &other)| choice(site, taken, [own, other])).collect()
}
