//! `reduce_window`.

use super::class::require_elements;
use super::movement::require_countable;
use super::sliding::{Sliding, backwards, each_dim_mixed, small_numbers};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx, array_type};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error};
use crate::ops::{Pad, SelectAndScatter};
use crate::reduction::Reduction;
use crate::shards::Linear;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{ArrayType, Id, WindowDim};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Indices, Shape};
use smallvec::smallvec;

described! {
    /// Combines the elements of each window of a tensor, padding left out; the order is unspecified. Lists have a number for
    /// each dimension.
    ///
    /// Sums and products of floats are made at the precision of `accumulate`, which may be wider than the operand and is the result's
    /// element type. Everything else keeps the operand's element type.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct ReduceWindow {
        /// How elements combine.
        pub kind: Reduction,
        /// Elements of a window.
        pub window: Dims,
        /// Distance of windows.
        pub strides: Box<[usize]>,
        /// Positions before the first element, after dilation; negative removes.
        pub low: Vec<i64>,
        /// Positions after the last element; negative removes.
        pub high: Vec<i64>,
        /// Distance of elements of the operand.
        pub base_dilation: Box<[usize]>,
        /// Distance of elements of a window.
        pub window_dilation: Box<[usize]>,
        /// Element type of the result.
        pub accumulate: DType,
    }
}

impl Default for ReduceWindow {
    fn default() -> Self {
        Self::plain(Reduction::Sum, &[], DType::F32)
    }
}

impl ReduceWindow {
    /// Every window of these sizes.
    pub fn plain(kind: Reduction, window: &[usize], accumulate: DType) -> Self {
        let ones = Dims::from_elem(1, window.len());
        Self {
            kind,
            window: window.into(),
            strides: ones[..].into(),
            low: vec![0; window.len()],
            high: vec![0; window.len()],
            base_dilation: ones[..].into(),
            window_dilation: ones[..].into(),
            accumulate,
        }
    }

    fn check_lengths(&self) -> Result<()> {
        let rank = self.window.len();
        let lists =
            [self.strides.len(), self.low.len(), self.high.len(), self.base_dilation.len(), self.window_dilation.len()];
        if lists.iter().any(|&len| len != rank) {
            return Err(attr_error(format!("`reduce_window` needs lists of one length, found {rank} and {lists:?}")));
        }
        let sizes: [&[usize]; 4] = [&self.window, &self.strides, &self.base_dilation, &self.window_dilation];
        small_numbers("reduce_window", &sizes, &[&self.low, &self.high])
    }

    fn windows(&self) -> Vec<WindowDim> {
        let dim = |at: usize| WindowDim {
            size: self.window[at],
            stride: self.strides[at],
            low: self.low[at],
            high: self.high[at],
            base_dilation: self.base_dilation[at],
            window_dilation: self.window_dilation[at],
            reversed: false,
        };
        (0..self.window.len()).map(dim).collect()
    }

    /// Adds up the cotangents of the windows that an element is in: windows over the cotangent, dilated by the strides.
    fn sum_vjp(&self, b: &mut Builder<'_>, x: Value, ct: Value) -> Result<Value> {
        let (shape, results) = (b.shape(x).clone(), b.shape(ct).clone());
        let rank = self.window.len();
        let mut pad = Pad::none(rank);
        for (dim, window) in self.windows().iter().enumerate() {
            (pad.low[dim], pad.high[dim]) = backwards(window, shape[dim], results[dim]);
            pad.interior[dim] = window.stride - 1;
        }
        let zero = b.splat(b.dtype(ct), Shape::scalar(), 0.0)?;
        let padded = b.emit(pad, &[ct, zero])?;
        let op = Self {
            strides: self.base_dilation[..].into(),
            window_dilation: self.window_dilation.clone(),
            accumulate: b.dtype(ct),
            ..Self::plain(self.kind, &self.window, self.accumulate)
        };
        b.emit(op, &[padded])
    }
}

