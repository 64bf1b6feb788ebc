//! `reduce`.

use super::compare::Direction;
use super::maximum::maximum;
use super::minimum::minimum;
use super::movement::{increasing, require_increasing};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error};
use crate::ops::class::{Takes, require_elements};
use crate::reduction::Reduction;
use crate::shards::Linear;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, ReduceKind};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Indices, Shape};
use smallvec::smallvec;

impl Reduction {
    /// The precision that it asks for.
    pub(crate) fn policy(self) -> Policy {
        match self {
            Reduction::Sum | Reduction::Product => Policy::ACCUMULATE,
            Reduction::Max | Reduction::Min => Policy::EXACT,
            Reduction::And | Reduction::Or | Reduction::Xor => Policy::INTEGER,
        }
    }

    /// The same in HLO.
    pub fn hlo(self) -> ReduceKind {
        match self {
            Reduction::Sum => ReduceKind::Add,
            Reduction::Product => ReduceKind::Multiply,
            Reduction::Max => ReduceKind::Max,
            Reduction::Min => ReduceKind::Min,
            Reduction::And => ReduceKind::And,
            Reduction::Or => ReduceKind::Or,
            Reduction::Xor => ReduceKind::Xor,
        }
    }

    /// The element types that it takes.
    pub(crate) fn takes(self) -> Takes {
        match self {
            Reduction::Sum | Reduction::Product | Reduction::Max | Reduction::Min => Takes::Number,
            Reduction::And | Reduction::Or | Reduction::Xor => Takes::Logic,
        }
    }

    /// Combines two floats.
    ///
    /// # Panics
    /// For `and`, `or` and `xor`, which take no floats.
    pub(crate) fn combine_f64(self, x: f64, y: f64) -> f64 {
        match self {
            Reduction::Sum => x + y,
            Reduction::Product => x * y,
            Reduction::Max => maximum(x, y),
            Reduction::Min => minimum(x, y),
            Reduction::And | Reduction::Or | Reduction::Xor => {
                unreachable!("`infer` refuses bitwise reductions of floats")
            }
        }
    }

    /// Combines two integers, or truth values as 0 and 1.
    pub(crate) fn combine_int(self, x: i128, y: i128) -> i128 {
        match self {
            Reduction::Sum => x + y,
            Reduction::Product => x.wrapping_mul(y),
            Reduction::Max => x.max(y),
            Reduction::Min => x.min(y),
            Reduction::And => x & y,
            Reduction::Or => x | y,
            Reduction::Xor => x ^ y,
        }
    }

    /// The value that changes nothing.
    pub fn identity(self, dtype: DType) -> HostTensor {
        let (least, greatest) = dtype.int_range().unwrap_or_default();
        let int = |value| HostTensor::from_ints(dtype, Shape::scalar(), [value]);
        match self {
            Reduction::Max if dtype.is_float() => HostTensor::scalar(dtype, f64::NEG_INFINITY),
            Reduction::Min if dtype.is_float() => HostTensor::scalar(dtype, f64::INFINITY),
            Reduction::Max => int(least),
            Reduction::Min => int(greatest),
            Reduction::And => int(-1),
            Reduction::Product if dtype.is_float() => HostTensor::scalar(dtype, 1.0),
            Reduction::Product => int(1),
            Reduction::Sum | Reduction::Or | Reduction::Xor => int(0),
        }
    }
}

described! {
    /// Combines all elements along some dimensions, which the result lacks; the order is unspecified.
    ///
    /// Sums and products of floats are made at the precision of `accumulate`, which may be wider than the operand and is the result's
    /// element type. Everything else keeps the operand's element type.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct Reduce {
        /// How elements combine.
        pub kind: Reduction,
        /// The dimensions reduced over, increasing.
        pub dims: Dims,
        /// Element type of the result.
        pub accumulate: DType,
    }
}

impl Default for Reduce {
    fn default() -> Self {
        Self { kind: Reduction::Sum, dims: Dims::new(), accumulate: DType::F32 }
    }
}

impl Reduce {
    fn kept(&self, rank: usize) -> Dims {
        (0..rank).filter(|dim| !self.dims.contains(dim)).collect()
    }

    fn check_accumulate(&self, x: &TensorType) -> Result<()> {
        let wider = self.accumulate.is_float() && self.accumulate.size() > x.dtype().size();
        let of_floats = self.kind.is_arithmetic() && x.dtype().is_float();
        if self.accumulate == x.dtype() || (of_floats && wider) {
            return Ok(());
        }
        let (kind, accumulate) = (self.kind.word(), self.accumulate);
        let help = if of_floats { " or a wider float" } else { "" };
        Err(attr_error(format!("`reduce` to the {kind} of `{x}` cannot accumulate in `{accumulate}`"))
            .help(format!("use `{}`{help}", x.dtype())))
    }

