//! `pad`.

use super::movement::{block_dims, common_block, offset, place, require_countable, require_each_dim};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, dtype_error, require_dim, shape_error};
use crate::ops::Slice;
use crate::shards::Shards;
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, PadDim};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// Puts a scalar, the second operand, around and between the elements of a tensor. Negative padding removes elements,
    /// after the interior is in place.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Pad {
        /// Elements before the first along each dimension; negative removes.
        pub low: Vec<i64>,
        /// Elements after the last; negative removes.
        pub high: Vec<i64>,
        /// Elements between neighbours.
        pub interior: Dims,
    }
}

impl Pad {
    /// No padding of `rank` dimensions.
    pub fn none(rank: usize) -> Self {
        Self { low: vec![0; rank], high: vec![0; rank], interior: Dims::from_elem(0, rank) }
    }

    fn touches(&self, dim: usize) -> bool {
        (self.low[dim], self.high[dim], self.interior[dim]) != (0, 0, 0)
    }

    /// The position along `dim` to which position `at` of the operand moves, if it is kept.
    fn target(&self, dim: usize, at: usize, size: usize) -> Option<usize> {
        let to = i128::from(self.low[dim]) + at as i128 * (self.interior[dim] as i128 + 1);
        usize::try_from(to).ok().filter(|&to| to < size)
    }
}

impl OpDef for Pad {
    fn name(&self) -> &str {
        "pad"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("low", &mut self.low);
        visitor.attr("high", &mut self.high);
        visitor.attr("interior", &mut self.interior);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x, value] = arity("pad", args)?;
        if value.rank() != 0 || value.dtype() != x.dtype() {
            return Err(dtype_error("pad", &format!("a scalar of type `{}` to pad with", x.dtype()), value));
        }
        let lengths = [("low", self.low.len()), ("high", self.high.len()), ("interior", self.interior.len())];
        for (name, len) in lengths {
            require_each_dim("pad", name, x, len)?;
        }
        let mut shape = x.shape().clone();
        for (dim, size) in shape.iter_mut().enumerate() {
            let gaps = (*size as i128 - 1).max(0) * self.interior[dim] as i128;
            let padded = *size as i128 + gaps + i128::from(self.low[dim]) + i128::from(self.high[dim]);
            *size = usize::try_from(padded)
                .map_err(|_| shape_error(format!("`pad` gives dimension {dim} of `{x}` the size {padded}")))?;
        }
        Ok(smallvec![require_countable("pad", x.dtype(), shape)?])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, value, shape) = (args[0], args[1], cx.result().shape());
        let filled = value.bytes().repeat(shape.num_elements());
        let filled = HostTensor::from_bytes(x.dtype(), shape.clone(), filled).expect("one element for each position");
        let strides = shape.strides();
        let target = |index: &[usize]| {
            let at = |(dim, &at): (usize, &usize)| self.target(dim, at, shape[dim]);
            let index: Option<Dims> = index.iter().enumerate().map(at).collect();
            index.map(|index| offset(&index, &strides))
        };
        Ok(vec![place(&filled, x, target)])
    }

    /// The operand's cotangent is what stands at its places: removed elements get zero. The scalar gets the sum of the
    /// rest.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, shape) = (present(cx.ct())?, b.shape(cx.args[0]).clone());
        let kept = if cx.wanted[0] { Some(self.operand_vjp(b, ct, &shape)?) } else { None };
        let fill = if cx.wanted[1] { Some(self.value_vjp(b, ct, &shape)?) } else { None };
        Ok(Vjp::of([kept, fill]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let unit = |dim: usize| {
            let [low, high] = [self.low[dim], self.high[dim]].map(usize::try_from);
            match (low, high, self.interior[dim]) {
                (Ok(low), Ok(high), 0) => common_block(&[low, high, args[0].shape()[dim]]),
                _ => 1,
            }
        };
        block_dims(args, results, |dim| self.touches(dim).then(|| unit(dim)))
    }

    /// Divides the padding of each dimension by its number of shards: shards lie within blocks whose size divides the padding.
    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        let mut local = self.clone();
        for (dim, digits) in shards.operands[0].0.iter().enumerate() {
            let parts: i64 = digits.iter().map(|digit| digit.size as i64).product();
            local.low[dim] /= parts;
            local.high[dim] /= parts;
        }
        Ok(Some(b.emit_all(local, args)?))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let dim = |dim| PadDim { low: self.low[dim], high: self.high[dim], interior: self.interior[dim] };
        let padding: Vec<_> = (0..self.low.len()).map(dim).collect();
        cx.one(|hlo| hlo.pad(args[0], args[1], &padding))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |low: &[i64], high: &[i64], interior: &[usize]| Pad {
            low: low.into(),
            high: high.into(),
            interior: interior.into(),
        };
        let args = || [SampleArg::uniform(float, [3, 4], -1.0, 1.0), SampleArg::uniform(float, [], -1.0, 1.0)];
        let ints = [SampleArg::whole(DType::S32, [4], -9, 9), SampleArg::whole(DType::S32, [], -9, 9)];
        vec![
            Sample::new("edges", op(&[1, 0], &[2, 1], &[0, 0]), args()),
            Sample::new("interior", op(&[0, 1], &[0, 0], &[2, 1]), args()),
            Sample::new("negative", op(&[-1, 2], &[1, -3], &[0, 0]), args()),
            Sample::new("negative interior", op(&[-1, -2], &[0, -1], &[1, 2]), args()),
            Sample::new("integers", op(&[2], &[-1], &[1]), ints),
        ]
    }
}

