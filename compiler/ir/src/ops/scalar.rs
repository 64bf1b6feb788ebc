//! Element-wise arithmetic between a tensor and a literal number.

use crate::build::Builder;
use crate::syntax::Value;
use halite_support::Result;

impl Builder<'_> {
    /// `x + number`, the number rounded to the element type of `x`.
    ///
    /// # Errors
    /// When `x` is not a number.
    pub fn add_scalar(&mut self, x: Value, number: f64) -> Result<Value> {
        let number = self.splat_like(x, number)?;
        self.add(x, number)
    }

    /// `number - x`, the number rounded to the element type of `x`.
    ///
    /// # Errors
    /// When `x` is not a number.
    pub fn subtract_from(&mut self, number: f64, x: Value) -> Result<Value> {
        let number = self.splat_like(x, number)?;
        self.subtract(number, x)
    }

    /// `x * number`, the number rounded to the element type of `x`.
    ///
    /// # Errors
    /// When `x` is not a number.
    pub fn multiply_scalar(&mut self, x: Value, number: f64) -> Result<Value> {
        let number = self.splat_like(x, number)?;
        self.multiply(x, number)
    }
}
