//! Ops that move elements along dimensions.

use super::{TransferCx, placed};
use crate::causality::affine::{Affine, Digit};
use crate::causality::region::{Area, Region};
use crate::causality::state::State;
use halite_ir::ops::Pad;

/// Along one dimension, element `i` of the result is element `start + step * i` of the operand, where there is one.
#[derive(Clone, Copy)]
struct Window {
    dim: usize,
    start: i64,
    step: usize,
    /// Sizes of the operand and of the result.
    old: usize,
    new: usize,
}

impl Window {
    /// The position in the result.
    fn index(&self) -> Affine {
        Digit::whole(self.dim, self.new).into()
    }

    /// The position in the operand, over positions in the result.
    fn source(&self) -> Option<Affine> {
        Some(self.index().scaled(self.step as i64)?.plus_constant(self.start))
    }

    fn is_whole(&self) -> bool {
        self.start == 0 && self.step == 1 && self.old == self.new
    }

    /// The elements of the result that the operand has; `None` when there are none.
    fn inside(&self) -> Option<Region> {
        let source = self.source()?;
        Region::new([source.clone(), source.negated().plus_constant(self.old as i64 - 1)])
    }

    /// A digit of the operand, over positions in the result.
    fn digit(&self, digit: Digit) -> Option<Affine> {
        let (stride, end) = (digit.stride as i64, digit.end() as i64);
        if digit == Digit::whole(self.dim, self.old) {
            return self.source();
        }
        let last = self.start + self.step as i64 * (self.new as i64 - 1);
        let is_top = digit.end() >= self.old;
        let first = self.start.div_euclid(stride);
        if first == last.div_euclid(stride) || (self.step as i64 % end == 0) {
            return Some(first.rem_euclid(digit.size as i64).into());
        }
        if self.step != 1 || self.start.rem_euclid(stride) != 0 {
            return None;
        }
        if self.start.rem_euclid(end) == 0 && !is_top {
            return Some(Digit { dim: self.dim, ..digit }.into());
        }
        if is_top || self.start.div_euclid(end) == last.div_euclid(end) {
            let within = if is_top { first } else { first.rem_euclid(digit.size as i64) };
            let higher = Digit { dim: self.dim, stride: digit.stride, size: self.new.div_ceil(digit.stride) };
            return Some(Affine::from(higher).plus_constant(within));
        }
        None
    }

    /// The positions in the result that take the place of a digit by which dimensions of the operand are numbered.
    fn number(&self, digit: Digit) -> Option<Affine> {
        let renumbers = self.step == 1 && digit == Digit::whole(self.dim, self.old);
        if renumbers { Some(self.index()) } else { self.digit(digit) }
    }
}

/// The part of an operand in windows along some dimensions, where elements that it lacks are unknown; `None` when it has
/// none of them.
fn windowed(x: &State, windows: &[Window]) -> Option<State> {
    let windows: Vec<_> = windows.iter().filter(|window| !window.is_whole()).collect();
    let of = |digit: Digit| windows.iter().find(|window| window.dim == digit.dim);
    let place = |digit: Digit| of(digit).map_or(Some(digit.into()), |window| window.digit(digit));
    let number = |digit: Digit| of(digit).map_or(Some(digit.into()), |window| window.number(digit));
    let mut inside = Region::default();
    for window in &windows {
        inside = inside.and(&window.inside()?)?;
    }
    Some(x.renumbered(&place, &number).within(&inside))
}

/// Windows that start at `starts`, for the dimensions of operand and result.
fn windows(cx: &TransferCx<'_>, operand: usize, starts: impl IntoIterator<Item = i64>) -> Vec<Window> {
    let (old, new) = (cx.types[operand].shape(), cx.shape());
    let window = |(dim, start): (usize, i64)| Window { dim, start, step: 1, old: old[dim], new: new[dim] };
    starts.into_iter().enumerate().map(window).collect()
}

