//! Instructions with operands that are computed for padding too.

use super::wide::{Wide, Wides};
use halite_ir::composites::{CrossEntropy, Embedding};
use halite_ir::dims::{FactorId, FactorKind, FactorMap};
use halite_ir::ops::BroadcastInDim;
use halite_ir::{Function, InferCx, Inst, Op, TensorType, Value};
use halite_support::Result;
use smallvec::SmallVec;

/// The treatment of padded operands in an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// As it was: there is no padding in its operands, or it is cut off before.
    Plain,
    /// It is computed for the padding too.
    Wide(Widened),
    /// It looks up rows.
    Rows,
    /// It is the loss, and its logits are padded.
    Loss,
}

/// An instruction that is computed for padding too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Widened {
    /// The dimension of its result along which the padding lies.
    pub(super) dim: usize,
    pub(super) padding: usize,
    /// Operands that are the same all along a dimension and are made longer: their positions and that dimension.
    pub(super) longer: SmallVec<[(usize, usize); 1]>,
}

/// The treatment of padded operands in this instruction.
///
/// # Errors
/// None but bugs.
pub(super) fn fate(cx: &InferCx<'_>, entry: &Function, inst: &Inst, wides: &Wides) -> Result<Fate> {
    if !inst.args.iter().any(|arg| wides.contains_key(arg)) {
        return Ok(Fate::Plain);
    }
    let along = |at: usize| inst.args.get(at).and_then(|arg| wides.get(arg)).map(|wide| wide.dim);
    let others = |at: usize| inst.args.iter().enumerate().any(|(other, arg)| other != at && wides.contains_key(arg));
    if let Op::Composite(composite) = &inst.op {
        let last = entry.ty(inst.args[0]).rank().checked_sub(1);
        if composite.is(&Embedding) && along(1) == Some(0) && !others(1) {
            return Ok(Fate::Rows);
        }
        if composite.is(&CrossEntropy) && along(0) == last && !others(0) {
            return Ok(Fate::Loss);
        }
    }
    let args: Vec<&TensorType> = inst.args.iter().map(|&arg| entry.ty(arg)).collect();
    let results: Vec<TensorType> = inst.results.iter().map(|&result| entry.ty(result).clone()).collect();
    let map = cx.registry.dims(&inst.op, &args, &results);
    let wide = map.map(|map| widened(cx, entry, inst, &map, wides)).transpose()?.flatten();
    Ok(wide.unwrap_or(Fate::Plain))
}

/// That an instruction can be computed for the padding of its operands too: it treats each position along it by itself.
fn widened(cx: &InferCx<'_>, entry: &Function, inst: &Inst, map: &FactorMap, wides: &Wides) -> Result<Option<Fate>> {
    let first = inst.args.iter().zip(&map.operands).find_map(|(arg, dims)| Some((wides.get(arg)?, dims)));
    let Some((&Wide { dim, padding, .. }, dims)) = first else { return Ok(None) };
    let (&[factor], [result]) = (&dims[dim][..], &map.results[..]) else { return Ok(None) };
    let Some(dim) = alone(result, factor).filter(|_| map.factors[factor.index()].kind == FactorKind::Parallel) else {
        return Ok(None);
    };
    let mut longer = SmallVec::new();
    for (at, (&arg, dims)) in inst.args.iter().zip(&map.operands).enumerate() {
        let fits = match wides.get(&arg) {
            Some(wide) => wide.padding == padding && alone(dims, factor) == Some(wide.dim),
            None if !dims.iter().flatten().any(|&other| other == factor) => true,
            None => alone(dims, factor).filter(|&dim| is_uniform(entry, arg, dim)).is_some_and(|dim| {
                longer.push((at, dim));
                true
            }),
        };
        if !fits {
            return Ok(None);
        }
    }
    let fate = Some(Fate::Wide(Widened { dim, padding, longer }));
    if matches!(inst.op, Op::BroadcastInDim(_)) {
        return Ok(fate);
    }
    // What states sizes in its attributes would give others.
    let types: Vec<TensorType> = inst
        .args
        .iter()
        .zip(&map.operands)
        .map(|(&arg, dims)| match alone(dims, factor) {
            Some(dim) => padded(entry.ty(arg), dim, padding),
            None => entry.ty(arg).clone(),
        })
        .collect();
    let inferred = inst.op.def().infer(cx, &types.iter().collect::<Vec<_>>());
    let expected = padded(entry.ty(inst.results[0]), dim, padding);
    Ok(fate.filter(|_| inferred.is_ok_and(|types| types[..] == [expected])))
}

/// The one dimension that a factor indexes by itself.
fn alone(dims: &[halite_ir::dims::DimFactors], factor: FactorId) -> Option<usize> {
    let mut with = (0..dims.len()).filter(|&dim| dims[dim].contains(&factor));
    let dim = with.next()?;
    (with.next().is_none() && dims[dim].len() == 1).then_some(dim)
}

/// Whether a value is the same at each position along a dimension by how it is made, so that it can be made longer.
fn is_uniform(entry: &Function, value: Value, dim: usize) -> bool {
    match entry.def(value).map(|inst| &inst.op) {
        Some(Op::Constant(constant)) => constant.is_splat(),
        Some(Op::BroadcastInDim(BroadcastInDim { dims, .. })) => !dims.contains(&dim),
        _ => false,
    }
}

/// A type that is longer along a dimension.
pub(super) fn padded(ty: &TensorType, dim: usize, padding: usize) -> TensorType {
    let mut shape = ty.shape().clone();
    shape[dim] += padding;
    ty.with_shape(shape)
}
