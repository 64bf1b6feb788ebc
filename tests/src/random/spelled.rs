//! Composites, half of the time spelled out.

use super::Body;
use halite_ir::{Attr, Composite, Value};
use halite_support::Result;
use halite_tensor::HostTensor;

impl Body<'_, '_> {
    /// The first result of a composite, or of its decomposition in its place.
    pub(super) fn spelled(&mut self, name: &str, attrs: &[(&str, Attr)], args: &[Value]) -> Result<Value> {
        let composite = Composite::new(self.b.registry(), name, attrs)?;
        Ok(if self.random.coin() { self.b.expand(&composite, args)?[0] } else { self.b.emit(composite, args)? })
    }

    /// Rotary positions of `x[batch, seq, heads, 4]`, or the same by `rotate_half`.
    pub(super) fn rotated(&mut self, x: Value) -> Result<Value> {
        if self.random.coin() {
            return self.b.emit(Composite::new(self.b.registry(), "rope", &[])?, &[x]);
        }
        let (dtype, shape) = (self.b.dtype(x), self.b.shape(x).clone());
        let position = self.b.iota(dtype, [shape[1]], 0)?;
        let position = self.b.broadcast_in_dim(position, &[0], [shape[1], 2])?;
        let frequency = self.b.constant(HostTensor::from_f64s(dtype, [2], [1.0, 0.01]))?;
        let frequency = self.b.broadcast_in_dim(frequency, &[1], [shape[1], 2])?;
        let angle = self.b.multiply(position, frequency)?;
        let angle = self.b.concatenate(&[angle, angle], 1)?;
        let (cosine, sine) = (self.b.cosine(angle)?, self.b.sine(angle)?);
        let (first, second) = (self.b.slice_dim(x, 3, 0, 2)?, self.b.slice_dim(x, 3, 2, 4)?);
        let minus = self.b.negate(second)?;
        let turned = self.b.concatenate(&[minus, first], 3)?;
        let cosine = self.b.broadcast_in_dim(cosine, &[1, 3], shape.clone())?;
        let sine = self.b.broadcast_in_dim(sine, &[1, 3], shape)?;
        let (kept, turned) = (self.b.multiply(x, cosine)?, self.b.multiply(turned, sine)?);
        self.b.add(kept, turned)
    }
}
