//! Writing the merged projections.

use super::plan::{Merge, Packed, Plan};
use crate::transform::packed::layout;
use halite_ir::composites::linear::BIAS;
use halite_ir::{Attr, Function, Inst, Module, Op, Registry, Rewriter, Value, Values};
use halite_support::Result;
use halite_tensor::Dims;

/// The action on an instruction.
#[derive(Clone, Copy)]
enum InstAction {
    Copied,
    /// Nothing stands for it.
    Dropped,
    /// The output of a member of a merge.
    Output {
        merge: usize,
        member: usize,
    },
}

/// Rewrites the functions for which something is planned, and their calls.
pub(super) fn apply(module: &mut Module, registry: &Registry, plans: &[Plan]) -> Result<()> {
    for (source, plan) in std::mem::take(&mut module.functions).into_iter().zip(plans) {
        // Callees come before callers, and what these pack their callers pack too.
        if plan.packed.is_empty() {
            module.functions.push(source);
            continue;
        }
        rewrite(module, registry, &source, plan, plans)?;
    }
    Ok(())
}

fn rewrite(module: &mut Module, registry: &Registry, source: &Function, plan: &Plan, plans: &[Plan]) -> Result<()> {
    let (fates, starts) = fates(source, &plan.merges);
    let mut rewriter = Rewriter::without_params(module, registry, source);
    add_params(&mut rewriter, source, &plan.packed);
    let mut outputs: Vec<Values> = vec![Values::new(); plan.merges.len()];
    for (at, inst) in source.insts.iter().enumerate() {
        let outer = rewriter.set_loc(inst.loc);
        if let Some(merge) = starts[at] {
            outputs[merge] = product(&mut rewriter, source, plan, &plan.merges[merge])?;
        }
        match fates[at] {
            InstAction::Copied => copy(&mut rewriter, source, inst, plans)?,
            InstAction::Dropped => {}
            InstAction::Output { merge, member } => {
                let part = outputs[merge][member];
                let value = output(&mut rewriter, inst, &plan.merges[merge], member, part)?;
                rewriter.keep_names(source, inst, &[value]);
                rewriter.replace_all(inst, &[value]);
            }
        }
        rewriter.set_loc(outer);
    }
    rewriter.finish(source)?;
    Ok(())
}

/// Copies an instruction; a call hands over as one what its callee takes as one.
fn copy(b: &mut Rewriter<'_>, source: &Function, inst: &Inst, plans: &[Plan]) -> Result<()> {
    let packed = inst.call().map_or(&[][..], |edge| &plans[edge.callee.index()].packed);
    if packed.is_empty() {
        return b.copy(source, inst);
    }
    let gone = |at: &usize| packed.iter().any(|packed| packed.params[1..].contains(at));
    let args =
        (0..inst.args.len()).filter(|at| !gone(at)).map(|at| b.value(inst.args[at])).collect::<Result<Values>>()?;
    let results = b.emit_like(inst, &args)?;
    b.keep_names(source, inst, &results);
    b.replace_all(inst, &results);
    Ok(())
}

/// For each instruction its fate, and the merge whose product stands before it.
fn fates(source: &Function, merges: &[Merge]) -> (Vec<InstAction>, Vec<Option<usize>>) {
    let (mut fates, mut starts) = (vec![InstAction::Copied; source.insts.len()], vec![None; source.insts.len()]);
    for (merge, planned) in merges.iter().enumerate() {
        starts[planned.members[0].0.at] = Some(merge);
        for (member, (own, _)) in planned.members.iter().enumerate() {
            let mut output = own.at;
            if let Some([spread, add]) =
                own.bias.as_ref().and_then(|bias| bias.added).filter(|_| planned.bias.is_some())
            {
                fates[own.at] = InstAction::Dropped;
                fates[spread] = InstAction::Dropped;
                output = add;
            }
            fates[output] = InstAction::Output { merge, member };
        }
    }
    (fates, starts)
}

/// Adds the parameters, those that are merged where the first of them was.
fn add_params(b: &mut Rewriter<'_>, source: &Function, all: &[Packed]) {
    let mut packed: Vec<Option<&Packed>> = vec![None; source.params.len()];
    for own in all {
        own.params.iter().for_each(|&at| packed[at] = Some(own));
    }
    for (at, param) in source.params.iter().enumerate() {
        match packed[at] {
            None => b.copy_param(source, param),
            Some(own) if own.params[0] == at => {
                let value = b.param(own.name.clone(), own.ty.clone(), own.role.clone());
                b.replace(param.value, value);
            }
            Some(_) => {}
        }
    }
}

/// The outputs of all members of a merge, `[.., out]`.
fn product(b: &mut Rewriter<'_>, source: &Function, plan: &Plan, merge: &Merge) -> Result<Values> {
    let packed = &plan.packed[merge.weight];
    let (x, weight) = (b.value(merge.input)?, operand(b, source, packed)?);
    let last = b.shape(x).rank() - 1;
    let mut y = b.dot_general(x, weight, (&[], &[]), (&[last], &[2]))?;
    if let Some(bias) = merge.bias {
        let bias = operand(b, source, &plan.packed[bias])?;
        let shape = b.shape(y).clone();
        let bias = b.broadcast_in_dim(bias, &[last, last + 1], shape)?;
        y = b.add(y, bias)?;
    }
    let [rows, copies] = layout(&packed.packing);
    b.composite("unpack", &[("dim", Attr::Int(-2)), rows, copies], &[y])
}

/// A merged parameter, which stands for the first of those that it is made of.
fn operand(b: &mut Rewriter<'_>, source: &Function, packed: &Packed) -> Result<Value> {
    let value = b.value(source.params[packed.params[0]].value)?;
    if packed.packing.has_copies() {
        Ok(b.composite("tied_copies", &layout(&packed.packing), &[value])?[0])
    } else {
        Ok(value)
    }
}

/// The output of a member, made from `part`: with the bias that is not merged, and transposed if the member is mirrored.
fn output(b: &mut Rewriter<'_>, inst: &Inst, merge: &Merge, member: usize, part: Value) -> Result<Value> {
    let last = b.shape(part).rank() - 1;
    let mut value = part;
    // The bias of a `linear` that is not merged.
    if let (Op::Composite(linear), None) = (&inst.op, &merge.bias)
        && let Some(bias) = linear.optional(BIAS, &inst.args)
    {
        let bias = b.value(bias)?;
        let shape = b.shape(value).clone();
        let bias = b.broadcast_in_dim(bias, &[last], shape)?;
        value = b.add(value, bias)?;
    }
    if !merge.members[member].0.mirrored {
        return Ok(value);
    }
    let order: Dims = std::iter::once(last).chain(0..last).collect();
    b.transpose(value, &order)
}
