//! `is_finite`.

use super::class::map_f64;
use super::elementwise::{Elementwise, Hlo};
use super::special::reals;
use crate::build::Builder;
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise: whether a float is neither infinite nor NaN, as `pred`.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct IsFinite;
}

impl Elementwise for IsFinite {
    const NAME: &'static str = "is_finite";
    const HLO: Hlo = Hlo::Unary(UnaryOp::IsFinite);
    const POLICY: Policy = Policy::EXACT;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], |x| f64::from(u8::from(x.is_finite())))
    }

    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("the result is a predicate"))
    }

    fn samples(float: DType) -> Vec<Sample> {
        vec![Sample::new("special", IsFinite, [reals(float)])]
    }
}

impl Builder<'_> {
    /// Element-wise: neither infinite nor NaN.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn is_finite(&mut self, x: Value) -> Result<Value> {
        self.emit(IsFinite, &[x])
    }
}
