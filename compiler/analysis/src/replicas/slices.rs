//! Slices at the coordinate of the rank, and slices of every so many positions.

use super::exchange::Exchange;
use super::number::Number;
use super::state::{Part, Reading, State, Why};
use halite_ir::ops::Slice;
use halite_tensor::{Mesh, SubAxisId};

/// The sub-axes of which a rank keeps its block when a dimension of `size` is sliced to `kept` from `start`, the major one first; none
/// where the start is the same on all ranks.
fn blocks(mesh: &Mesh, start: &Number, size: usize, kept: usize) -> Option<Vec<SubAxisId>> {
    let mut steps = start.ranks.steps(mesh).filter(|_| start.terms.is_empty())?;
    if steps.is_empty() {
        return Some(Vec::new());
    }
    steps.sort_by_key(|step| std::cmp::Reverse(step.1));
    let mut left = size;
    for &(sub_axis, step) in &steps {
        left = left.checked_div(mesh.sub_axes()[sub_axis].size).filter(|&left| left as i64 == step)?;
    }
    (left == kept && start.ranks.at(0) == 0).then(|| steps.into_iter().map(|step| step.0).collect())
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
        let sub_axes = blocks(value.mesh, number, size, kept);
        for reading in &mut readings {
            keep(value, reading, dim, sub_axes.as_deref(), &varies);
        }
    }
    (readings, dims)
}

fn keep(value: &Exchange<'_>, reading: &mut Reading, dim: usize, sub_axes: Option<&[SubAxisId]>, varies: &[SubAxisId]) {
    let size = value.shape[dim];
    if value.state.free[dim].contains(&(1, size)) {
        return;
    }
    match sub_axes {
        Some(sub_axes) if sub_axes.iter().all(|&sub_axis| reading.is_same_along(sub_axis)) => {
            sub_axes.iter().fold(size, |size, &sub_axis| value.keep(reading, dim, size, sub_axis));
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
