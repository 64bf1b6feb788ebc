//! Positions and ranges: `x[1:, 0]`.

use super::{Ops, Part, Place, Spans, Value};
use halite_ir::Value as Tensor;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{Dims, Shape};

/// What is taken of one dimension. Positions are counted from the end when negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subscript {
    /// One position; the dimension is dropped.
    At(i64),
    /// From the first position, or the beginning, up to but not including the last one, or to the end.
    Range(Option<i64>, Option<i64>),
}

impl Ops<'_> {
    /// Leading dimensions as the subscripts say, the others whole. The argument of a subscript is that of its dimension.
    pub(crate) fn slice(&mut self, x: Tensor, subscripts: &[Subscript], spans: &dyn Spans) -> Result<Value> {
        let whole = Place::whole(spans);
        let shape = self.b.shape(x).clone();
        if subscripts.len() > shape.rank() {
            let message =
                format!("`{}` has rank {}, found {} subscripts", self.b.ty(x), shape.rank(), subscripts.len());
            return Err(whole.mark(Diagnostic::error(codes::SHAPE, message), "too many subscripts"));
        }
        let (mut start, mut limit): (Dims, Dims) = (shape.iter().map(|_| 0).collect(), shape.iter().copied().collect());
        let mut kept: Dims = Dims::new();
        for (dim, &size) in shape.iter().enumerate() {
            match subscripts.get(dim) {
                Some(Subscript::At(at)) => {
                    start[dim] = position(*at, size, Place::new(spans, Part::Given(dim)))?;
                    limit[dim] = start[dim] + 1;
                    continue;
                }
                Some(Subscript::Range(from, to)) => (start[dim], limit[dim]) = range(*from, *to, size, whole)?,
                None => {}
            }
            kept.push(limit[dim] - start[dim]);
        }
        self.emit_tensor(whole, |b| {
            let all = limit[..] == shape[..] && start.iter().all(|&start| start == 0);
            let slice = if all { x } else { b.slice(x, &start, &limit)? };
            if kept.len() == shape.rank() { Ok(slice) } else { b.reshape(slice, Shape::from(kept)) }
        })
    }
}

/// A position among `size`, counted from the end when negative.
pub(crate) fn position(at: i64, size: usize, place: Place<'_>) -> Result<usize> {
    from_end(at, size).filter(|&position| position < size).ok_or_else(|| {
        let message = format!("position {at} is out of range for size {size}");
        place.mark(Diagnostic::error(codes::SHAPE, message), "here")
    })
}

fn range(from: Option<i64>, to: Option<i64>, size: usize, place: Place<'_>) -> Result<(usize, usize)> {
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(size as i64));
    match (from_end(from, size), from_end(to, size)) {
        (Some(start), Some(limit)) if start < limit && limit <= size => Ok((start, limit)),
        _ => {
            let message = format!("the range {from}:{to} does not lie within size {size}");
            let error = place.mark(Diagnostic::error(codes::SHAPE, message), "here");
            Err(error.help("leave out the end to take the rest: `x[1:]`, or choose another range"))
        }
    }
}

/// A position counted from the end when negative; `None` when that is before the beginning.
pub(crate) fn from_end(position: i64, size: usize) -> Option<usize> {
    let size = i64::try_from(size).ok()?;
    usize::try_from(if position < 0 { position.checked_add(size)? } else { position }).ok()
}
