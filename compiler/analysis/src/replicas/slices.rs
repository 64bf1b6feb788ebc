//! Slices at the coordinate of the rank, and slices of every so many positions.

use super::exchange::Exchange;
use super::number::{Index, Number, Term};
use super::state::{Part, Reading, State, Why};
use halite_ir::ops::Slice;
use halite_tensor::{Mesh, SubAxisId};

/// The blocks that ranks keep of a dimension.
struct Blocks {
    /// The sub-axes that name the block, the major one first.
    sub_axes: Vec<SubAxisId>,
    /// The size of all blocks together.
    size: usize,
}

/// The blocks of a dimension of `size` of which each rank keeps one, of size `kept`, from `start`: those of the whole, or of a part
/// that begins where all ranks say. `None` where ranks slice otherwise.
fn blocks(mesh: &Mesh, start: &Number, size: usize, kept: usize) -> Option<Blocks> {
    let mut steps = start.ranks.steps(mesh)?;
    steps.sort_by_key(|step| std::cmp::Reverse(step.1));
    let mut whole = kept;
    for &(sub_axis, step) in steps.iter().rev() {
        let next = whole.checked_mul(mesh.sub_axes()[sub_axis].size)?;
        whole = (i64::try_from(whole) == Ok(step)).then_some(next)?;
    }
    let same = |term: &Term| match term.index {
        Index::Of(base) => (0..mesh.sub_axes().len()).all(|sub_axis| base.source.is_same_along(sub_axis)),
        Index::Dim(_) | Index::Within(..) => false,
    };
    let (least, most) = start.ends().filter(|_| start.terms.iter().all(same))?;
    let fits = least >= 0 && most.checked_add(i64::try_from(kept).ok()?)? <= i64::try_from(size).ok()?;
    fits.then(|| Blocks { sub_axes: steps.into_iter().map(|step| step.0).collect(), size: whole })
}

/// A value of which each rank keeps blocks: its readings, and the dimensions that shrank thereby. Where ranks slice otherwise, nothing is
/// known of what they have.
pub(super) fn sliced(value: &Exchange<'_>, starts: &[State], result: &[usize]) -> (Vec<Reading>, Vec<usize>) {
    let mut readings = value.state.readings.to_vec();
    let mut dims = Vec::new();
    for (dim, start) in starts.iter().enumerate() {
        let (size, kept) = (value.shape[dim], result[dim]);
        let Some(number) = start.number.as_ref().filter(|_| size != kept) else { continue };
        let varies = number.ranks.varies(value.mesh);
        if varies.is_empty() {
            continue;
        }
        dims.push(dim);
        let blocks = blocks(value.mesh, number, size, kept);
        for reading in &mut readings {
            keep(value, reading, dim, blocks.as_ref(), &varies);
        }
    }
    (readings, dims)
}

fn keep(value: &Exchange<'_>, reading: &mut Reading, dim: usize, blocks: Option<&Blocks>, varies: &[SubAxisId]) {
    let size = value.shape[dim];
    if value.state.free[dim].contains(&(1, size)) {
        return;
    }
    match blocks {
        Some(blocks)
            if blocks.sub_axes.iter().all(|&sub_axis| reading.is_same_along(sub_axis))
                && (blocks.size == size || reading.of_dim(dim).next().is_none()) =>
        {
            blocks.sub_axes.iter().fold(blocks.size, |size, &sub_axis| value.keep(reading, dim, size, sub_axis));
        }
        _ => {
            for &sub_axis in varies {
                reading.set(sub_axis, Some((Part::Varying(Why::Rank), value.cause)));
            }
        }
    }
}

/// The placement of a slice that takes each dimension whole or every so many positions of it, where each shard holds whole steps, so
/// that its part of the slice is a shard of the slice. `None` for other slices, and for values that are right only on the rank that
/// owns an element.
pub(super) fn stepped(reading: &Reading, op: &Slice, from: &[usize], to: &[usize]) -> Option<Reading> {
    if reading.parts.iter().any(|part| !matches!(part.1, Part::Partial(_) | Part::Varying(_))) {
        return None;
    }
    let mut result = reading.clone();
    for (dim, (&size, &left)) in from.iter().zip(to).enumerate() {
        let step = op.stride[dim];
        if size == left {
            continue;
        }
        if op.start[dim] >= step || left * step != size {
            return None;
        }
        for digit in result.digits.iter_mut().filter(|digit| digit.dim == dim) {
            if !digit.stride.is_multiple_of(step) {
                return None;
            }
            digit.stride /= step;
        }
    }
    Some(result)
}
