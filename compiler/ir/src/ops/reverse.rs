//! `reverse`.

use super::movement::{increasing, offset, pick, require_increasing, same_rank_dims};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity};
use crate::shards::Linear;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor};
use smallvec::smallvec;

described! {
    /// A tensor backwards along some dimensions.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Reverse {
        /// The dimensions, increasing.
        pub dims: Dims,
    }
}

impl OpDef for Reverse {
    fn name(&self) -> &str {
        "reverse"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("dims", &mut self.dims);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("reverse", args)?;
        require_increasing("reverse", x, &self.dims)?;
        Ok(smallvec![x.clone()])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (shape, strides) = (args[0].shape(), args[0].shape().strides());
        let source = |index: &[usize]| {
            let mut index = Dims::from_slice(index);
            for &dim in &self.dims {
                index[dim] = shape[dim] - 1 - index[dim];
            }
            offset(&index, &strides)
        };
        Ok(vec![pick(args[0], shape, source)])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        Ok(Vjp::one(b.reverse(ct, &self.dims)?))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        same_rank_dims(args, results, |dim| self.dims.contains(&dim))
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::Jointly
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.reverse(args[0], &self.dims))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |dims: &[usize]| Reverse { dims: dims.into() };
        vec![
            Sample::new("last", op(&[1]), [SampleArg::uniform(float, [2, 3], -1.0, 1.0)]),
            Sample::new("two", op(&[0, 2]), [SampleArg::uniform(float, [2, 3, 4], -1.0, 1.0)]),
            Sample::new("integers", op(&[0]), [SampleArg::whole(DType::S32, [5], -9, 9)]),
        ]
    }
}

impl Builder<'_> {
    /// `x` backwards along `dims`, in any order.
    ///
    /// # Errors
    /// When a dimension is out of range or named twice.
    pub fn reverse(&mut self, x: Value, dims: &[usize]) -> Result<Value> {
        if dims.is_empty() {
            return Ok(x);
        }
        self.emit(Reverse { dims: increasing(dims) }, &[x])
    }
}
