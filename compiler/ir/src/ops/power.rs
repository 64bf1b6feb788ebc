//! `power`.

use super::Direction;
use super::class::zip_numbers;
use super::elementwise::{Elementwise, Hlo};
use super::special::{combine, smooth_and_special};
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise `x^y` of two tensors of one type. Floats follow IEEE 754 `pow`: anything to the power of zero is 1, one
    /// to any power is 1, a negative `x` with a fractional `y` is NaN. Integers wrap; a negative exponent gives 1 / x^-y
    /// truncated toward zero, which is unspecified at `x = 0`.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Power;
}

impl Elementwise for Power {
    const NAME: &'static str = "power";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Power);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_numbers(cx, args, f64::powf, power)
    }

    /// `ct * y * x^(y - 1)`, zero where `y = 0`, and `ct * z * ln x`, zero where `x = 0`. The guards keep 0 * infinity
    /// out.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let (x, y, z) = (cx.args[0], cx.args[1], cx.results[0]);
        let dx = cx.want(0, || {
            let slope = base_slope(b, x, y)?;
            b.multiply(ct, slope)
        })?;
        let dy = cx.want(1, || {
            let slope = exponent_slope(b, x, z)?;
            b.multiply(ct, slope)
        })?;
        Ok(Vjp::of([dx, dy]))
    }

    fn samples(float: DType) -> Vec<Sample> {
        let wrapping = combine(DType::S32, &[-3.0, -1.0, 0.0, 1.0, 2.0, 7.0, 10.0], &[0.0, 1.0, 2.0, 5.0, 9.0, 31.0]);
        let inverse = combine(DType::S32, &[-3.0, -1.0, 1.0, 2.0, 5.0], &[-1.0, -2.0, -3.0, -40.0]);
        let unsigned = combine(DType::U8, &[0.0, 1.0, 2.0, 3.0, 255.0], &[0.0, 1.0, 5.0, 8.0]);
        let mut samples = smooth_and_special(Power, float, [(0.3, 2.0), (-2.0, 2.0)], 4.0);
        samples.extend([
            Sample::new("wrapping", Power, wrapping),
            Sample::new("negative exponents", Power, inverse),
            Sample::new("unsigned", Power, unsigned),
        ]);
        samples
    }
}

/// `y * x^(y - 1)`, zero where `y = 0`.
fn base_slope(b: &mut Builder<'_>, x: Value, y: Value) -> Result<Value> {
    let (zero, one) = (b.splat_like(y, 0.0)?, b.splat_like(y, 1.0)?);
    let flat = b.compare(y, zero, Direction::Eq)?;
    let lower = b.subtract(y, one)?;
    let lower = b.select(flat, one, lower)?;
    let power = b.power(x, lower)?;
    let slope = b.multiply(y, power)?;
    b.select(flat, zero, slope)
}

/// `z * ln x`, zero where `x = 0`.
fn exponent_slope(b: &mut Builder<'_>, x: Value, z: Value) -> Result<Value> {
    let (zero, one) = (b.splat_like(x, 0.0)?, b.splat_like(x, 1.0)?);
    let origin = b.compare(x, zero, Direction::Eq)?;
    let base = b.select(origin, one, x)?;
    let log = b.log(base)?;
    let slope = b.multiply(z, log)?;
    b.select(origin, zero, slope)
}

/// `x^y` modulo a power of two that is at least 2^64.
fn power(x: i128, y: i128) -> i128 {
    match (x, y) {
        (1, _) => 1,
        (-1, _) => 1 - 2 * (y & 1),
        (_, ..0) => 0,
        _ => wrapping_power(x, y),
    }
}

/// By squaring; `y` is not negative.
fn wrapping_power(mut x: i128, mut y: i128) -> i128 {
    let mut result = 1i128;
    while y > 0 {
        if y % 2 == 1 {
            result = result.wrapping_mul(x);
        }
        x = x.wrapping_mul(x);
        y /= 2;
    }
    result
}

impl Builder<'_> {
    /// Element-wise `x^y`.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn power(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Power, &[x, y])
    }
}
