//! `rsqrt`.

use super::class::map_f64;
use super::elementwise::{Elementwise, Hlo};
use super::special::smooth_and_special;
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise reciprocal square root of a float: infinite at zero, with its sign, NaN below.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Rsqrt;
}

impl Elementwise for Rsqrt {
    const NAME: &'static str = "rsqrt";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Rsqrt);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], |x| x.sqrt().recip())
    }

    /// `-ct / 2 * y^3`: needs the result only; infinite at zero and zero at infinity, never NaN for a finite cotangent.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let square = b.multiply(y, y)?;
        let cube = b.multiply(square, y)?;
        let slope = b.multiply_scalar(cube, -0.5)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Rsqrt, float, [(0.2, 3.0)], 4.0)
    }
}

impl Builder<'_> {
    /// Element-wise `1 / sqrt(x)`.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn rsqrt(&mut self, x: Value) -> Result<Value> {
        self.emit(Rsqrt, &[x])
    }
}
