//! `slice`.

use super::movement::{block_dims, common_block, offset, pick, require_each_dim};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error, require_dim};
use crate::ops::Pad;
use crate::shards::{Linear, Shards};
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, SliceDim};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// The part of a tensor at positions `start`, `start + stride`, .. below `limit` along each dimension.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Slice {
        /// First position.
        pub start: Dims,
        /// One past the last position that may be taken.
        pub limit: Dims,
        /// Distance between positions, at least 1.
        pub stride: Dims,
    }
}

impl Slice {
    fn range(&self, dim: usize) -> SliceDim {
        SliceDim { start: self.start[dim], limit: self.limit[dim], stride: self.stride[dim] }
    }
}

impl OpDef for Slice {
    fn name(&self) -> &str {
        "slice"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("start", &mut self.start);
        visitor.attr("limit", &mut self.limit);
        visitor.attr("stride", &mut self.stride);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("slice", args)?;
        for (name, list) in [("start", &self.start), ("limit", &self.limit), ("stride", &self.stride)] {
            require_each_dim("slice", name, x, list.len())?;
        }
        let mut shape = x.shape().clone();
        for (dim, size) in shape.iter_mut().enumerate() {
            let SliceDim { start, limit, stride } = self.range(dim);
            if stride == 0 || start > limit || limit > *size {
                let message = format!("`slice` {start}:{limit}:{stride} does not fit dimension {dim} of `{x}`");
                return Err(attr_error(message).help("it needs start <= limit <= size and a stride of at least 1"));
            }
            *size = (limit - start).div_ceil(stride);
        }
        Ok(smallvec![x.with_shape(shape)])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let strides = args[0].shape().strides();
        let first = offset(&self.start, &strides);
        let steps: Dims = self.stride.iter().zip(&strides).map(|(step, stride)| step * stride).collect();
        Ok(vec![pick(args[0], cx.result().shape(), |index| first + offset(index, &steps))])
    }

    /// Pads with zeros where nothing was taken.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, shape) = (present(cx.ct())?, b.shape(cx.args[0]).clone());
        let mut pad = Pad::none(shape.rank());
        for (dim, &taken) in b.shape(ct).iter().enumerate() {
            let covered = if taken == 0 { 0 } else { (taken - 1) * self.stride[dim] + 1 };
            pad.low[dim] = self.start[dim] as i64;
            pad.high[dim] = (shape[dim] - self.start[dim] - covered) as i64;
            pad.interior[dim] = self.stride[dim] - 1;
        }
        let zero = b.splat(b.dtype(ct), Shape::scalar(), 0.0)?;
        Ok(Vjp::one(b.emit(pad, &[ct, zero])?))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    /// Only what is taken is read.
    fn cost(&self, _: &InferCx<'_>, _: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, &[&results[0]], results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let unit = |dim: usize| {
            let block = common_block(&[self.start[dim], self.limit[dim], args[0].shape()[dim]]);
            if self.stride[dim] == 1 { block } else { 1 }
        };
        block_dims(args, results, |dim| (args[0].shape()[dim] != results[0].shape()[dim]).then(|| unit(dim)))
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::Jointly
    }

    /// Divides start and limit of each dimension by its number of shards: shards lie within blocks that are taken or left as wholes.
    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        let mut local = self.clone();
        for (dim, digits) in shards.operands[0].0.iter().enumerate() {
            let parts: usize = digits.iter().map(|digit| digit.size).product();
            local.start[dim] /= parts;
            local.limit[dim] /= parts;
        }
        Ok(Some(b.emit_all(local, args)?))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let ranges: Vec<_> = (0..self.start.len()).map(|dim| self.range(dim)).collect();
        cx.one(|hlo| hlo.slice(args[0], &ranges))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |start: &[usize], limit: &[usize], stride: &[usize]| Slice {
            start: start.into(),
            limit: limit.into(),
            stride: stride.into(),
        };
        let arg = || SampleArg::uniform(float, [4, 7], -1.0, 1.0);
        vec![
            Sample::new("range", op(&[1, 0], &[3, 7], &[1, 1]), [arg()]),
            Sample::new("strided", op(&[0, 1], &[4, 6], &[2, 3]), [arg()]),
            Sample::new("empty", op(&[2, 3], &[2, 7], &[1, 2]), [arg()]),
            Sample::new("integers", op(&[1], &[6], &[2]), [SampleArg::whole(DType::S32, [6], -9, 9)]),
        ]
    }
}

impl Builder<'_> {
    /// The part of `x` from `start` up to `limit`, one number for each dimension.
    ///
    /// # Errors
    /// When a range does not fit.
    pub fn slice(&mut self, x: Value, start: &[usize], limit: &[usize]) -> Result<Value> {
        let stride = Dims::from_elem(1, start.len());
        self.emit(Slice { start: start.into(), limit: limit.into(), stride }, &[x])
    }

    /// The part of `x` from `start` up to `limit` along one dimension; the whole is `x` itself.
    ///
    /// # Errors
    /// When the range does not fit.
    pub fn slice_dim(&mut self, x: Value, dim: usize, start: usize, limit: usize) -> Result<Value> {
        let ty = self.ty(x);
        require_dim("slice", ty, dim)?;
        if (start, limit) == (0, ty.shape()[dim]) {
            return Ok(x);
        }
        let mut limits = ty.shape().clone().into_dims();
        let mut starts = Dims::from_elem(0, limits.len());
        (starts[dim], limits[dim]) = (start, limit);
        self.slice(x, &starts, &limits)
    }
}
