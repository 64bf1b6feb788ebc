//! Positions and ranges: `x[1:, 0]`, `x[::-1]`, `table[ids]`.

use super::known::known;
use super::value::List;
use super::{Ops, Part, Place, Spans, Value};
use halite_ir::ops::Slice;
use halite_ir::{Builder, Value as Tensor};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Dims, Shape};

/// The positions that are taken of one dimension. Negative ones are counted from the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subscript {
    /// One position; the dimension is dropped.
    At(i64),
    /// From the first position, or the beginning, up to but not including the last one, or to the end.
    Range(Option<i64>, Option<i64>),
    /// The same in steps of the last number, backwards where that is negative: then from the end, to the beginning.
    Stepped(Option<i64>, Option<i64>, i64),
}

/// A subscript as a model has it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Indexed {
    By(Subscript),
    /// The positions that a tensor of whole numbers names.
    Tensor(Tensor),
}

/// The positions that are taken of one dimension: `count` of them from `first` on.
#[derive(Clone, Copy, Debug)]
struct Taken {
    first: usize,
    step: i64,
    count: usize,
}

impl Taken {
    /// The positions in increasing order: the first, one past the last, and the distance.
    fn forward(self) -> (usize, usize, usize) {
        let stride = self.step.unsigned_abs() as usize;
        let span = (self.count - 1) * stride;
        let low = if self.step < 0 { self.first - span } else { self.first };
        (low, low + span + 1, stride)
    }
}

impl Subscript {
    /// The positions that it takes of a dimension of this size, at least one.
    fn taken(self, size: usize, place: Place<'_>) -> Result<Taken> {
        let (from, to, step) = match self {
            Self::At(at) => return Ok(Taken { first: position(at, size, place)?, step: 1, count: 1 }),
            Self::Range(from, to) => (from, to, 1),
            Self::Stepped(from, to, step) => (from, to, step),
        };
        if step == 0 {
            let error = Diagnostic::error(codes::SHAPE, "a range has steps of 0");
            return Err(place.mark(error, "here").help("step by 1 or more, or by -1 or less to go backwards"));
        }
        if step < 0 { backward(from, to, step, size, place) } else { forward(from, to, step, size, place) }
    }
}

impl Ops<'_> {
    /// The part of a list that a subscript takes: an item, or a list.
    pub(crate) fn item(&mut self, list: &List, subscript: Subscript, place: Place<'_>) -> Result<Value> {
        let Taken { first, step, count } = subscript.taken(list.items.len(), place)?;
        if matches!(subscript, Subscript::At(_)) {
            return Ok(list.items[first].clone());
        }
        let at = |index: usize| (first as i64 + index as i64 * step) as usize;
        let items = (0..count).map(|index| list.items[at(index)].clone()).collect();
        let part = Value::list(items).ok_or_else(|| Diagnostic::bug("a part of a list does not nest deeper"))?;
        self.made(part, place)
    }

    /// Leading dimensions as the subscripts say, the others whole. The argument of a subscript is that of its dimension.
    pub(crate) fn slice(&mut self, x: Tensor, subscripts: &[Indexed], spans: &dyn Spans) -> Result<Value> {
        let whole = Place::whole(spans);
        let shape = self.b.shape(x).clone();
        if subscripts.len() > shape.rank() {
            let message =
                format!("`{}` has rank {}, found {} subscripts", self.b.ty(x), shape.rank(), subscripts.len());
            return Err(whole.mark(Diagnostic::error(codes::SHAPE, message), "too many subscripts"));
        }
        let mut taken = Vec::with_capacity(shape.rank());
        let (mut kept, mut gathered) = (Dims::new(), None);
        for (dim, &size) in shape.iter().enumerate() {
            let place = Place::new(spans, Part::Given(dim));
            let part = match subscripts.get(dim) {
                Some(Indexed::By(subscript @ Subscript::At(_))) => {
                    taken.push(subscript.taken(size, place)?);
                    continue;
                }
                Some(Indexed::By(subscript)) => subscript.taken(size, whole)?,
                Some(Indexed::Tensor(indices)) => {
                    let indices = self.one_tensor(*indices, gathered.is_some(), place)?;
                    gathered = Some((indices, kept.len()));
                    Taken { first: 0, step: 1, count: size }
                }
                None => Taken { first: 0, step: 1, count: size },
            };
            taken.push(part);
            kept.push(part.count);
        }
        self.emit_tensor(whole, |b| {
            let part = sliced(b, x, &taken)?;
            let part = if kept.len() == shape.rank() { part } else { b.reshape(part, Shape::from(kept))? };
            match gathered {
                Some((indices, dim)) => b.take(part, indices, dim),
                None => Ok(part),
            }
        })
    }

    /// There may be one tensor among the subscripts.
    fn one_tensor(&mut self, indices: Tensor, is_second: bool, place: Place<'_>) -> Result<Tensor> {
        if is_second {
            let error = Diagnostic::error(codes::KIND, "two subscripts are tensors, at most one is possible");
            return Err(place.mark(error, "the second").help("index by one after the other: `x[i][:, j]`"));
        }
        self.indices(indices, place)
    }

    /// A tensor of positions.
    pub(super) fn indices(&mut self, indices: Tensor, place: Place<'_>) -> Result<Tensor> {
        let dtype = self.b.dtype(indices);
        if dtype.is_float() || dtype == DType::Pred {
            let error = Diagnostic::error(codes::DTYPE, format!("`{}` is no tensor of positions", self.b.ty(indices)));
            return Err(place.mark(error, "here").help("index by whole numbers; `where` chooses by truth values"));
        }
        if let Some(negative) = known(&self.b, indices).and_then(|known| known.into_iter().find(|&at| at < 0)) {
            let error = Diagnostic::error(codes::SHAPE, format!("a tensor of positions holds {negative}"));
            let help = "positions in tensors count from 0: `% size` counts around the end, `size - 1` is the last one";
            return Err(place.mark(error, "here").help(help));
        }
        self.emit(place, |b| b.convert(indices, DType::S32))
    }
}

