//! `tanh`.

use super::class::map_f64;
use super::elementwise::{Elementwise, Hlo};
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise hyperbolic tangent of a float; the result has the operand's type.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Tanh;
}

impl Elementwise for Tanh {
    const NAME: &'static str = "tanh";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Tanh);
    const POLICY: Policy = Policy::ELEMENTWISE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::tanh)
    }

    /// `ct * (1 - y * y)`: needs the result only.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let one = b.splat_like(y, 1.0)?;
        let square = b.multiply(y, y)?;
        let slope = b.subtract(one, square)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        vec![
            Sample::new("smooth", Tanh, [SampleArg::uniform(float, [3, 5], -3.0, 3.0)]).ulps(8.0),
            Sample::new("special", Tanh, [SampleArg::listed(float, [4], &[0.0, -0.0, 20.0, -1e-5])]).ulps(8.0),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise hyperbolic tangent.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn tanh(&mut self, x: Value) -> Result<Value> {
        self.emit(Tanh, &[x])
    }
}