pub(super) fn slice(cx: &TransferCx<'_>, start: &[usize], stride: &[usize]) -> State {
    let mut windows = windows(cx, 0, start.iter().map(|&start| start as i64));
    windows.iter_mut().zip(stride).for_each(|(window, &step)| window.step = step);
    windowed(cx.args[0], &windows).unwrap_or_default()
}

/// The operand in the middle, and the scalar wherever it has no element.
pub(super) fn pad(cx: &TransferCx<'_>, op: &Pad) -> State {
    if op.interior.iter().any(|&interior| interior > 0) {
        return super::generic(cx, 0);
    }
    let windows = windows(cx, 0, op.low.iter().map(|&low| -low));
    let mut state = windowed(cx.args[0], &windows).unwrap_or_default();
    outside(&windows, cx.args[1], &mut state);
    state
}

/// Adds `other` where an operand in windows has no element.
fn outside(windows: &[Window], other: &State, state: &mut State) {
    let mut inside = Some(Region::default());
    for window in windows {
        inside = inside.and_then(|inside| inside.and(&window.inside()?));
    }
    let inside = inside.map(Area::from).unwrap_or_default();
    for region in inside.complement().0 {
        state.absorb(&other.within(&region));
    }
}

pub(super) fn reverse(cx: &TransferCx<'_>, dims: &[usize]) -> State {
    let sizes = cx.shape();
    let place = |digit: Digit| {
        if !dims.contains(&digit.dim) {
            return Some(digit.into());
        }
        let fits = sizes[digit.dim].is_multiple_of(digit.end());
        fits.then(|| Affine::from(digit).negated().plus_constant(digit.size as i64 - 1))
    };
    cx.args[0].renumbered(&place, &|digit| Some(digit.into()))
}

pub(super) fn concatenate(cx: &TransferCx<'_>, dim: usize) -> State {
    let mut whole: Option<State> = None;
    let mut start = 0;
    for (operand, arg) in cx.args.iter().enumerate() {
        let old = cx.types[operand].shape()[dim];
        let window = Window { dim, start: -start, step: 1, old, new: cx.shape()[dim] };
        start += old as i64;
        let Some(part) = windowed(arg, &[window]) else { continue };
        match &mut whole {
            Some(whole) => whole.absorb(&part),
            None => whole = Some(part),
        }
    }
    whole.unwrap_or_default()
}

/// A part that starts at known positions, or anywhere.
pub(super) fn dynamic_slice(cx: &TransferCx<'_>) -> State {
    let mut state = match starts(cx, 1, 0) {
        Some(starts) => windowed(cx.args[0], &windows(cx, 0, starts)).unwrap_or_default(),
        None => placed(cx, 0, 0),
    };
    cx.args[1..].iter().for_each(|start| state.flow.join(&start.flow));
    state
}

/// The first operand with the second written over a part that starts at known positions, or anywhere.
pub(super) fn dynamic_update_slice(cx: &TransferCx<'_>) -> State {
    let Some(starts) = starts(cx, 2, 0) else { return super::generic(cx, 0) };
    let windows = windows(cx, 1, starts.iter().map(|start| -start));
    let mut state = windowed(cx.args[1], &windows).unwrap_or_default();
    outside(&windows, cx.args[0], &mut state);
    state
}

/// The starts that operands from `first` on say, clamped so that the part lies inside operand `of`.
fn starts(cx: &TransferCx<'_>, first: usize, of: usize) -> Option<Vec<i64>> {
    let part = if first == 1 { cx.shape() } else { cx.types[1].shape() };
    let whole = cx.types[of].shape();
    let start = |(dim, arg): (usize, &&State)| {
        let start = arg.number.as_ref()?.as_constant()?;
        Some(start.clamp(0, whole[dim] as i64 - part[dim] as i64))
    };
    cx.args[first..].iter().enumerate().map(start).collect()
}