impl OpDef for ReduceWindow {
    fn name(&self) -> &str {
        "reduce_window"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("kind", &mut self.kind);
        visitor.attr("window", &mut self.window);
        visitor.attr("strides", &mut self.strides);
        visitor.attr("low", &mut self.low);
        visitor.attr("high", &mut self.high);
        visitor.attr("base_dilation", &mut self.base_dilation);
        visitor.attr("window_dilation", &mut self.window_dilation);
        visitor.attr("accumulate", &mut self.accumulate);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("reduce_window", args)?;
        require_elements("reduce_window", self.kind.takes(), x)?;
        let widens = self.kind.is_arithmetic() && x.dtype().is_float() && self.accumulate.is_float();
        if self.accumulate != x.dtype() && !(widens && self.accumulate.size() >= x.dtype().size()) {
            return Err(attr_error(format!("`reduce_window` of `{x}` cannot give `{}`", self.accumulate)));
        }
        self.check_lengths()?;
        let init = ArrayType::scalar(x.dtype());
        let result = halite_hlo::infer::reduce_window(&array_type(x), &init, &self.windows())?;
        Ok(smallvec![require_countable("reduce_window", self.accumulate, result.shape)?])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, result) = (args[0], cx.result());
        let (windows, identity) = (self.windows(), self.kind.identity(self.accumulate));
        let sliding = Sliding::new(&windows, x.shape());
        let shape = result.shape().clone();
        let indices = Indices::new(result.shape());
        Ok(vec![if x.dtype().is_float() {
            let (xs, start) = (x.f64s(), identity.f64s()[0]);
            let combine =
                |index: Dims| sliding.offsets(&index).fold(start, |sum, at| self.kind.combine_f64(sum, xs[at]));
            HostTensor::from_f64s(self.accumulate, shape, indices.map(combine))
        } else {
            let (xs, start) = (x.ints(), identity.ints()[0]);
            let combine =
                |index: Dims| sliding.offsets(&index).fold(start, |sum, at| self.kind.combine_int(sum, xs[at]));
            HostTensor::from_ints(self.accumulate, shape, indices.map(combine))
        }])
    }

    /// The cotangent of an extreme goes to the first element that is one.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        if b.shape(ct).num_elements() == 0 || b.shape(x).num_elements() == 0 {
            return Ok(Vjp::one(b.splat_like(x, 0.0)?));
        }
        match self.kind {
            Reduction::Sum => {
                let ct = b.convert(ct, b.dtype(x))?;
                Ok(Vjp::one(self.sum_vjp(b, x, ct)?))
            }
            Reduction::Max | Reduction::Min => {
                let dilates = self.base_dilation.iter().chain(&self.window_dilation).any(|&dilation| dilation > 1);
                let removes = self.low.iter().chain(&self.high).any(|&padding| padding < 0);
                if dilates || removes {
                    return Ok(Vjp::none("extremes of windows that are dilated or leave out elements have no rule"));
                }
                let op = SelectAndScatter {
                    kind: self.kind,
                    window: self.window.clone(),
                    strides: self.strides[..].into(),
                    low: self.low.clone(),
                    high: self.high.clone(),
                };
                Ok(Vjp::one(b.emit(op, &[x, ct])?))
            }
            Reduction::Product => Ok(Vjp::none("products of windows have no rule")),
            Reduction::And | Reduction::Or | Reduction::Xor => Ok(Vjp::none("bits have no derivative")),
        }
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        self.kind.policy()
    }

    /// One operation for each element of each window.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        let elements = results[0].shape().iter().chain(&self.window).map(|&size| size as u64);
        let flops = if args[0].dtype().is_float() { elements.fold(1, u64::saturating_mul) } else { 0 };
        Cost::new(flops, args, results)
    }

    /// Along dimensions of windows of one element positions correspond; along others windows may be anywhere.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        each_dim_mixed(args, results, &self.windows())
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
        cx.one(|hlo| hlo.reduce_window(self.kind.hlo(), x, init, &self.windows()))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let wide = if float == DType::F64 { DType::F64 } else { DType::F32 };
        let x = |shape: &[usize]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let plain = ReduceWindow::plain;
        let strided = |kind, dtype| ReduceWindow {
            strides: [1, 2].into(),
            low: vec![0, 1],
            high: vec![1, 1],
            ..plain(kind, &[2, 3], dtype)
        };
        let dilated = ReduceWindow {
            strides: [1, 2].into(),
            low: vec![-1, 2],
            high: vec![2, 0],
            base_dilation: [2, 1].into(),
            window_dilation: [1, 2].into(),
            ..plain(Reduction::Sum, &[2, 2], wide)
        };
        let ints = SampleArg::whole(DType::S32, [7], -9, 9);
        let flags = SampleArg::whole(DType::Pred, [6], 0, 1);
        vec![
            Sample::new("sum", strided(Reduction::Sum, wide), [x(&[3, 6])]).ulps(8.0),
            Sample::new("dilated", dilated, [x(&[3, 5])]).ulps(8.0),
            Sample::new("along one", plain(Reduction::Sum, &[1, 3], wide), [x(&[4, 4])]).ulps(8.0),
            Sample::new("max", strided(Reduction::Max, float), [x(&[3, 6])]),
            Sample::new("min", strided(Reduction::Min, float), [x(&[3, 6])]),
            Sample::new("product", plain(Reduction::Product, &[2, 1], wide), [x(&[3, 4])]).ulps(8.0),
            Sample::new("integers", plain(Reduction::Max, &[3], DType::S32), [ints]),
            Sample::new("flags", plain(Reduction::And, &[2], DType::Pred), [flags]),
        ]
    }
}
