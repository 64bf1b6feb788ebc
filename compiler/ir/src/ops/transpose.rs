//! `transpose`.

use super::movement::{offset, pick, require_each_dim};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error, require_dim};
use crate::shards::Linear;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// Reorders dimensions: dimension `i` of the result is dimension `permutation[i]` of the operand.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Transpose {
        /// The operand dimension that each result dimension shows.
        pub permutation: Dims,
    }
}

impl Transpose {
    fn inverse(&self) -> Dims {
        let mut inverse = self.permutation.clone();
        for (to, &from) in self.permutation.iter().enumerate() {
            inverse[from] = to;
        }
        inverse
    }
}

impl OpDef for Transpose {
    fn name(&self) -> &str {
        "transpose"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("permutation", &mut self.permutation);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("transpose", args)?;
        require_each_dim("transpose", "permutation", x, self.permutation.len())?;
        for (position, &dim) in self.permutation.iter().enumerate() {
            require_dim("transpose", x, dim)?;
            if self.permutation[..position].contains(&dim) {
                return Err(attr_error(format!("`transpose` names dimension {dim} of `{x}` twice")));
            }
        }
        let shape: Shape = self.permutation.iter().map(|&dim| x.shape()[dim]).collect();
        Ok(smallvec![x.with_shape(shape)])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let strides = args[0].shape().strides();
        let strides: Dims = self.permutation.iter().map(|&dim| strides[dim]).collect();
        Ok(vec![pick(args[0], cx.result().shape(), |index| offset(index, &strides))])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        Ok(Vjp::one(b.transpose(ct, &self.inverse())?))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        for (to, &from) in self.permutation.iter().enumerate() {
            map.link(args[0].shape()[from], FactorKind::Parallel, &[(0, from)], Some(to));
        }
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::Jointly
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.transpose(args[0], &self.permutation))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |permutation: &[usize]| Transpose { permutation: permutation.into() };
        vec![
            Sample::new("matrix", op(&[1, 0]), [SampleArg::uniform(float, [2, 3], -1.0, 1.0)]),
            Sample::new("heads", op(&[0, 2, 1, 3]), [SampleArg::uniform(float, [2, 3, 4, 5], -1.0, 1.0)]),
            Sample::new("cycle", op(&[2, 0, 1]), [SampleArg::uniform(float, [2, 3, 4], -1.0, 1.0)]),
            Sample::new("integers", op(&[1, 0]), [SampleArg::whole(DType::S32, [2, 3], -9, 9)]),
        ]
    }
}

impl Builder<'_> {
    /// Reorders dimensions: dimension `i` of the result is dimension `permutation[i]` of `x`.
    ///
    /// # Errors
    /// When `permutation` does not name each dimension once.
    pub fn transpose(&mut self, x: Value, permutation: &[usize]) -> Result<Value> {
        if permutation.iter().copied().eq(0..self.shape(x).rank()) {
            return Ok(x);
        }
        self.emit(Transpose { permutation: permutation.into() }, &[x])
    }
}
