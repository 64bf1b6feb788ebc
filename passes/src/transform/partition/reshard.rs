//! Moving a value to where it is read.

use super::fact::{Placement, SubAxes};
use halite_ir::ops::Reduction;
use halite_ir::{Builder, Value, local_stride};
use halite_support::Result;
use halite_tensor::{DType, DimShard, DimShards, Dims, Mesh, Sharding, SubAxisId};

/// Moves values from one placement to another.
#[derive(Clone, Copy)]
pub(super) struct Reshard<'a> {
    pub(super) mesh: &'a Mesh,
    /// The element type of sums of narrower numbers.
    pub(super) reduce: DType,
}

impl Reshard<'_> {
    /// Moves `x` from placement `from` to placement `to`. Sums are made first, where they fall into shards at once as such; then shards
    /// that are not wanted are dropped, so that the least is gathered. What shards another dimension then is exchanged: each rank sends all but
    /// one part of its own, where a gather would send all of it to all. Sums along one sub-axis after another are rounded once.
    ///
    /// # Errors
    /// When a digit does not fit, which is a bug.
    pub(super) fn go(&self, b: &mut Builder<'_>, x: Value, from: &Placement, to: &Placement) -> Result<Value> {
        let (mut x, mut now) = (x, from.sharding.clone());
        let (own, wide) = (b.dtype(x), self.wide(b.dtype(x)));
        let summed: SubAxes = from.partial.iter().copied().filter(|sub_axis| !to.partial.contains(sub_axis)).collect();
        for run in runs(&to.sharding, |sub_axis| summed.contains(&sub_axis)) {
            if !run.1.iter().all(|&digit| fits(&now, run.0, digit)) {
                continue;
            }
            x = b.convert(x, wide)?;
            x = self.reduce_scatter(b, x, &mut now, run)?;
        }
        let rest: SubAxes = summed.iter().copied().filter(|&sub_axis| now.find(sub_axis).is_none()).collect();
        if rest.is_empty() {
            x = b.convert(x, own)?;
        }
        for (dim, digit) in all(&to.sharding) {
            if now.find(digit.sub_axis).is_none() && !summed.contains(&digit.sub_axis) && fits(&now, dim, digit) {
                x = b.keep_digit(self.mesh, x, dim, (&now.0[dim], digit))?;
                now = now.with(dim, digit);
            }
        }
        x = self.all_reduce(b, Reduction::Sum, x, &rest)?;
        x = b.convert(x, own)?;
        for run in runs(&now.clone(), |sub_axis| to.sharding.find(sub_axis).is_some()) {
            if let Some(wanted) = moved(&to.sharding, &now, &run) {
                x = self.all_to_all(b, x, &mut now, (run, wanted))?;
            }
        }
        for run in runs(&now.clone(), |sub_axis| to.sharding.find(sub_axis) != now.find(sub_axis)) {
            x = self.all_gather(b, x, &mut now, run)?;
        }
        for (dim, digit) in all(&to.sharding) {
            if now.find(digit.sub_axis).is_none() {
                x = b.keep_digit(self.mesh, x, dim, (&now.0[dim], digit))?;
                now = now.with(dim, digit);
            }
        }
        let terms: SubAxes = to.partial.iter().copied().filter(|sub_axis| !from.partial.contains(sub_axis)).collect();
        self.as_terms(b, x, &terms)
    }

    /// `x` combined over the ranks along these sub-axes.
    ///
    /// # Errors
    /// When elements cannot be combined so.
    pub(super) fn all_reduce(
        &self,
        b: &mut Builder<'_>,
        kind: Reduction,
        x: Value,
        sub_axes: &[SubAxisId],
    ) -> Result<Value> {
        if sub_axes.is_empty() {
            return Ok(x);
        }
        let own = b.dtype(x);
        let wide = b.convert(x, self.wide(own))?;
        let sum = b.all_reduce(kind, wide, self.mesh.groups(sub_axes))?;
        b.convert(sum, own)
    }

    /// The type of sums over ranks of numbers of a type.
    fn wide(&self, own: DType) -> DType {
        if !own.is_float() || own.size() >= self.reduce.size() { own } else { self.reduce }
    }

    /// `x` on the first rank along each of these sub-axes and zero on the others, so that it is their sum.
    ///
    /// # Errors
    /// When it has no zero, which is a bug.
    pub(super) fn as_terms(&self, b: &mut Builder<'_>, x: Value, sub_axes: &[SubAxisId]) -> Result<Value> {
        let mut x = x;
        for &sub_axis in sub_axes {
            let digit = DimShard { sub_axis, size: self.mesh.sub_axes()[sub_axis].size, stride: 1 };
            let at = b.coordinate(self.mesh, digit)?;
            let first = b.splat_like(at, 0.0)?;
            let leads = b.compare(at, first, halite_ir::ops::Direction::Eq)?;
            let zero = b.splat_like(x, 0.0)?;
            x = b.select(leads, x, zero)?;
        }
        Ok(x)
    }

    fn reduce_scatter(&self, b: &mut Builder<'_>, x: Value, now: &mut Sharding, (dim, run): Run) -> Result<Value> {
        let (digit, sub_axes) = merged(&run);
        let low = local_stride(&now.0[dim], &digit);
        let x =
            b.apart(x, dim, (digit.size, low), |b, x, dim| b.reduce_scatter(x, dim, self.mesh.groups(&sub_axes)))?;
        *now = run.iter().fold(now.clone(), |now, &digit| now.with(dim, digit));
        Ok(x)
    }

    /// Moves what shards one dimension to another.
    fn all_to_all(
        &self,
        b: &mut Builder<'_>,
        x: Value,
        now: &mut Sharding,
        ((from, run), (to, wanted)): (Run, Run),
    ) -> Result<Value> {
        let ((digit, sub_axes), (goal, _)) = (merged(&run), merged(&wanted));
        *now = run.iter().fold(now.clone(), |now, digit| now.without(digit.sub_axis));
        let (low, goal_low) = (local_stride(&now.0[from], &digit), local_stride(&now.0[to], &goal));
        *now = wanted.iter().fold(now.clone(), |now, &digit| now.with(to, digit));
        // Blocks of either dimension are apart from the blocks that hold them.
        let (whole, parts) = (b.shape(x).clone(), digit.size);
        let (mut apart, mut split_dim, mut concat_dim) = (Dims::new(), 0, 0);
        for (dim, &size) in whole.iter().enumerate() {
            let block = match dim {
                _ if dim == from => low,
                _ if dim == to => goal_low * parts,
                _ => size,
            };
            if block < size {
                apart.push(size / block);
            }
            let place = if dim == from { &mut concat_dim } else { &mut split_dim };
            if dim == from || dim == to {
                *place = apart.len();
            }
            apart.push(block);
        }
        let x = b.reshape(x, apart)?;
        let x = b.all_to_all(x, split_dim, concat_dim, self.mesh.groups(&sub_axes))?;
        let local = whole.iter().enumerate().map(|(dim, &size)| match dim {
            _ if dim == from => size * parts,
            _ if dim == to => size / parts,
            _ => size,
        });
        b.reshape(x, local.collect::<Dims>())
    }

    fn all_gather(&self, b: &mut Builder<'_>, x: Value, now: &mut Sharding, (dim, run): Run) -> Result<Value> {
        let (digit, sub_axes) = merged(&run);
        *now = run.iter().fold(now.clone(), |now, digit| now.without(digit.sub_axis));
        let low = local_stride(&now.0[dim], &digit);
        b.apart(x, dim, (1, low), |b, x, dim| b.all_gather(x, dim, self.mesh.groups(&sub_axes)))
    }
}

