//! `multiply`.

use super::class::{Takes, zip_numbers};
use super::elementwise::{Elementwise, Hlo};
use super::special::{INTS, int_pairs, per_type, smooth_and_special, subnormal_products};
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::shards::Linear;
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise product of two tensors of one type; integers wrap.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Multiply;
}

impl Elementwise for Multiply {
    const NAME: &'static str = "multiply";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Multiply);
    const TAKES: Option<Takes> = Some(Takes::Number);
    const POLICY: Policy = Policy::ELEMENTWISE;

    const LINEAR: Linear = Linear::Each;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_numbers(cx, args, |x, y| x * y, |x, y| x.wrapping_mul(y))
    }

    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let (x, y) = (cx.args[0], cx.args[1]);
        let dx = cx.want(0, || b.multiply(ct, y))?;
        let dy = cx.want(1, || b.multiply(ct, x))?;
        Ok(Vjp::of([dx, dy]))
    }

    fn samples(float: DType) -> Vec<Sample> {
        let subnormal = Sample::new("subnormal", Multiply, subnormal_products(float));
        [
            smooth_and_special(Multiply, float, [(-2.0, 2.0), (-2.0, 2.0)], 0.0),
            vec![subnormal],
            per_type(Multiply, &INTS, int_pairs),
        ]
        .concat()
    }
}

impl Builder<'_> {
    /// Element-wise product.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn multiply(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Multiply, &[x, y])
    }
}
