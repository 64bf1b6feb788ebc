//! `cbrt`.

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
    /// Element-wise cube root of a float, negative for negative numbers.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Cbrt;
}

impl Elementwise for Cbrt {
    const NAME: &'static str = "cbrt";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Cbrt);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::cbrt)
    }

    /// `ct / (3 * y * y)`: needs the result only; infinite at zero.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let square = b.multiply(y, y)?;
        let slope = b.multiply_scalar(square, 3.0)?;
        Ok(Vjp::one(b.divide(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Cbrt, float, [(0.2, 3.0)], 4.0)
    }
}

impl Builder<'_> {
    /// Element-wise cube root.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn cbrt(&mut self, x: Value) -> Result<Value> {
        self.emit(Cbrt, &[x])
    }
}
