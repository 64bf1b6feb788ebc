//! `convert`.

use super::special::{ints, reals};
use crate::attr::{AttrVisitor, ResultSlot};
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity};
use crate::policy::loses;
use crate::shards::Linear;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;
use std::cmp::Ordering;

described! {
    /// The same numbers in another element type.
    ///
    /// - To a float: rounded once, to nearest even.
    /// - From a float to an integer: truncated toward zero; unspecified for numbers out of range, infinities and NaN.
    /// - Between integers: wrapped to the width of the result.
    /// - To `pred`: whether the number is not zero; NaN is not. From `pred`: 0 or 1.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct Convert {
        /// Element type of the result.
        pub dtype: DType,
    }
}

impl Default for Convert {
    fn default() -> Self {
        Self { dtype: DType::F32 }
    }
}

impl OpDef for Convert {
    fn name(&self) -> &str {
        "convert"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.result(0, ResultSlot::DType(&mut self.dtype));
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("convert", args)?;
        Ok(smallvec![x.with_dtype(self.dtype)])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, shape) = (args[0], args[0].shape().clone());
        Ok(vec![match (x.dtype().is_float(), self.dtype) {
            (true, _) => HostTensor::from_f64s(self.dtype, shape, x.f64s()),
            (false, DType::Bf16 | DType::F16 | DType::F32) => {
                HostTensor::from_f64s(self.dtype, shape, x.ints().into_iter().map(to_odd))
            }
            (false, _) => HostTensor::from_ints(self.dtype, shape, x.ints()),
        }])
    }

    /// The cotangent converted back; zero for operands that are not floats.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, from) = (present(cx.ct())?, b.dtype(cx.args[0]));
        if !self.dtype.is_float() {
            return Ok(Vjp::none("the result is not a float"));
        }
        if !from.is_float() {
            return Ok(Vjp::zeros(1));
        }
        Ok(Vjp::one(b.convert(ct, from)?))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    /// Linear where nothing is rounded.
    fn linear(&self, args: &[TensorType], _: &[TensorType]) -> Linear {
        let from = args[0].dtype();
        let exact = from.is_float() && self.dtype.is_float() && !loses(from, self.dtype);
        if exact { Linear::Jointly } else { Linear::No }
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.convert(args[0], self.dtype))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let to = |label, dtype: DType, x: SampleArg| Sample::new(label, Convert { dtype }, [x]);
        let wide = SampleArg::listed(DType::S64, [4], &[1.0, -16_777_217.0, 16_777_219.0, 9_007_199_254_740_992.0]);
        let truncated = SampleArg::listed(float, [6], &[-2.75, -0.5, 0.0, 0.9, 1.5, 100.0]);
        let mut samples = vec![
            to("itself", float, SampleArg::uniform(float, [2, 3], -2.0, 2.0)),
            to("truncated", DType::S32, truncated.clone()),
            to("truncated narrow", DType::S8, truncated),
            to("unsigned", DType::U32, SampleArg::uniform(float, [5], 0.0, 200.0)),
            to("from integers", float, SampleArg::whole(DType::S32, [5], -100, 100)),
            to("rounded once", float, wide),
            to("from pred", float, SampleArg::whole(DType::Pred, [4], 0, 1)),
            to("to pred", DType::Pred, reals(float)),
            to("wrapped", DType::S8, ints(DType::S64)),
            to("sign extended", DType::U64, ints(DType::S8)),
        ];
        let floats = [DType::Bf16, DType::F16, DType::F32, DType::F64].into_iter().filter(|&dtype| dtype != float);
        samples.extend(floats.map(|dtype| to(dtype.name(), dtype, SampleArg::uniform(float, [4, 5], -2.0, 2.0))));
        samples
    }
}

/// The integer as an `f64` that rounds to a narrower float as the integer itself would: where it does not fit, the
/// neighbor whose last bit is set.
fn to_odd(x: i128) -> f64 {
    let nearest = x as f64;
    let other = match (nearest as i128).cmp(&x) {
        Ordering::Equal => return nearest,
        Ordering::Less => nearest.next_up(),
        Ordering::Greater => nearest.next_down(),
    };
    if nearest.to_bits() & 1 == 1 { nearest } else { other }
}

impl Builder<'_> {
    /// `x` in another element type; `x` itself when it has it already.
    ///
    /// # Errors
    /// Never.
    pub fn convert(&mut self, x: Value, dtype: DType) -> Result<Value> {
        if self.dtype(x) == dtype { Ok(x) } else { self.emit(Convert { dtype }, &[x]) }
    }
}