    /// For each element of the result the elements of `x` that combine to it.
    fn groups<T: Copy>(&self, shape: &Shape, elements: &[T]) -> Vec<Vec<T>> {
        let kept = self.kept(shape.rank());
        let result: Shape = kept.iter().map(|&dim| shape[dim]).collect();
        let strides = result.strides();
        let mut groups = vec![Vec::new(); result.num_elements()];
        for (index, &element) in Indices::new(shape).zip(elements) {
            let at: usize = kept.iter().zip(&strides).map(|(&dim, stride)| index[dim] * stride).sum();
            groups[at].push(element);
        }
        groups
    }

    /// The share of the cotangent that goes to each element that equals the extreme `y`: ties share evenly, and where
    /// the extreme is NaN so is the gradient.
    fn extreme_vjp(&self, b: &mut Builder<'_>, x: Value, y: Value, ct: Value) -> Result<Value> {
        let extreme = b.broadcast_missing(y, x, &self.dims)?;
        let holds = b.compare(x, extreme, Direction::Eq)?;
        let holds = b.convert(holds, b.dtype(x))?;
        let ties = b.reduce_sum(holds, &self.dims)?;
        let share = b.divide(ct, ties)?;
        let share = b.broadcast_missing(share, x, &self.dims)?;
        b.multiply(share, holds)
    }
}

impl Reduce {
    /// The cotangent times the product of all other elements, which no division gives where one is zero: that of those before times that
    /// of those after.
    fn product_vjp(&self, b: &mut Builder<'_>, x: Value, ct: Value) -> Result<Value> {
        let (dtype, kept) = (b.dtype(x), self.kept(b.shape(x).rank()));
        let order: Dims = kept.iter().chain(&self.dims).copied().collect();
        let mut back = order.clone();
        order.iter().enumerate().for_each(|(at, &from)| back[from] = at);
        let wide = b.convert(x, self.accumulate)?;
        let last = b.transpose(wide, &order)?;
        let shape = b.shape(last).clone();
        let (outer, inner) = shape.split_at(kept.len());
        let size: usize = inner.iter().product();
        let flat: Shape = outer.iter().copied().chain([size]).collect();
        let flat = b.reshape(last, flat)?;
        let (before, after) = (others_before(b, flat, 1)?, others_before(b, flat, -1)?);
        let others = b.multiply(before, after)?;
        let others = b.reshape(others, shape)?;
        let others = b.transpose(others, &back)?;
        let ct = b.broadcast_missing(ct, others, &self.dims)?;
        let ct = b.multiply(ct, others)?;
        b.convert(ct, dtype)
    }
}

/// The product of the elements before each along the last dimension, or with -1 after it: they reach twice as far each time.
fn others_before(b: &mut Builder<'_>, x: Value, sign: i64) -> Result<Value> {
    let last = b.shape(x).rank() - 1;
    let size = b.shape(x)[last];
    let mut products = b.pad_dim(x, last, sign, -sign, 1.0)?;
    let mut reach = 1;
    while reach < size {
        let by = sign * reach as i64;
        let moved = b.pad_dim(products, last, by, -by, 1.0)?;
        products = b.multiply(products, moved)?;
        reach *= 2;
    }
    Ok(products)
}