/// DimShards of one dimension that follow one another without a gap.
type Run = (usize, DimShards);

/// The wanted digits of a sharding, in runs.
fn runs(sharding: &Sharding, wanted: impl Fn(SubAxisId) -> bool) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (dim, digit) in all(sharding) {
        if !wanted(digit.sub_axis) {
            continue;
        }
        match runs.last_mut() {
            Some((other, run))
                if *other == dim && run.last().is_some_and(|last| last.stride == digit.stride * digit.size) =>
            {
                run.push(digit)
            }
            _ => runs.push((dim, DimShards::from_slice(&[digit]))),
        }
    }
    runs
}

/// The digits by which the sub-axes of a run are to shard another dimension, if they follow one another there too and fit.
fn moved(to: &Sharding, now: &Sharding, (dim, run): &Run) -> Option<Run> {
    let found: Vec<(usize, DimShard)> = run.iter().map(|digit| to.find(digit.sub_axis)).collect::<Option<_>>()?;
    let (other, digits) = (found[0].0, found.iter().map(|(_, digit)| *digit).collect::<DimShards>());
    let is_run = digits.windows(2).all(|pair| pair[0].stride == pair[1].stride * pair[1].size);
    let fits = digits.iter().all(|&digit| fits(now, other, digit));
    (other != *dim && found.iter().all(|(dim, _)| *dim == other) && is_run && fits).then_some((other, digits))
}

/// One digit in the place of a run, and its sub-axes.
fn merged(run: &DimShards) -> (DimShard, SubAxes) {
    let size = run.iter().map(|digit| digit.size).product();
    let last = run[run.len() - 1];
    (DimShard { size, ..last }, run.iter().map(|digit| digit.sub_axis).collect())
}

fn all(sharding: &Sharding) -> impl Iterator<Item = (usize, DimShard)> + use<> {
    let digits: Vec<_> =
        sharding.0.iter().enumerate().flat_map(|(dim, digits)| digits.iter().map(move |&digit| (dim, digit))).collect();
    digits.into_iter()
}

/// Whether a digit can stand beside those that shard a dimension already: whole above each or whole below it.
fn fits(now: &Sharding, dim: usize, digit: DimShard) -> bool {
    let low = digit.stride;
    let high = low * digit.size;
    let apart = |other: &DimShard| other.stride.is_multiple_of(high) || low.is_multiple_of(other.stride * other.size);
    now.0[dim].iter().all(apart)
}

#[cfg(test)]
mod tests;
