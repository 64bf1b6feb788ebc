//! Reductions over windows.

use super::contraction::{is_identity, kind, reduced};
use crate::site::{Site, one};
use halite_hlo::proto::WindowDimension;
use halite_hlo::{Comparison, Opcode, WindowDim};
use halite_ir::ops::{
    And, BroadcastInDim, Compare, Constant, Direction, Iota, Multiply, ReduceWindow, Reduction, Select,
    SelectAndScatter, Subtract,
};
use halite_ir::{Op, TensorType, Value, Values};
use halite_tensor::{DType, Dims, HostTensor, Shape};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    if site.opcode() == "select-and-scatter" {
        return selected(site);
    }
    let ("reduce-window", [x, init]) = (site.opcode(), site.operands()?) else { return None };
    let kind = kind(site)?;
    let windows = &site.inst().window.as_deref()?.dimensions;
    if windows.len() != site.b.shape(x).rank() {
        return None;
    }
    let blocks: Option<Dims> = windows.iter().map(block).collect();
    let lines: Option<Vec<Line>> = windows.iter().map(Line::of).collect();
    let made = blocks.and_then(|sizes| apart(site, kind, (x, init), &sizes));
    let made = made.or_else(|| along(site, kind, (x, init), &lines?));
    // Padding of a dimension without windows is none of theirs.
    let made = made.filter(|&made| Some(site.b.ty(made)) == site.ty());
    made.or_else(|| anywhere(site, kind, (x, init))).map(one)
}

/// The windows of an instruction.
fn windows(site: &Site<'_, '_>) -> Option<Vec<WindowDim>> {
    site.inst().window.as_deref()?.dimensions.iter().map(|dim| WindowDim::from_proto(dim).ok()).collect()
}

/// Windows of any form. Extremes take what they start from once; a sum would for each place of padding.
fn anywhere(site: &mut Site<'_, '_>, kind: Reduction, (x, init): (Value, Value)) -> Option<Value> {
    let windows = windows(site)?;
    let of = |part: fn(&WindowDim) -> usize| -> Dims { windows.iter().map(part).collect() };
    let op = ReduceWindow {
        kind,
        window: of(|dim| dim.size),
        strides: of(|dim| dim.stride)[..].into(),
        low: windows.iter().map(|dim| dim.low).collect(),
        high: windows.iter().map(|dim| dim.high).collect(),
        base_dilation: of(|dim| dim.base_dilation)[..].into(),
        window_dilation: of(|dim| dim.window_dilation)[..].into(),
        accumulate: site.ty()?.dtype(),
    };
    let reduced = site.emit(op, &[x])?;
    if is_identity(site, kind, init) {
        return Some(reduced);
    }
    if !kind.is_idempotent() {
        return None;
    }
    let shape = site.b.shape(reduced).clone();
    let init = site.emit(BroadcastInDim { dims: Dims::new(), shape }, &[init])?;
    site.emit(Op::of_opcode(kind.hlo().op().into())?, &[reduced, init])
}

/// The gradient of extremes of windows: the first that is as large as all after it, to which is added.
fn selected(site: &mut Site<'_, '_>) -> Option<Values> {
    let [x, source, init] = site.operands()?;
    let [select, scatter] =
        [0, 1].map(|number| site.graph.callee(site.at, number).and_then(|own| site.graph.root(own)));
    let (select, scatter) = (select?, scatter?);
    let is_of_both = |root: usize| {
        let number = |operand| {
            let at = site.graph.operand(root, operand)?;
            (site.graph.opcode(at) == "parameter").then(|| site.graph.inst(at).parameter_number)
        };
        number(0).is_some() && number(0) != number(1) && number(1).is_some()
    };
    let first = site.graph.operand(select, 0).map(|at| site.graph.inst(at).parameter_number);
    let kind = match (site.graph.opcode(select), Comparison::parse(&site.graph.inst(select).comparison_direction)?) {
        ("compare", Comparison::Ge) if first == Some(0) => Reduction::Max,
        ("compare", Comparison::Le) if first == Some(0) => Reduction::Min,
        _ => return None,
    };
    let adds = Opcode::parse(site.graph.opcode(scatter)) == Some(Reduction::Sum.hlo().op().into());
    if !(adds && is_of_both(select) && is_of_both(scatter) && is_identity(site, Reduction::Sum, init)) {
        return None;
    }
    let windows = windows(site)?;
    let of = |part: fn(&WindowDim) -> usize| -> Dims { windows.iter().map(part).collect() };
    let op = SelectAndScatter {
        kind,
        window: of(|dim| dim.size),
        strides: of(|dim| dim.stride),
        low: windows.iter().map(|dim| dim.low).collect(),
        high: windows.iter().map(|dim| dim.high).collect(),
    };
    site.emit(op, &[x, source]).map(one)
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

/// The only dimension whose windows are of several elements.
pub(super) fn only(lines: &[Line]) -> Option<(usize, &Line)> {
    let mut others = lines.iter().enumerate().filter(|(_, line)| !line.is_point());
    let only = others.next()?;
    others.next().is_none().then_some(only)
}

/// Windows that overlap or leave something out, along one dimension, as sums over all earlier elements are: a copy of the dimension for
/// each window, in which what is outside of it changes nothing.
fn along(site: &mut Site<'_, '_>, kind: Reduction, (x, init): (Value, Value), lines: &[Line]) -> Option<Value> {
    let (dim, line) = only(lines)?;
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
pub(super) struct Line {
    pub(super) size: i64,
    pub(super) stride: i64,
    /// The distance by which the first begins before the first element.
    pub(super) before: i64,
}

impl Line {
    pub(super) fn of(dim: &WindowDimension) -> Option<Self> {
        let plain = dim.window_dilation <= 1 && dim.base_dilation <= 1 && !dim.window_reversal;
        let (size, stride, before) = (dim.size, dim.stride, dim.padding_low);
        let is_small =
            [size, stride].iter().all(|number| (1..1 << 31).contains(number)) && before.unsigned_abs() < 1 << 31;
        (plain && is_small).then_some(Self { size, stride, before })
    }

    /// Whether each element is a window of its own.
    pub(super) fn is_point(&self) -> bool {
        (self.size, self.stride, self.before) == (1, 1, 0)
    }
}

/// The size of a window that the next one follows at once.
fn block(dim: &WindowDimension) -> Option<usize> {
    let plain = dim.padding_low == 0 && dim.padding_high == 0 && dim.window_dilation <= 1 && dim.base_dilation <= 1;
    let size = usize::try_from(dim.size).ok().filter(|&size| size > 0)?;
    (plain && dim.stride == dim.size && !dim.window_reversal).then_some(size)
}
