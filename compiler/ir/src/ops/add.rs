//! `add`.

use super::class::{Takes, zip_numbers};
use super::elementwise::{Elementwise, Hlo};
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::shards::Linear;
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise sum of two tensors of one type; integers wrap.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Add;
}

impl Elementwise for Add {
    const NAME: &'static str = "add";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Add);
    const TAKES: Option<Takes> = Some(Takes::Number);
    const POLICY: Policy = Policy::ELEMENTWISE;

    const LINEAR: Linear = Linear::Jointly;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_numbers(cx, args, |x, y| x + y, |x, y| x + y)
    }

    fn vjp(_: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        Ok(Vjp::of([Some(ct), Some(ct)]))
    }

    fn samples(float: DType) -> Vec<Sample> {
        let floats = [SampleArg::uniform(float, [2, 3], -2.0, 2.0), SampleArg::uniform(float, [2, 3], -2.0, 2.0)];
        let extreme = [i64::from(i32::MIN) as f64, i64::from(i32::MAX) as f64];
        let ints = [SampleArg::listed(DType::S32, [2], &extreme), SampleArg::whole(DType::S32, [2], 1, 9)];
        vec![Sample::new("float", Add, floats), Sample::new("wrapping", Add, ints)]
    }
}

impl Builder<'_> {
    /// Element-wise sum.
    ///
    /// # Errors
    /// When the types differ.
    pub fn add(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Add, &[x, y])
    }
}
