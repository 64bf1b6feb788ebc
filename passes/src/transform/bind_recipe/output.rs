//! The dimension of each weight that is its output.

use halite_ir::dims::DimFactors;
use halite_ir::{Function, Inst, Module, Op, Registry, TensorType};
use halite_support::Result;

/// For each dimension of a value, whether a product sums over it.
type Summed = Vec<bool>;

/// For each parameter of the entry, the dimension of a matrix that the products which read it keep; the first, where no product reads
/// it, or some sum over one dimension and some over the other.
///
/// # Errors
/// A bug when a composite is unknown.
pub(super) fn outputs(module: &Module, registry: &Registry) -> Result<Vec<usize>> {
    let are_views = views_of_all(&module.functions);
    let mut all: Vec<Vec<Summed>> = Vec::with_capacity(module.functions.len());
    for (function, is_view) in module.functions.iter().zip(are_views) {
        all.push(summed(function, &is_view, &all, registry)?);
    }
    let entry = all.pop().unwrap_or_default();
    Ok(entry.into_iter().map(|summed| usize::from(summed == [true, false])).collect())
}

/// The dimensions of each parameter of a function over which products sum; `callees` has those of the functions before it.
fn summed(function: &Function, is_view: &[bool], callees: &[Vec<Summed>], registry: &Registry) -> Result<Vec<Summed>> {
    let mut all: Vec<Summed> = function.values.iter().map(|value| vec![false; value.ty.rank()]).collect();
    for inst in function.insts.iter().rev() {
        let of_weights: Vec<bool> = inst.args.iter().map(|arg| is_view[arg.index()]).collect();
        if !of_weights.contains(&true) {
            continue;
        }
        let types: Vec<&TensorType> = inst.args.iter().map(|&arg| function.ty(arg)).collect();
        let by_operand = match (&inst.op, inst.call()) {
            // A product of weights is no input's.
            (Op::DotGeneral(_), _) if of_weights == [true, true] => continue,
            (Op::DotGeneral(dot), _) => [(0, &dot.contract.0), (1, &dot.contract.1)]
                .map(|(operand, dims)| (0..types[operand].rank()).map(|dim| dims.contains(&dim)).collect())
                .into(),
            (_, Some(edge)) => callees[edge.callee.index()].clone(),
            (Op::Composite(composite), _) => {
                let body = composite.decompose(registry, &types)?;
                self::summed(&body, &views(&body, &of_weights), callees, registry)?
            }
            _ if is_seen_through(inst, is_view) => seen_through(function, inst, &types, &all[inst.results[0].index()]),
            _ => continue,
        };
        for ((arg, own), _) in inst.args.iter().zip(by_operand).zip(of_weights).filter(|(_, of_weights)| *of_weights) {
            all[arg.index()].iter_mut().zip(own).for_each(|(all, own)| *all |= own);
        }
    }
    Ok(function.params.iter().map(|param| std::mem::take(&mut all[param.value.index()])).collect())
}

/// For each function, which values are views of weights of the entry.
fn views_of_all(functions: &[Function]) -> Vec<Vec<bool>> {
    let mut of_params: Vec<Vec<bool>> = functions.iter().map(|function| vec![false; function.params.len()]).collect();
    if let (Some(of_entry), Some(entry)) = (of_params.last_mut(), functions.last()) {
        *of_entry = entry.params.iter().map(|param| param.weight().is_some()).collect();
    }
    let mut all = vec![Vec::new(); functions.len()];
    for (at, function) in functions.iter().enumerate().rev() {
        all[at] = views(function, &of_params[at]);
        for inst in &function.insts {
            for edge in inst.calls() {
                let of_callee = of_params[edge.callee.index()].iter_mut().zip(edge.args);
                of_callee.for_each(|(param, arg)| *param |= all[at][arg.index()]);
            }
        }
    }
    all
}

/// For each value, whether it is a parameter that is a weight, or made of those alone by operations that rearrange or convert them.
fn views(function: &Function, of_params: &[bool]) -> Vec<bool> {
    let mut is_view = vec![false; function.values.len()];
    function.params.iter().zip(of_params).for_each(|(param, is_weight)| is_view[param.value.index()] = *is_weight);
    for inst in &function.insts {
        if is_seen_through(inst, &is_view) {
            is_view[inst.results[0].index()] = true;
        }
    }
    is_view
}

fn is_seen_through(inst: &Inst, is_view: &[bool]) -> bool {
    let computes = matches!(inst.op, Op::DotGeneral(_) | Op::Composite(_)) || inst.call().is_some();
    !computes && !inst.args.is_empty() && inst.results.len() == 1 && inst.args.iter().all(|arg| is_view[arg.index()])
}

/// The dimensions of each operand that are those of the result that are summed over.
fn seen_through(function: &Function, inst: &Inst, types: &[&TensorType], of_result: &Summed) -> Vec<Summed> {
    let result = [function.ty(inst.results[0]).clone()];
    let map = inst.op.def().dims(types, &result);
    let kept: Vec<_> =
        map.results[0].iter().zip(of_result).filter(|(_, summed)| **summed).map(|(dim, _)| dim).collect();
    let is_summed = |dim: &DimFactors| dim.iter().any(|factor| kept.iter().any(|kept| kept.contains(factor)));
    map.operands.iter().map(|dims| dims.iter().map(is_summed).collect()).collect()
}