impl Pad {
    /// Takes the kept positions and puts zeros where elements were removed. Padding back by the opposite amounts undoes
    /// `low` and `high`; a strided slice then drops the interior.
    fn operand_vjp(&self, b: &mut Builder<'_>, ct: Value, shape: &Shape) -> Result<Value> {
        let low = self.low.iter().map(|low| -low).collect();
        let high = self.high.iter().map(|high| -high).collect();
        let zero = b.splat(b.dtype(ct), Shape::scalar(), 0.0)?;
        let undo = Pad { low, high, interior: Dims::from_elem(0, shape.rank()) };
        let spread = b.emit(undo, &[ct, zero])?;
        if self.interior.iter().all(|&gap| gap == 0) {
            return Ok(spread);
        }
        let (start, limit) = (Dims::from_elem(0, shape.rank()), b.shape(spread).clone().into_dims());
        let stride = self.interior.iter().map(|gap| gap + 1).collect();
        b.emit(Slice { start, limit, stride }, &[spread])
    }

    /// Sums the cotangent where the scalar stands: all of it with zeros where elements of the operand stand.
    fn value_vjp(&self, b: &mut Builder<'_>, ct: Value, shape: &Shape) -> Result<Value> {
        let (rank, dtype) = (shape.rank(), b.dtype(ct));
        let elements = b.splat(DType::Pred, shape.clone(), 0.0)?;
        let filled = b.splat(DType::Pred, Shape::scalar(), 1.0)?;
        let is_fill = b.emit(self.clone(), &[elements, filled])?;
        let zeros = b.splat(dtype, b.shape(ct).clone(), 0.0)?;
        let fills = b.select(is_fill, ct, zeros)?;
        b.reduce_sum(fills, &(0..rank).collect::<Dims>())
    }
}

impl Builder<'_> {
    /// Zeros, or another `value`, before and after the elements of `x` along one dimension.
    ///
    /// # Errors
    /// When `dim` is out of range or more is removed than there is.
    pub fn pad_dim(&mut self, x: Value, dim: usize, low: i64, high: i64, value: f64) -> Result<Value> {
        require_dim("pad", self.ty(x), dim)?;
        let mut pad = Pad::none(self.shape(x).rank());
        (pad.low[dim], pad.high[dim]) = (low, high);
        let value = self.splat(self.dtype(x), Shape::scalar(), value)?;
        self.emit(pad, &[x, value])
    }
}
