//! Sorts of several operands by a few of them, and the first elements of what is sorted.

use super::order::{Key, Order, keys};
use crate::site::Site;
use halite_hlo::SliceDim;
use halite_ir::composites::sort_pairs::{DESCENDING, DIM, SortPairs};
use halite_ir::composites::top_k::K;
use halite_ir::ops::{BitcastConvert, BroadcastInDim, Compare, Constant, Direction, Iota, Select, TakeAlongAxis, Xor};
use halite_ir::{Op, Value, Values};
use halite_tensor::{DType, Dims, HostTensor};
use smallvec::smallvec;

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "sort" => sort(site),
        "slice" => largest(site),
        _ => None,
    }
}

/// The operands in the order of their keys. Of several keys the last is sorted by first, as equal elements keep their order.
fn sort(site: &mut Site<'_, '_>) -> Option<Values> {
    let dim = site.dim()?;
    let types: Vec<DType> = site.args.iter().map(|&arg| site.b.dtype(arg)).collect();
    let keys = keys(site.graph, site.graph.callee(site.at, 0)?, &types)?;
    let (mut sorted, mut positions): (Option<Value>, Option<Value>) = (None, None);
    for &key in keys.iter().rev() {
        let mut x = comparable(site, key)?;
        if let Some(before) = positions {
            x = site.emit(TakeAlongAxis { dim }, &[x, before])?;
        }
        let attrs = [DIM.to(i64::try_from(dim).ok()?), DESCENDING.to(key.descending)];
        let [values, own] = site.b.composite("sort_pairs", &attrs, &[x]).ok()?[..].try_into().ok()?;
        positions = Some(match positions {
            Some(before) => site.emit(TakeAlongAxis { dim }, &[before, own])?,
            None => own,
        });
        sorted = Some(values).filter(|&values| site.b.dtype(values) == types[key.operand]);
    }
    let (first, positions) = (keys.first()?.operand, positions?);
    let mut results = Values::new();
    for (at, &arg) in site.args.iter().enumerate() {
        results.push(match sorted {
            Some(sorted) if at == first => sorted,
            _ if counts(site, arg, dim) => site.converted(positions, types[at])?,
            _ => site.emit(TakeAlongAxis { dim }, &[arg, positions])?,
        });
    }
    Some(results)
}

/// Numbers that are in the order of a key if they are in theirs, where zeros are equal and NaN comes last.
fn comparable(site: &mut Site<'_, '_>, key: Key) -> Option<Value> {
    let x = *site.args.get(key.operand)?;
    match site.b.dtype(x) {
        DType::Pred => site.converted(x, DType::U8),
        dtype if dtype.is_float() && key.order == Order::Total => bits(site, x),
        _ => Some(x),
    }
}

/// The bits of floats as integers in the total order: those of negative ones without the sign are turned around.
fn bits(site: &mut Site<'_, '_>, x: Value) -> Option<Value> {
    let shape = site.b.shape(x).clone();
    let dtype = [DType::S16, DType::S32, DType::S64].into_iter().find(|int| int.bits() == site.b.dtype(x).bits())?;
    let bits = site.emit(BitcastConvert { dtype }, &[x])?;
    let zero = site.emit(Constant::splat(dtype, shape.clone(), 0.0), &[])?;
    let (_, greatest) = dtype.int_range()?;
    let others = site.emit(Constant::new(HostTensor::from_ints(dtype, [], [greatest])), &[])?;
    let others = site.emit(BroadcastInDim { dims: Dims::new(), shape }, &[others])?;
    let turned = site.emit(Xor, &[bits, others])?;
    let is_negative = site.emit(Compare { direction: Direction::Lt }, &[bits, zero])?;
    site.emit(Select, &[is_negative, turned, bits])
}

/// The floats of which a value is the [`bits`], or the value itself.
fn source(site: &Site<'_, '_>, x: Value) -> Value {
    let def = |value| site.b.function().def(value);
    let bits = def(x).filter(|inst| matches!(inst.op, Op::Select(_))).and_then(|inst| def(inst.args[2]));
    bits.filter(|inst| matches!(inst.op, Op::BitcastConvert(_))).map_or(x, |inst| inst.args[0])
}

/// Whether a value counts the elements along a dimension.
fn counts(site: &Site<'_, '_>, value: Value, dim: usize) -> bool {
    let def = |value| site.b.function().def(value);
    match def(value).map(|inst| (&inst.op, &inst.args)) {
        Some((Op::Iota(iota), _)) => iota.dim == dim && iota.ty.dtype().is_int(),
        Some((Op::BroadcastInDim(repeated), args)) if repeated.dims[..] == [dim] => {
            def(args[0]).is_some_and(|inst| matches!(&inst.op, Op::Iota(Iota { ty, .. }) if ty.dtype().is_int()))
        }
        _ => false,
    }
}

/// The first of the elements along the last dimension in decreasing order, or of their positions: as `top_k`, unless they are so many
/// that it has more instructions than a sort. There zeros of either sign are equal, and NaN of either sign the largest.
fn largest(site: &mut Site<'_, '_>) -> Option<Values> {
    let [sorted] = site.operands()?;
    let shape = site.b.shape(sorted).clone();
    let (&size, others) = shape.split_last()?;
    let ranges: Vec<SliceDim> =
        site.inst().slice_dimensions.iter().map(|dim| SliceDim::from_proto(dim).ok()).collect::<Option<_>>()?;
    let (last, rest) = ranges.split_last()?;
    let whole = |(range, &size): (&SliceDim, &usize)| (range.start, range.limit, range.stride) == (0, size, 1);
    let steps = size.next_power_of_two().ilog2() as usize;
    let is_first = (last.start, last.stride) == (0, 1) && (1..=steps * (steps + 1)).contains(&last.limit);
    if !is_first || rest.len() != others.len() || !rest.iter().zip(others).all(whole) {
        return None;
    }
    let (x, number) = in_decreasing_order(site, sorted)?;
    let count = i64::try_from(last.limit).ok()?;
    let both = site.b.composite("top_k", &[K.to(count)], &[x]).ok()?;
    both.get(number).map(|&value| smallvec![value])
}

/// The floats of which a value is the elements along the last dimension in decreasing order, and 0, or their positions, and 1.
fn in_decreasing_order(site: &Site<'_, '_>, sorted: Value) -> Option<(Value, usize)> {
    let def = |value| site.b.function().def(value);
    let taken = def(sorted).filter(|inst| matches!(inst.op, Op::TakeAlongAxis(_)));
    let of_sort = taken.map_or(sorted, |inst| inst.args[1]);
    let inst = def(of_sort)?;
    let Op::Composite(composite) = &inst.op else { return None };
    let dim = composite.is(&SortPairs).then(|| composite.attrs.dim(&DIM, site.b.ty(sorted)).ok())??;
    let (x, number) = (source(site, inst.args[0]), usize::from(inst.results.get(1) == Some(&of_sort)));
    let is_last = dim + 1 == site.b.shape(sorted).rank() && composite.attrs.get(&DESCENDING).ok()?;
    let number = match taken {
        Some(taken) if (number, taken.args[0]) == (1, x) => 0,
        Some(_) => return None,
        None => number,
    };
    (is_last && site.b.dtype(x).is_float()).then_some((x, number))
}
