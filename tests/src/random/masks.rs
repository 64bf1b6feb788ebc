//! Choices by position, as attention makes them: causal masks in several spellings, and masks that only look like them.

use super::Body;
use halite_ir::Value;
use halite_ir::ops::Direction;
use halite_support::Result;
use halite_tensor::{DType, Shape};

/// The value at keys that a query does not see.
const FILL: f64 = -2.0;

impl Body<'_, '_> {
    /// A float over as many keys as queries, masked.
    pub(super) fn masked(&mut self) -> Result<()> {
        let Some(x) = self.pick_ranked(1) else { return Ok(()) };
        let last = x.ty.shape()[x.ty.rank() - 1];
        let (value, shape) = match *x.ty.shape().as_ref() {
            [.., queries, keys] if queries == keys => (x.value, x.ty.shape().clone()),
            _ if x.ty.rank() == 1 => {
                let square = Shape::from([last, last]);
                (self.b.broadcast_in_dim(x.value, &[1], square.clone())?, square)
            }
            _ => return Ok(()),
        };
        let seen = self.seen(&shape)?;
        let value = if self.random.coin() {
            let fill = self.b.splat_like(value, FILL)?;
            self.b.select(seen, value, fill)?
        } else {
            let ones = self.b.convert(seen, x.ty.dtype())?;
            self.b.multiply(value, ones)?
        };
        self.keep(value, x.bound.max(-FILL), x.error)
    }

    /// The keys (last dimension) that a query (the one before) sees: those up to its own position, more often than not.
    fn seen(&mut self, shape: &Shape) -> Result<Value> {
        let rank = shape.rank();
        let query = self.b.iota(DType::S32, shape.clone(), rank - 2)?;
        let key = self.b.iota(DType::S32, shape.clone(), rank - 1)?;
        match self.random.below(6) {
            0 => {
                let hidden = self.b.compare(key, query, Direction::Gt)?;
                self.b.not(hidden)
            }
            1 => {
                let next = self.b.add_scalar(query, 1.0)?;
                self.b.compare(key, next, Direction::Lt)
            }
            2 => {
                let distance = self.b.subtract(query, key)?;
                let limit = self.b.splat_like(distance, self.random.below(2) as f64)?;
                self.b.compare(distance, limit, Direction::Ge)
            }
            3 => {
                let seen = self.b.compare(key, query, Direction::Le)?;
                let width = self.b.add_scalar(key, 2.0)?;
                let near = self.b.compare(width, query, Direction::Gt)?;
                self.b.and(seen, near)
            }
            4 => self.b.compare(query, key, Direction::Lt),
            _ => self.b.compare(query, key, Direction::Ge),
        }
    }
}
