//! Moves that add up: reductions and products.

use super::Body;
use halite_support::Result;

impl Body<'_, '_> {
    pub(super) fn reduced(&mut self) -> Result<()> {
        let Some(x) = self.pick_ranked(1) else { return Ok(()) };
        let dim = self.random.below(x.ty.rank());
        if !self.options.smooth && self.random.coin() {
            let value = if self.random.coin() {
                self.b.reduce_max(x.value, &[dim])?
            } else {
                self.b.reduce_min(x.value, &[dim])?
            };
            return self.keep(value, x.bound, x.error);
        }
        let count = x.ty.shape()[dim] as f64;
        let value = self.b.reduce_sum(x.value, &[dim])?;
        let bound = x.bound * count;
        self.keep(value, bound, x.error * count + 2.0 * x.ty.dtype().unit_roundoff() * bound * count)
    }

    /// A product over one dimension, with a batch dimension when the operands have room for one.
    pub(super) fn product(&mut self) -> Result<()> {
        let Some(x) = self.pick_ranked(1) else { return Ok(()) };
        let last = x.ty.rank() - 1;
        let size = x.ty.shape()[last];
        let fits = |known: &super::Known| {
            known.ty.dtype() == x.ty.dtype() && known.ty.rank() >= 1 && known.ty.shape().last() == Some(&size)
        };
        let Some(y) = self.pick(fits) else { return Ok(()) };
        if x.ty.shape().num_elements() * y.ty.shape().num_elements() > 2000 {
            return Ok(());
        }
        let batched = x.ty.rank() > 1 && y.ty.rank() > 1 && x.ty.shape()[0] == y.ty.shape()[0];
        let batch: &[usize] = if batched && self.random.coin() { &[0] } else { &[] };
        let value = self.b.dot_general(x.value, y.value, (batch, batch), (&[last], &[y.ty.rank() - 1]))?;
        if self.b.ty(value).rank() > 4 {
            return Ok(());
        }
        let count = size as f64;
        let bound = x.bound * y.bound * count;
        let error = count * (x.error * y.bound + y.error * (x.bound + x.error));
        self.keep(value, bound, error + 4.0 * x.ty.dtype().unit_roundoff() * bound * (1.0 + count))
    }
}
