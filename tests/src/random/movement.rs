//! Moves that move elements.

use super::{Body, Known, SIZES};
use halite_support::Result;
use halite_tensor::DType;

impl Body<'_, '_> {
    /// Keeps a rearrangement of `x`.
    fn keep_moved(&mut self, value: halite_ir::Value, x: &Known) {
        let ty = self.b.ty(value).clone();
        self.pool.push(Known { value, ty, bound: x.bound, error: x.error });
    }

    pub(super) fn reshaped(&mut self) -> Result<()> {
        let Some(x) = self.pick(|_| true) else { return Ok(()) };
        let sizes = x.ty.shape().to_vec();
        let count = x.ty.shape().num_elements();
        let shape = match self.random.below(4) {
            0 => vec![count],
            1 => sizes.iter().copied().filter(|&size| size != 1).collect(),
            2 => sizes.iter().rev().copied().collect(),
            _ => std::iter::once(1).chain(sizes).collect(),
        };
        let value = self.b.reshape(x.value, shape.as_slice())?;
        self.keep_moved(value, &x);
        Ok(())
    }

    pub(super) fn transposed(&mut self) -> Result<()> {
        let Some(x) = self.pick(|known| known.ty.rank() >= 2) else { return Ok(()) };
        let mut permutation: Vec<usize> = (0..x.ty.rank()).collect();
        let turn = 1 + self.random.below(x.ty.rank() - 1);
        permutation.rotate_left(turn);
        let value = self.b.transpose(x.value, &permutation)?;
        self.keep_moved(value, &x);
        Ok(())
    }

    pub(super) fn reversed(&mut self) -> Result<()> {
        let Some(x) = self.pick(|known| known.ty.rank() >= 1) else { return Ok(()) };
        let dim = self.random.below(x.ty.rank());
        let value = self.b.reverse(x.value, &[dim])?;
        self.keep_moved(value, &x);
        Ok(())
    }

    pub(super) fn sliced(&mut self) -> Result<()> {
        let Some(x) = self.pick(|known| known.ty.rank() >= 1) else { return Ok(()) };
        let dim = self.random.below(x.ty.rank());
        let size = x.ty.shape()[dim];
        let start = self.random.below(size);
        let limit = start + 1 + self.random.below(size - start);
        let value = self.b.slice_dim(x.value, dim, start, limit)?;
        self.keep_moved(value, &x);
        Ok(())
    }

    pub(super) fn padded(&mut self) -> Result<()> {
        let suits = |known: &Known| known.ty.rank() >= 1 && known.ty.dtype() != DType::Pred;
        let Some(x) = self.pick(suits) else { return Ok(()) };
        let dim = self.random.below(x.ty.rank());
        if x.ty.shape().num_elements() > 200 {
            return Ok(());
        }
        let (low, high) = (self.random.below(2) as i64, self.random.below(3) as i64);
        let value = self.b.pad_dim(x.value, dim, low, high, 0.0)?;
        self.keep_moved(value, &x);
        Ok(())
    }

    pub(super) fn joined(&mut self) -> Result<()> {
        let Some(x) = self.pick(|known| (1..=3).contains(&known.ty.rank())) else { return Ok(()) };
        let Some(y) = self.pick(|known| known.ty == x.ty) else { return Ok(()) };
        if x.ty.shape().num_elements() > 200 {
            return Ok(());
        }
        let dim = self.random.below(x.ty.rank());
        let value = self.b.concatenate(&[x.value, y.value], dim)?;
        let known = Known { bound: x.bound.max(y.bound), error: x.error.max(y.error), ..x };
        self.keep_moved(value, &known);
        Ok(())
    }

    pub(super) fn broadcast(&mut self) -> Result<()> {
        let Some(x) = self.pick(|known| known.ty.rank() <= 2 && known.ty.shape().num_elements() <= 64) else {
            return Ok(());
        };
        let size = SIZES[self.random.below(SIZES.len())];
        let first = self.random.coin();
        let sizes = x.ty.shape().to_vec();
        let (dims, shape): (Vec<usize>, Vec<usize>) = if first {
            ((1..=sizes.len()).collect(), std::iter::once(size).chain(sizes).collect())
        } else {
            ((0..sizes.len()).collect(), sizes.into_iter().chain([size]).collect())
        };
        let value = self.b.broadcast_in_dim(x.value, &dims, shape.as_slice())?;
        self.keep_moved(value, &x);
        Ok(())
    }

    /// Indexed reads; out of range indices are clamped.
    pub(super) fn taken(&mut self) -> Result<()> {
        let Some(x) = self.pick_ranked(1) else { return Ok(()) };
        let Some(indices) = self.pick(|known| known.ty.dtype() == DType::S32 && known.ty.rank() <= 2) else {
            return Ok(());
        };
        if x.ty.shape().num_elements() * indices.ty.shape().num_elements() > 1000 {
            return Ok(());
        }
        let dim = self.random.below(x.ty.rank());
        let value = self.b.take(x.value, indices.value, dim)?;
        self.keep_moved(value, &x);
        Ok(())
    }

    pub(super) fn sliced_at(&mut self) -> Result<()> {
        let Some(x) = self.pick_ranked(1) else { return Ok(()) };
        let Some(start) = self.pick(|known| known.ty.dtype() == DType::S32 && known.ty.rank() == 0) else {
            return Ok(());
        };
        let shape: Vec<usize> = x.ty.shape().iter().map(|&size| 1 + self.random.below(size)).collect();
        let value = self.b.dynamic_slice(x.value, &vec![start.value; x.ty.rank()], shape.as_slice())?;
        self.keep_moved(value, &x);
        Ok(())
    }

    pub(super) fn updated_at(&mut self) -> Result<()> {
        let Some(x) = self.pick_ranked(1) else { return Ok(()) };
        let Some(start) = self.pick(|known| known.ty.dtype() == DType::S32 && known.ty.rank() == 0) else {
            return Ok(());
        };
        let fits = |known: &Known| {
            let smaller = known.ty.shape().iter().zip(x.ty.shape().iter()).all(|(small, large)| small <= large);
            known.ty.dtype() == x.ty.dtype() && known.ty.rank() == x.ty.rank() && smaller
        };
        let Some(update) = self.pick(fits) else { return Ok(()) };
        let value = self.b.dynamic_update_slice(x.value, update.value, &vec![start.value; x.ty.rank()])?;
        let known = Known { bound: x.bound.max(update.bound), error: x.error.max(update.error), ..x };
        self.keep_moved(value, &known);
        Ok(())
    }
}
