//! Element-wise moves.

use super::{Body, Known};
use halite_ir::ops::Direction;
use halite_ir::{Op, Value};
use halite_support::Result;
use halite_tensor::DType;
use halite_test_kit::numeric::uniform;

/// A smooth function: its op, a bound of its values and one of its slope, for operands up to a bound.
type Smooth = (fn() -> Op, fn(f64) -> f64, fn(f64) -> f64);

const SMOOTH: &[Smooth] = &[
    (|| halite_ir::ops::Tanh.into(), |_| 1.0, |_| 1.0),
    (|| halite_ir::ops::Logistic.into(), |_| 1.0, |_| 1.0),
    (|| halite_ir::ops::Sine.into(), |_| 1.0, |_| 1.0),
    (|| halite_ir::ops::Cosine.into(), |_| 1.0, |_| 1.0),
    (|| halite_ir::ops::Erf.into(), |_| 1.0, |_| 1.2),
    (|| halite_ir::ops::Negate.into(), |x| x, |_| 1.0),
];

/// Units of roundoff that CPU XLA's functions may be off, of the largest value.
const FUNCTION_UNITS: f64 = 32.0;

impl Body<'_, '_> {
    fn unit(&self, known: &Known) -> f64 {
        known.ty.dtype().unit_roundoff()
    }

    pub(super) fn unary(&mut self) -> Result<()> {
        let Some(x) = self.pick_float() else { return Ok(()) };
        match self.random.below(SMOOTH.len() + 3) {
            // exp(tanh(x))
            0 => {
                let tame = self.b.tanh(x.value)?;
                let value = self.b.exponential(tame)?;
                let error = 3.0 * (x.error + FUNCTION_UNITS * self.unit(&x)) + 3.0 * FUNCTION_UNITS * self.unit(&x);
                self.keep(value, 3.0, error)
            }
            // sqrt(x^2 + 1), or its reciprocal
            choice @ (1 | 2) => {
                let square = self.b.multiply(x.value, x.value)?;
                let positive = self.b.add_scalar(square, 1.0)?;
                let value = if choice == 1 { self.b.sqrt(positive)? } else { self.b.rsqrt(positive)? };
                let bound = x.bound + 1.0;
                self.keep(value, bound, x.error + FUNCTION_UNITS * self.unit(&x) * bound * bound)
            }
            choice => {
                let (op, bound, slope) = SMOOTH[choice - 3];
                let exact = choice - 3 == SMOOTH.len() - 1;
                let value = self.b.emit(op(), &[x.value])?;
                let rounding = if exact { 0.0 } else { FUNCTION_UNITS * self.unit(&x) };
                self.keep(value, bound(x.bound), x.error * slope(x.bound) + rounding)
            }
        }
    }

    /// Two values of one type.
    fn pair(&mut self, suits: impl Fn(&Known) -> bool) -> Option<(Known, Known)> {
        let x = self.pick(suits)?;
        let y = self.pick(|known| known.ty == x.ty)?;
        Some((x, y))
    }

    pub(super) fn binary(&mut self) -> Result<()> {
        let Some((x, y)) = self.pair(|known| known.ty.dtype().is_float()) else { return Ok(()) };
        let unit = self.unit(&x);
        match self.random.below(4) {
            0 => {
                let value = self.b.add(x.value, y.value)?;
                let bound = x.bound + y.bound;
                self.keep(value, bound, x.error + y.error + 2.0 * unit * bound)
            }
            1 => {
                let value = self.b.subtract(x.value, y.value)?;
                let bound = x.bound + y.bound;
                self.keep(value, bound, x.error + y.error + 2.0 * unit * bound)
            }
            2 => {
                let value = self.b.multiply(x.value, y.value)?;
                let bound = x.bound * y.bound;
                let error = x.error * y.bound + y.error * (x.bound + x.error) + 2.0 * unit * bound;
                self.keep(value, bound, error)
            }
            // x / (y^2 + 1)
            _ => {
                let square = self.b.multiply(y.value, y.value)?;
                let positive = self.b.add_scalar(square, 1.0)?;
                let value = self.b.divide(x.value, positive)?;
                let error = x.error + x.bound * (y.error + 8.0 * unit * (1.0 + y.bound * y.bound));
                self.keep(value, x.bound, error)
            }
        }
    }

    pub(super) fn with_constant(&mut self) -> Result<()> {
        let Some(x) = self.pick_float() else { return Ok(()) };
        let number = [0.5, -2.0, 0.1, 3.0][self.random.below(4)];
        let unit = self.unit(&x);
        if self.random.below(2) == 0 {
            let value = self.b.multiply_scalar(x.value, number)?;
            let bound = x.bound * number.abs();
            self.keep(value, bound, x.error * number.abs() + 2.0 * unit * bound)
        } else {
            let value = self.b.add_scalar(x.value, number)?;
            let bound = x.bound + number.abs();
            self.keep(value, bound, x.error + 2.0 * unit * bound)
        }
    }

