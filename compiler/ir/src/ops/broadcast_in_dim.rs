//! `broadcast_in_dim`.

use crate::attr::{AttrVisitor, ResultSlot};
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error, require_dim, shape_error};
use crate::shards::Shards;
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Indices, Shape};
use smallvec::smallvec;

described! {
    /// Repeats a tensor along new dimensions. Dimension `i` of the operand becomes dimension `dims[i]` of the result and has
    /// its size there; `dims` increases strictly.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct BroadcastInDim {
        /// Where each operand dimension goes.
        pub dims: Dims,
        /// The shape of the result.
        pub shape: Shape,
    }
}

impl OpDef for BroadcastInDim {
    fn name(&self) -> &str {
        "broadcast_in_dim"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.result(0, ResultSlot::Shape(&mut self.shape));
        visitor.attr("dims", &mut self.dims);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("broadcast_in_dim", args)?;
        let result = x.with_shape(self.shape.clone());
        if self.dims.len() != x.rank() || self.dims.windows(2).any(|pair| pair[0] >= pair[1]) {
            let found = &self.dims;
            return Err(attr_error(format!(
                "`broadcast_in_dim` of `{x}` needs one increasing dimension for each of its own, found {found:?}"
            )));
        }
        for (&size, &dim) in x.shape().iter().zip(&self.dims) {
            require_dim("broadcast_in_dim", &result, dim)?;
            if size != self.shape[dim] {
                let target = self.shape[dim];
                return Err(shape_error(format!("`broadcast_in_dim` puts a dimension of size {size} of `{x}` at dimension {dim} of `{result}`, which has size {target}"))
                    .help("drop a dimension of size 1 with `reshape` first"));
            }
        }
        Ok(smallvec![result])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, strides, size) = (args[0], args[0].shape().strides(), args[0].dtype().size());
        let mut bytes = Vec::with_capacity(self.shape.num_elements() * size);
        for index in Indices::new(&self.shape) {
            let offset: usize = self.dims.iter().zip(&strides).map(|(&dim, stride)| index[dim] * stride).sum();
            bytes.extend_from_slice(&x.bytes()[offset * size..][..size]);
        }
        let result = HostTensor::from_bytes(cx.result().dtype(), self.shape.clone(), bytes);
        Ok(vec![result.expect("one element for each position")])
    }

    /// Sums over the new dimensions.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let new: Dims = (0..self.shape.rank()).filter(|dim| !self.dims.contains(dim)).collect();
        Ok(Vjp::one(if new.is_empty() { ct } else { b.reduce_sum(ct, &new)? }))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        for (dim, &size) in self.shape.iter().enumerate() {
            let source = self.dims.iter().position(|&to| to == dim);
            let operands: Vec<_> = source.map(|from| (0, from)).into_iter().collect();
            map.link(size, FactorKind::Parallel, &operands, Some(dim));
        }
        map
    }

    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        Ok(Some(b.emit_all(BroadcastInDim { shape: shards.shape(), ..self.clone() }, args)?))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.broadcast(args[0], &self.shape, &self.dims))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |dims: &[usize], shape: &[usize]| BroadcastInDim { dims: dims.into(), shape: shape.into() };
        vec![
            Sample::new("scalar", op(&[], &[2, 3]), [SampleArg::uniform(float, [], -1.0, 1.0)]),
            Sample::new("rows", op(&[1], &[2, 3]), [SampleArg::uniform(float, [3], -1.0, 1.0)]),
            Sample::new("middle", op(&[0, 2], &[2, 4, 3]), [SampleArg::uniform(float, [2, 3], -1.0, 1.0)]),
            Sample::new("integers", op(&[0], &[3, 2]), [SampleArg::whole(DType::S32, [3], -9, 9)]),
        ]
    }
}

impl Builder<'_> {
    /// Repeats `x`: its dimension `i` becomes dimension `dims[i]` of `shape`.
    ///
    /// # Errors
    /// When the sizes do not fit.
    pub fn broadcast_in_dim(&mut self, x: Value, dims: &[usize], shape: impl Into<Shape>) -> Result<Value> {
        let shape = shape.into();
        if dims.len() == shape.rank() && self.shape(x) == &shape {
            return Ok(x);
        }
        self.emit(BroadcastInDim { dims: dims.into(), shape }, &[x])
    }

    /// Repeats `x`, which has the dimensions of `like` except `dims`, to the shape of `like`.
    ///
    /// # Errors
    /// When the other sizes differ.
    pub fn broadcast_missing(&mut self, x: Value, like: Value, dims: &[usize]) -> Result<Value> {
        let shape = self.shape(like).clone();
        let present: Dims = (0..shape.rank()).filter(|dim| !dims.contains(dim)).collect();
        self.broadcast_in_dim(x, &present, shape)
    }
}
