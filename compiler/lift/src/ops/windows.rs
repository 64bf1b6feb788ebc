//! Reductions over windows.

use super::contraction::{is_identity, kind, reduced};
use crate::site::{Site, one};
use halite_hlo::proto::WindowDimension;
use halite_ir::ops::{And, BroadcastInDim, Compare, Constant, Direction, Iota, Multiply, Reduction, Select, Subtract};
use halite_ir::{TensorType, Value, Values};
use halite_tensor::{DType, Dims, HostTensor, Shape};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    let ("reduce-window", [x, init]) = (site.opcode(), site.operands()?) else { return None };
    let kind = kind(site)?;
    let windows = &site.inst().window.as_deref()?.dimensions;
    if windows.len() != site.b.shape(x).rank() {
        return None;
    }
    let blocks: Option<Dims> = windows.iter().map(block).collect();
    let lines: Option<Vec<Line>> = windows.iter().map(Line::of).collect();
    match blocks.and_then(|sizes| apart(site, kind, (x, init), &sizes)) {
        Some(reduced) => Some(one(reduced)),
        None => along(site, kind, (x, init), &lines?).map(one),
    }
}

/// Windows that follow one another without a gap: each dimension is its windows, and over what is in each is reduced.
fn apart(site: &mut Site<'_, '_>, kind: Reduction, operands: (Value, Value), sizes: &Dims) -> Option<Value> {
    let whole = site.b.shape(operands.0).clone();
    if !sizes.iter().zip(whole.iter()).all(|(&size, &all)| all.is_multiple_of(size)) {
        return None;
    }
    let apart: Shape = whole.iter().zip(sizes).flat_map(|(&all, &size)| [all / size, size]).collect();
    let x = site.reshaped(operands.0, apart)?;
    let inside: Dims = (0..sizes.len()).map(|dim| 2 * dim + 1).collect();
    reduced(site, kind, (x, operands.1), inside)
}

/// Windows that overlap or leave something out, along one dimension, as sums over all earlier elements are: a copy of the dimension for
/// each window, in which what is outside of it changes nothing.
fn along(site: &mut Site<'_, '_>, kind: Reduction, (x, init): (Value, Value), lines: &[Line]) -> Option<Value> {
    let [(dim, line)] = lines.iter().enumerate().filter(|(_, line)| !line.is_point()).collect::<Vec<_>>()[..] else {
        return None;
    };
    // Elements of padding are what is begun with.
    if !is_identity(site, kind, init) {
        return None;
    }
    let (whole, count) = (site.b.shape(x).clone(), *site.ty()?.shape().get(dim)?);
    let dtype = site.b.dtype(x);
    let spread: Shape = whole[..dim].iter().copied().chain([count]).chain(whole[dim..].iter().copied()).collect();
    let numbered =
        |site: &mut Site<'_, '_>, dim| site.emit(Iota { dim, ty: TensorType::new(DType::S64, spread.clone()) }, &[]);
    let (window, at) = (numbered(site, dim)?, numbered(site, dim + 1)?);
    let number = |site: &mut Site<'_, '_>, number: i64| {
        let number = HostTensor::from_ints(DType::S64, [], [number.into()]);
        let number = site.emit(Constant::new(number), &[])?;
        site.emit(BroadcastInDim { dims: Dims::new(), shape: spread.clone() }, &[number])
    };
    // Of an element its place in the window.
    let stride = number(site, line.stride)?;
    let start = site.emit(Multiply, &[window, stride])?;
    let inside = site.emit(Subtract, &[at, start])?;
    let (first, last) = (number(site, -line.before)?, number(site, line.size - line.before)?);
    let is_after = site.emit(Compare { direction: Direction::Ge }, &[inside, first])?;
    let is_before = site.emit(Compare { direction: Direction::Lt }, &[inside, last])?;
    let is_inside = site.emit(And, &[is_after, is_before])?;
    let dims: Dims = (0..whole.rank()).map(|other| if other < dim { other } else { other + 1 }).collect();
    let x = site.emit(BroadcastInDim { dims, shape: spread.clone() }, &[x])?;
    let nothing = site.emit(Constant::new(kind.identity(dtype)), &[])?;
    let nothing = site.emit(BroadcastInDim { dims: Dims::new(), shape: spread }, &[nothing])?;
    let kept = site.emit(Select, &[is_inside, x, nothing])?;
    reduced(site, kind, (kept, init), Dims::from_slice(&[dim + 1]))
}

/// The windows of a dimension.
struct Line {
    size: i64,
    stride: i64,
    /// The distance by which the first begins before the first element.
    before: i64,
}

impl Line {
    fn of(dim: &WindowDimension) -> Option<Self> {
        let plain = dim.window_dilation <= 1 && dim.base_dilation <= 1 && !dim.window_reversal;
        let (size, stride, before) = (dim.size, dim.stride, dim.padding_low);
        let is_small =
            [size, stride].iter().all(|number| (1..1 << 31).contains(number)) && before.unsigned_abs() < 1 << 31;
        (plain && is_small).then_some(Self { size, stride, before })
    }

    /// Whether each element is a window of its own.
    fn is_point(&self) -> bool {
        (self.size, self.stride, self.before) == (1, 1, 0)
    }
}

/// The size of a window that the next one follows at once.
fn block(dim: &WindowDimension) -> Option<usize> {
    let plain = dim.padding_low == 0 && dim.padding_high == 0 && dim.window_dilation <= 1 && dim.base_dilation <= 1;
    let size = usize::try_from(dim.size).ok().filter(|&size| size > 0)?;
    (plain && dim.stride == dim.size && !dim.window_reversal).then_some(size)
}