impl OpDef for Reduce {
    fn name(&self) -> &str {
        "reduce"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("kind", &mut self.kind);
        visitor.attr("dims", &mut self.dims);
        visitor.attr("accumulate", &mut self.accumulate);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("reduce", args)?;
        require_elements("reduce", self.kind.takes(), x)?;
        self.check_accumulate(x)?;
        require_increasing("reduce", x, &self.dims)?;
        let shape: Shape = self.kept(x.rank()).iter().map(|&dim| x.shape()[dim]).collect();
        Ok(smallvec![x.with_shape(shape).with_dtype(self.accumulate)])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, dtype, shape) = (args[0], self.accumulate, cx.result().shape().clone());
        let identity = self.kind.identity(dtype);
        Ok(vec![if dtype.is_float() {
            let start = identity.f64s()[0];
            let combine = |group: Vec<f64>| group.into_iter().fold(start, |x, y| self.kind.combine_f64(x, y));
            HostTensor::from_f64s(dtype, shape, self.groups(x.shape(), &x.f64s()).into_iter().map(combine))
        } else {
            let start = identity.ints()[0];
            let combine = |group: Vec<i128>| group.into_iter().fold(start, |x, y| self.kind.combine_int(x, y));
            HostTensor::from_ints(dtype, shape, self.groups(x.shape(), &x.ints()).into_iter().map(combine))
        }])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x, y) = (present(cx.ct())?, cx.args[0], cx.results[0]);
        match self.kind {
            Reduction::Sum => {
                let ct = b.convert(ct, b.dtype(x))?;
                Ok(Vjp::one(b.broadcast_missing(ct, x, &self.dims)?))
            }
            Reduction::Max | Reduction::Min => Ok(Vjp::one(self.extreme_vjp(b, x, y, ct)?)),
            Reduction::Product => Ok(Vjp::one(self.product_vjp(b, x, ct)?)),
            Reduction::And | Reduction::Or | Reduction::Xor => Ok(Vjp::none("bits have no derivative")),
        }
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        self.kind.policy()
    }

    /// One operation for each element of the operand.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::over_operand(args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        let mut next = 0..;
        // Ranks sum and find extremes; what they would have to multiply, each has whole.
        let over_ranks = Some(self.kind).filter(|kind| !matches!(kind, Reduction::Product | Reduction::Xor));
        for (dim, &size) in args[0].shape().iter().enumerate() {
            if self.dims.contains(&dim) {
                map.link(size, FactorKind::Contracted(over_ranks), &[(0, dim)], None);
            } else {
                map.link(size, FactorKind::Parallel, &[(0, dim)], next.next());
            }
        }
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        if self.kind == Reduction::Sum { Linear::Jointly } else { Linear::No }
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let mut x = args[0];
        if cx.hlo.array(x)?.dtype != self.accumulate {
            x = cx.hlo.convert(x, self.accumulate)?;
        }
        let init = cx.hlo.constant(&self.kind.identity(self.accumulate))?;
        cx.one(|hlo| hlo.reduce(self.kind.hlo(), x, init, &self.dims))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let wide = if float == DType::F64 { DType::F64 } else { DType::F32 };
        let op = |kind, dims: &[usize], accumulate| Reduce { kind, dims: dims.into(), accumulate };
        let signed = || SampleArg::whole(DType::S32, [3, 4], -99, 99);
        let flags = || SampleArg::whole(DType::Pred, [4, 2], 0, 1);
        let holes = [0.5, 0.0, 2.0, -1.0, 0.0, 0.0, 3.0, 1.0];
        let tied = [0.5, 2.0, 2.0, -1.0];
        vec![
            Sample::new("sum", op(Reduction::Sum, &[1], wide), [SampleArg::uniform(float, [3, 4], -1.0, 1.0)])
                .ulps(8.0),
            Sample::new("total", op(Reduction::Sum, &[0, 1], wide), [SampleArg::uniform(float, [3, 4], -1.0, 1.0)])
                .ulps(8.0),
            Sample::new("max", op(Reduction::Max, &[1], float), [SampleArg::uniform(float, [3, 4], -1.0, 1.0)]),
            Sample::new("min", op(Reduction::Min, &[0, 2], float), [SampleArg::uniform(float, [3, 4, 2], -1.0, 1.0)]),
            Sample::new("max ties", op(Reduction::Max, &[0], float), [SampleArg::listed(float, [4, 2], &tied)]),
            Sample::new(
                "max nan",
                op(Reduction::Max, &[0], float),
                [SampleArg::listed(float, [3], &[1.0, f64::NAN, 2.0])],
            ),
            Sample::new("max of nothing", op(Reduction::Max, &[0], float), [SampleArg::listed(float, [0, 2], &[])]),
            Sample::new("integer sum", op(Reduction::Sum, &[0], DType::S32), [signed()]),
            Sample::new("integer min", op(Reduction::Min, &[1], DType::S32), [signed()]),
            Sample::new("and", op(Reduction::And, &[1], DType::Pred), [flags()]),
            Sample::new("or", op(Reduction::Or, &[1], DType::Pred), [flags()]),
            Sample::new("xor", op(Reduction::Xor, &[0], DType::S32), [signed()]),
            Sample::new(
                "product",
                op(Reduction::Product, &[0, 2], wide),
                [SampleArg::uniform(float, [3, 2, 2], 0.5, 2.0)],
            )
            .ulps(8.0),
            Sample::new(
                "product with zeros",
                op(Reduction::Product, &[0], wide),
                [SampleArg::listed(float, [4, 2], &holes)],
            ),
            Sample::new("integer product", op(Reduction::Product, &[1], DType::S32), [signed()]),
            Sample::new("bits", op(Reduction::And, &[0], DType::S32), [signed()]),
        ]
    }
}

impl Builder<'_> {
    /// Combines elements along `dims`, in any order, keeping the element type of `x`. Without dimensions this is `x`.
    /// Sums and products of floats narrower than `f32` are made in `f32` and rounded once.
    ///
    /// # Errors
    /// When a dimension is out of range or named twice, or `x` is of the wrong element type.
    pub fn reduce(&mut self, kind: Reduction, x: Value, dims: &[usize]) -> Result<Value> {
        if dims.is_empty() {
            return Ok(x);
        }
        let dtype = self.dtype(x);
        let narrow = dtype.is_narrow() && kind.is_arithmetic();
        let accumulate = if narrow { DType::F32 } else { dtype };
        let result = self.emit(Reduce { kind, dims: increasing(dims), accumulate }, &[x])?;
        if narrow { self.convert(result, dtype) } else { Ok(result) }
    }

    /// Sums along `dims`, as [`reduce`](Self::reduce).
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub fn reduce_sum(&mut self, x: Value, dims: &[usize]) -> Result<Value> {
        self.reduce(Reduction::Sum, x, dims)
    }

    /// The largest elements along `dims`.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub fn reduce_max(&mut self, x: Value, dims: &[usize]) -> Result<Value> {
        self.reduce(Reduction::Max, x, dims)
    }

    /// The smallest elements along `dims`.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub fn reduce_min(&mut self, x: Value, dims: &[usize]) -> Result<Value> {
        self.reduce(Reduction::Min, x, dims)
    }
}