    /// Adds an operation that a simplifier may remove, or a similar one that it must leave.
    pub(super) fn neutral(&mut self) -> Result<()> {
        let Some(x) = self.pick_float() else { return Ok(()) };
        let value = match self.random.below(6) {
            0 => self.b.multiply_scalar(x.value, 1.0)?,
            1 => self.b.add_scalar(x.value, 0.0)?,
            2 => self.b.add_scalar(x.value, -0.0)?,
            3 => {
                let negated = self.b.negate(x.value)?;
                self.b.negate(negated)?
            }
            4 => {
                let one = self.b.splat_like(x.value, 1.0)?;
                self.b.divide(x.value, one)?
            }
            _ => {
                let zero = self.b.splat_like(x.value, 0.0)?;
                self.b.subtract(x.value, zero)?
            }
        };
        self.keep(value, x.bound, x.error)
    }

    /// A constant, and something known at compile time.
    pub(super) fn constant(&mut self) -> Result<()> {
        let Some(x) = self.pick_float() else { return Ok(()) };
        let seed = self.random.bits();
        let tensor = uniform(x.ty.dtype(), x.ty.shape().clone(), -1.0, 1.0, seed);
        let constant = self.b.constant(tensor)?;
        let value = self.b.negate(constant)?;
        self.keep(value, 1.0, 0.0)
    }

    /// Continuous functions with kinks.
    pub(super) fn kinked(&mut self) -> Result<()> {
        if self.options.smooth {
            return Ok(());
        }
        let Some((x, y)) = self.pair(|known| known.ty.dtype().is_float()) else { return Ok(()) };
        let (bound, error) = (x.bound.max(y.bound), x.error.max(y.error));
        match self.random.below(4) {
            0 => {
                let value = self.b.abs(x.value)?;
                self.keep(value, x.bound, x.error)
            }
            1 => {
                let value = self.b.maximum(x.value, y.value)?;
                self.keep(value, bound, error)
            }
            2 => {
                let value = self.b.minimum(x.value, y.value)?;
                self.keep(value, bound, error)
            }
            _ => {
                let (low, high) = (self.b.splat_like(x.value, -0.5)?, self.b.splat_like(x.value, 0.75)?);
                let value = self.b.clamp(low, x.value, high)?;
                self.keep(value, x.bound.min(0.75), x.error)
            }
        }
    }

    /// An instruction that is there already.
    pub(super) fn repeated(&mut self) -> Result<()> {
        let Some(known) = self.pick(|_| true) else { return Ok(()) };
        let Some(inst) = self.b.function().def(known.value).cloned() else { return Ok(()) };
        let results = self.b.emit_all(inst.op, &inst.args)?;
        let at = inst.results.iter().position(|&result| result == known.value).unwrap_or_default();
        self.pool.push(Known { value: results[at], ..known });
        Ok(())
    }

    /// One of two values by a comparison of exact ones.
    pub(super) fn chosen(&mut self) -> Result<()> {
        let Some((x, y)) = self.pair(|known| known.ty.dtype().is_float()) else { return Ok(()) };
        let Some(mask) = self.mask(&x)? else { return Ok(()) };
        let value = self.b.select(mask, x.value, y.value)?;
        self.keep(value, x.bound.max(y.bound), x.error.max(y.error))
    }

    /// A truth value for each element of `like`.
    fn mask(&mut self, like: &Known) -> Result<Option<Value>> {
        let shape = like.ty.shape().clone();
        let weights_move = self.options.smooth;
        let exact = |known: &Known| {
            known.error == 0.0 && known.ty.shape() == &shape && !(weights_move && known.ty.dtype().is_float())
        };
        if let Some((x, y)) = self.pair(exact) {
            if x.ty.dtype() == DType::Pred {
                return Ok(Some(self.b.xor(x.value, y.value)?));
            }
            let directions = [Direction::Lt, Direction::Ge, Direction::Eq, Direction::Ne];
            let direction = directions[self.random.below(directions.len())];
            return self.b.compare(x.value, y.value, direction).map(Some);
        }
        if shape.is_empty() {
            return Ok(None);
        }
        let counted = self.b.iota(DType::S32, shape.clone(), shape.len() - 1)?;
        let limit = self.b.splat(DType::S32, shape, 1.0)?;
        self.b.compare(counted, limit, Direction::Ge).map(Some)
    }
}