/// The positions that are taken of each dimension.
fn sliced(b: &mut Builder<'_>, x: Tensor, taken: &[Taken]) -> Result<Tensor> {
    let ranges: Vec<_> = taken.iter().map(|taken| taken.forward()).collect();
    let is_whole = ranges.iter().zip(b.shape(x).iter()).all(|(range, &size)| *range == (0, size, 1));
    let slice = || Slice {
        start: ranges.iter().map(|range| range.0).collect(),
        limit: ranges.iter().map(|range| range.1).collect(),
        stride: ranges.iter().map(|range| range.2).collect(),
    };
    let x = if is_whole { x } else { b.emit(slice(), &[x])? };
    let turned: Dims = (0..taken.len()).filter(|&dim| taken[dim].step < 0).collect();
    if turned.is_empty() { Ok(x) } else { b.reverse(x, &turned) }
}

/// A position among `size`, counted from the end when negative.
fn position(at: i64, size: usize, place: Place<'_>) -> Result<usize> {
    from_end(at, size).filter(|&position| position < size).ok_or_else(|| {
        let message = format!("position {at} is out of range for size {size}");
        place.mark(Diagnostic::error(codes::SHAPE, message), "here")
    })
}

/// Positions up to but not including the last one.
fn forward(from: Option<i64>, to: Option<i64>, step: i64, size: usize, place: Place<'_>) -> Result<Taken> {
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(size as i64));
    match (from_end(from, size), from_end(to, size)) {
        (Some(first), Some(limit)) if first < limit && limit <= size => {
            let stride = usize::try_from(step).unwrap_or(usize::MAX);
            Ok(Taken { first, step: step.min(size as i64), count: (limit - first).div_ceil(stride) })
        }
        _ => Err(outside(&format!("{from}:{to}"), size, place)),
    }
}

/// Positions down to but not including the last one, or to the beginning.
fn backward(from: Option<i64>, to: Option<i64>, step: i64, size: usize, place: Place<'_>) -> Result<Taken> {
    let first = from_end(from.unwrap_or(-1), size).filter(|&first| first < size);
    // One past the last position, counted from the end of what is left when one goes down.
    let low = to.map_or(Some(0), |to| from_end(to, size).map(|to| to + 1));
    match (first, low) {
        (Some(first), Some(low)) if low <= first => {
            let stride = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
            Ok(Taken { first, step: step.max(-(size as i64)), count: (first - low) / stride + 1 })
        }
        _ => {
            let shown = |bound: Option<i64>| bound.map_or_else(String::new, |bound| bound.to_string());
            Err(outside(&format!("{}:{}:{step}", shown(from), shown(to)), size, place))
        }
    }
}

fn outside(range: &str, size: usize, place: Place<'_>) -> Diagnostic {
    let message = format!("the range {range} does not lie within size {size}");
    let error = place.mark(Diagnostic::error(codes::SHAPE, message), "here");
    error.help("leave out the end to take the rest: `x[1:]`, or choose another range")
}

/// A position counted from the end when negative; `None` when that is before the beginning.
pub(crate) fn from_end(position: i64, size: usize) -> Option<usize> {
    let size = i64::try_from(size).ok()?;
    usize::try_from(if position < 0 { position.checked_add(size)? } else { position }).ok()
}
