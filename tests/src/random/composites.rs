//! Composite moves.

use super::{Body, Known};
use halite_ir::{Attr, Real};
use halite_support::Result;
use halite_tensor::DType;
use halite_test_kit::numeric::uniform;

/// Units of roundoff that another implementation of a composite may be off, of its largest value.
const UNITS: f64 = 128.0;

impl Body<'_, '_> {
    fn keep_composite(&mut self, value: halite_ir::Value, bound: f64, error: f64) -> Result<()> {
        let unit = self.b.dtype(value).unit_roundoff();
        self.keep(value, bound, error + UNITS * unit * bound.max(1.0))
    }

    pub(super) fn activation(&mut self) -> Result<()> {
        let Some(x) = self.pick_float() else { return Ok(()) };
        let error = 1.2 * x.error;
        match self.random.below(if self.options.smooth { 4 } else { 5 }) {
            0 => {
                let value = self.spelled("silu", &[], &[x.value])?;
                self.keep_composite(value, x.bound, error)
            }
            1 => {
                let tanh = self.random.coin();
                let value = self.spelled("gelu", &[("tanh", Attr::Bool(tanh))], &[x.value])?;
                self.keep_composite(value, x.bound, error)
            }
            2 => {
                let Some(y) = self.pick(|known| known.ty == x.ty) else { return Ok(()) };
                let value = self.spelled("swiglu", &[], &[x.value, y.value])?;
                let error = error * y.bound + y.error * (x.bound + error);
                self.keep_composite(value, x.bound * y.bound, error)
            }
            3 => {
                let Some(x) = self.pick_ranked(1) else { return Ok(()) };
                let dim = self.random.below(x.ty.rank()) as i64;
                let size = x.ty.shape()[dim as usize] as f64;
                if self.random.coin() {
                    let value = self.spelled("softmax", &[("dim", Attr::Int(dim))], &[x.value])?;
                    return self.keep_composite(value, 1.0, 2.0 * x.error);
                }
                let value = self.spelled("log_softmax", &[("dim", Attr::Int(dim))], &[x.value])?;
                self.keep_composite(value, 2.0 * x.bound + size, 2.0 * x.error)
            }
            _ => {
                let value = self.spelled("relu", &[], &[x.value])?;
                self.keep(value, x.bound, x.error)
            }
        }
    }

    pub(super) fn normalized(&mut self) -> Result<()> {
        let Some(x) = self.pick_ranked(1) else { return Ok(()) };
        let width = x.ty.shape()[x.ty.rank() - 1];
        let seed = self.random.bits();
        let weight = self.b.constant(uniform(x.ty.dtype(), [width], 0.5, 1.5, seed))?;
        // With this eps the slope stays below 2 / sqrt(eps) in each element, of which there are few.
        let eps = [("eps", Attr::Real(Real(0.25)))];
        let value = if self.random.coin() {
            self.spelled("rms_norm", &eps, &[x.value, weight])?
        } else {
            let bias = self.b.constant(uniform(x.ty.dtype(), [width], -0.5, 0.5, seed + 1))?;
            self.spelled("layer_norm", &eps, &[x.value, weight, bias])?
        };
        let bound = 1.5 * (width as f64).sqrt() + 0.5;
        let rounding = x.ty.dtype().unit_roundoff() * x.bound;
        self.keep_composite(value, bound, 6.0 * width as f64 * (x.error + 8.0 * rounding))
    }

    pub(super) fn linear(&mut self) -> Result<()> {
        let Some(x) = self.pick_ranked(1) else { return Ok(()) };
        let last = x.ty.shape()[x.ty.rank() - 1];
        let fits =
            |known: &Known| known.ty.dtype() == x.ty.dtype() && known.ty.rank() == 2 && known.ty.shape()[1] == last;
        let Some(weight) = self.pick(fits) else { return Ok(()) };
        let value = self.b.composite("linear", &[], &[x.value, weight.value])?[0];
        let count = last as f64;
        let bound = count * x.bound * weight.bound;
        let error = count * (x.error * weight.bound + weight.error * (x.bound + x.error));
        self.keep_composite(value, bound, error)
    }

    /// Rotated positions and attention, of segments too, on values made to fit.
    pub(super) fn attention(&mut self) -> Result<()> {
        let Some(x) = self.pick(|known| known.ty.dtype().is_float() && known.ty.rank() <= 1) else { return Ok(()) };
        let (dtype, seed) = (x.ty.dtype(), self.random.bits());
        let mix = |body: &mut Self, seed: u64, heads: usize| -> Result<halite_ir::Value> {
            let pattern = body.b.constant(uniform(dtype, [1, 3, heads, 4], -1.0, 1.0, seed))?;
            let dims: Vec<usize> = (0..x.ty.rank()).collect();
            let sum = body.b.reduce_sum(x.value, &dims)?;
            let tame = body.b.tanh(sum)?;
            let repeated = body.b.broadcast_in_dim(tame, &[], [1, 3, heads, 4])?;
            body.b.multiply(pattern, repeated)
        };
        let (q, k, v) = (mix(self, seed, 2)?, mix(self, seed + 1, 1)?, mix(self, seed + 2, 1)?);
        let q = self.rotated(q)?;
        let mut operands = vec![q, k, v];
        if self.random.coin() {
            let segments = (0..3).map(|_| self.random.below(2) as i128);
            operands.push(self.b.constant(halite_tensor::HostTensor::from_ints(DType::S32, [1, 3], segments))?);
        }
        let value = self.b.composite("causal_attention", &[], &operands)?[0];
        let count = x.ty.shape().num_elements() as f64;
        self.keep_composite(
            value,
            1.0,
            16.0 * (count * x.error + 2.0 * dtype.unit_roundoff() * count * count * x.bound),
        )
    }

    /// Rows of a table, and the cross entropy of what is found there.
    pub(super) fn embedded(&mut self) -> Result<()> {
        let Some(table) = self.pick(|known| known.ty.dtype().is_float() && known.ty.rank() == 2) else { return Ok(()) };
        let (rows, width) = (table.ty.shape()[0], table.ty.shape()[1]);
        let draw = |random: &mut halite_test_kit::numeric::Random, below: usize| -> Vec<i128> {
            (0..4).map(|_| random.below(below) as i128).collect()
        };
        let ids = halite_tensor::HostTensor::from_ints(DType::S32, [2, 2], draw(self.random, rows));
        let mut labels = draw(self.random, width);
        labels[0] = -100;
        let labels = halite_tensor::HostTensor::from_ints(DType::S32, [2, 2], labels);
        let (ids, labels) = (self.b.constant(ids)?, self.b.constant(labels)?);
        let found = self.b.composite("embedding", &[], &[ids, table.value])?[0];
        let ty = self.b.ty(found).clone();
        self.pool.push(Known { value: found, ty, ..table });
        let results = self.b.composite("cross_entropy", &[], &[found, labels])?;
        let bound = 4.0 * (2.0 * table.bound + width as f64);
        self.keep_composite(results[0], bound, 8.0 * table.error)?;
        self.pool.push(Known { value: results[1], ty: self.b.ty(results[1]).clone(), bound: 4.0, error: 0.0 });
        Ok(())
    }
}
