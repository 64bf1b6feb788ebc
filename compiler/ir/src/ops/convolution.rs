//! `convolution`.

use super::movement::require_countable;
use super::sliding::{self, small_numbers};
use crate::attr::{Attr, AttrVisitor};
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx, array_type};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error, dtype_error};
use crate::ops::Reverse;
use crate::reduction::Reduction;
use crate::shards::Linear;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{ConvDims, Id, PadDim, WindowDim};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Indices, Shape};
use smallvec::smallvec;

described! {
    /// Sums of products of a kernel, the second operand, with the windows of a tensor: what neural networks call convolution.
    ///
    /// Products are summed at the precision of `accumulate`, which is also the result's element type; the order of the sum is
    /// unspecified. Lists of dimensions have batch and features first, those of the kernel output and input features, then the
    /// spatial dimensions, to which the other lists belong.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct Convolution {
        /// The dimensions of the first operand: batch, features, spatial ones.
        pub input: Box<[usize]>,
        /// The dimensions of the kernel: output features, input features of a group, spatial ones.
        pub kernel: Box<[usize]>,
        /// The dimensions of the result: batch, features, spatial ones.
        pub output: Box<[usize]>,
        /// Distance of windows along each spatial dimension.
        pub strides: Box<[usize]>,
        /// Zeros before the first element, after dilation; negative removes.
        pub low: Box<[i64]>,
        /// Zeros after the last element; negative removes.
        pub high: Box<[i64]>,
        /// Distance of elements of the first operand; zeros are in between.
        pub input_dilation: Box<[usize]>,
        /// Distance of elements of the kernel; zeros are in between.
        pub kernel_dilation: Box<[usize]>,
        /// Number of groups of features, each with its own part of the kernel's output features.
        pub feature_groups: usize,
        /// Number of groups of the batch, each with its own part of the kernel's output features.
        pub batch_groups: usize,
        /// Element type of the sums and of the result; at least as wide as the operands'.
        pub accumulate: DType,
    }
}

impl Default for Convolution {
    fn default() -> Self {
        Self::plain(0, DType::F32)
    }
}

impl Convolution {
    /// Every window of a tensor of `spatial` dimensions after batch and features, by a kernel with output features first.
    pub fn plain(spatial: usize, accumulate: DType) -> Self {
        let dims: Box<[usize]> = (0..spatial + 2).collect();
        let ones: Box<[usize]> = vec![1; spatial].into();
        Self {
            input: dims.clone(),
            kernel: dims.clone(),
            output: dims,
            strides: ones.clone(),
            low: vec![0; spatial].into(),
            high: vec![0; spatial].into(),
            input_dilation: ones.clone(),
            kernel_dilation: ones,
            feature_groups: 1,
            batch_groups: 1,
            accumulate,
        }
    }

    fn spatial(&self) -> usize {
        self.strides.len()
    }

    fn hlo_dims(&self) -> ConvDims {
        ConvDims { input: self.input[..].into(), kernel: self.kernel[..].into(), output: self.output[..].into() }
    }

    /// The windows along spatial dimensions over a kernel of this shape.
    fn window(&self, kernel: &Shape) -> Vec<WindowDim> {
        let dim = |at: usize| WindowDim {
            size: kernel.get(self.kernel[at + 2]).copied().unwrap_or_default(),
            stride: self.strides[at],
            low: self.low[at],
            high: self.high[at],
            base_dilation: self.input_dilation[at],
            window_dilation: self.kernel_dilation[at],
            reversed: false,
        };
        (0..self.spatial()).map(dim).collect()
    }

    /// For each spatial dimension its padding (or strides, ..) has a number, and so have the lists of dimensions.
    fn check_lengths(&self) -> Result<()> {
        let spatial = self.spatial();
        let lists = [
            ("input", self.input.len(), spatial + 2),
            ("kernel", self.kernel.len(), spatial + 2),
            ("output", self.output.len(), spatial + 2),
            ("low", self.low.len(), spatial),
            ("high", self.high.len(), spatial),
            ("input_dilation", self.input_dilation.len(), spatial),
            ("kernel_dilation", self.kernel_dilation.len(), spatial),
        ];
        match lists.iter().find(|(_, found, expected)| found != expected) {
            Some((name, found, expected)) => Err(attr_error(format!(
                "`{name}` of a `convolution` over {spatial} dimensions needs {expected} numbers, found {found}"
            ))),
            None => small_numbers(
                "convolution",
                &[&self.strides, &self.input_dilation, &self.kernel_dilation],
                &[&self.low, &self.high],
            ),
        }
    }

    /// The cotangent of the first operand: the cotangent, dilated by the strides, under the kernel backwards.
    fn input_vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>, ct: Value) -> Result<Value> {
        let (x, mut kernel) = (b.ty(cx.args[0]).clone(), cx.args[1]);
        let (sizes, results) = (b.shape(kernel).clone(), b.shape(ct).clone());
        let groups = self.feature_groups.max(self.batch_groups);
        if groups > 1 {
            kernel = move_groups(b, kernel, (self.kernel[0], self.kernel[1]), groups)?;
        }
        let mut dims = Dims::from_slice(&self.kernel[2..]);
        dims.sort_unstable();
        let backwards = if dims.is_empty() { kernel } else { b.emit(Reverse { dims }, &[kernel])? };
        let mut op = Self { feature_groups: groups, batch_groups: 1, ..self.clone() };
        (op.input, op.output) = (self.output.clone(), self.input.clone());
        op.kernel.swap(0, 1);
        (op.strides, op.input_dilation) = (self.input_dilation.clone(), self.strides.clone());
        for (at, window) in self.window(&sizes).iter().enumerate() {
            let (whole, result) = (x.shape()[self.input[at + 2]], results[self.output[at + 2]]);
            (op.low[at], op.high[at]) = sliding::backwards(window, whole, result);
        }
        let mut value = b.emit(op, &[ct, backwards])?;
        if self.batch_groups > 1 {
            value = move_groups(b, value, (self.input[1], self.input[0]), groups)?;
        }
        b.convert(value, x.dtype())
    }

    /// The cotangent of the kernel: the operand under the cotangent, dilated by the strides. Features of the operand are the batch here.
    fn kernel_vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>, ct: Value) -> Result<Value> {
        let (x, kernel) = (b.shape(cx.args[0]).clone(), b.ty(cx.args[1]).clone());
        let results = b.shape(ct).clone();
        let mut op = self.clone();
        (op.feature_groups, op.batch_groups) = (self.batch_groups, self.feature_groups);
        op.input.swap(0, 1);
        op.kernel = self.output.clone();
        op.kernel.swap(0, 1);
        op.output = self.kernel.clone();
        op.output.swap(0, 1);
        (op.strides, op.kernel_dilation) = (self.kernel_dilation.clone(), self.strides.clone());
        for at in 0..self.spatial() {
            let window = sliding::dilated(kernel.shape()[self.kernel[at + 2]], self.kernel_dilation[at]);
            let whole = sliding::dilated(x[self.input[at + 2]], self.input_dilation[at]);
            let result = sliding::dilated(results[self.output[at + 2]], self.strides[at]);
            op.high[at] = result - whole + window - self.low[at] - 1;
        }
        let value = b.emit(op, &[cx.args[0], ct])?;
        b.convert(value, kernel.dtype())
    }
}

/// Takes `groups` out of a dimension, of which they are the major part, and makes them the major part of another.
fn move_groups(b: &mut Builder<'_>, x: Value, (from, to): (usize, usize), groups: usize) -> Result<Value> {
    let shape = b.shape(x).clone();
    let own = [groups, shape[from] / groups];
    let split: Shape = shape[..from].iter().copied().chain(own).chain(shape[from + 1..].iter().copied()).collect();
    let mut permutation: Dims = (0..split.rank()).filter(|&dim| dim != from).collect();
    permutation.insert(to, from);
    let mut merged = shape.into_dims();
    merged[from] /= groups;
    merged[to] *= groups;
    let x = b.reshape(x, split)?;
    let x = b.transpose(x, &permutation)?;
    b.reshape(x, merged)
}

impl OpDef for Convolution {
    fn name(&self) -> &str {
        "convolution"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("input", &mut self.input);
        visitor.attr("kernel", &mut self.kernel);
        visitor.attr("output", &mut self.output);
        visitor.attr("strides", &mut self.strides);
        visitor.attr("low", &mut self.low);
        visitor.attr("high", &mut self.high);
        visitor.attr("input_dilation", &mut self.input_dilation);
        visitor.attr("kernel_dilation", &mut self.kernel_dilation);
        visitor.refinement("feature_groups", &mut self.feature_groups, &Attr::Int(1));
        visitor.refinement("batch_groups", &mut self.batch_groups, &Attr::Int(1));
        visitor.attr("accumulate", &mut self.accumulate);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x, kernel] = arity("convolution", args)?;
        if !x.dtype().is_float() || !self.accumulate.is_float() {
            return Err(dtype_error("convolution", "floats", x));
        }
        self.check_lengths()?;
        let groups = (self.feature_groups, self.batch_groups);
        let window = self.window(kernel.shape());
        let [of_x, of_kernel] = [x, kernel].map(array_type);
        let result =
            halite_hlo::infer::convolution(&of_x, &of_kernel, &self.hlo_dims(), &window, groups, self.accumulate)?;
        Ok(smallvec![require_countable("convolution", self.accumulate, result.shape)?])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, kernel, result) = (args[0], args[1], cx.result().shape());
        let (xs, ks) = (x.f64s(), kernel.f64s());
        let (x_strides, k_strides) = (x.shape().strides(), kernel.shape().strides());
        let taken = kernel.shape()[self.kernel[1]];
        let groups = self.feature_groups.max(self.batch_groups);
        let per_group = (result[self.output[1]] / groups).max(1);
        let spatial: Shape = self.kernel[2..].iter().map(|&dim| kernel.shape()[dim]).collect();
        let insides: Vec<Dims> = Indices::new(&spatial).collect();
        let window = self.window(kernel.shape());
        let value = |index: Dims| {
            let (batch, feature) = (index[self.output[0]], index[self.output[1]]);
            let group = feature / per_group;
            let batch = batch + if self.batch_groups > 1 { group * result[self.output[0]] } else { 0 };
            let channel = if self.feature_groups > 1 { group * taken } else { 0 };
            let (own_x, own_k) = (x_strides[self.input[1]], k_strides[self.kernel[1]]);
            let mut sum = 0.0;
            for inside in &insides {
                let mut i = batch * x_strides[self.input[0]] + channel * own_x;
                let mut j = feature * k_strides[self.kernel[0]];
                let reads = (0..self.spatial()).all(|at| {
                    let (dim, number) = (self.input[at + 2], index[self.output[at + 2]]);
                    let position = window[at].position(number, inside[at], x.shape()[dim]);
                    i += position.unwrap_or_default() * x_strides[dim];
                    j += inside[at] * k_strides[self.kernel[at + 2]];
                    position.is_some()
                });
                if reads {
                    sum += (0..taken).map(|at| xs[i + at * own_x] * ks[j + at * own_k]).sum::<f64>();
                }
            }
            sum
        };
        Ok(vec![HostTensor::from_f64s(self.accumulate, result.clone(), Indices::new(result).map(value))])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let ct = b.convert(ct, b.dtype(cx.args[0]))?;
        let mut cts = [None, None];
        for (at, own) in cts.iter_mut().enumerate().filter(|(at, _)| cx.wanted[*at]) {
            let empty = b.shape(ct).num_elements() == 0 || b.shape(cx.args[at]).num_elements() == 0;
            *own = Some(match at {
                _ if empty => b.splat_like(cx.args[at], 0.0)?,
                0 => self.input_vjp(b, cx, ct)?,
                _ => self.kernel_vjp(b, cx, ct)?,
            });
        }
        Ok(Vjp::of(cts))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::MATMUL
    }

    /// Two operations for each product, those with zeros of padding included.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        let sizes = args[1].shape().iter().enumerate().filter(|(dim, _)| *dim != self.kernel[0]);
        let products: u64 = sizes.map(|(_, &size)| size as u64).fold(1, u64::saturating_mul);
        let elements = results[0].shape().num_elements() as u64;
        Cost::new(elements.saturating_mul(products).saturating_mul(2), args, results)
    }

    /// Batch and features correspond within groups. Along spatial dimensions windows may be anywhere, except those of one element.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        let (x, kernel) = (args[0].shape(), args[1].shape());
        let [batch, channels] = [self.input[0], self.input[1]];
        let [features, taken] = [self.kernel[0], self.kernel[1]];
        let mut groups = |size: usize, own: [(usize, usize); 2]| {
            if size > 1 {
                own.iter().for_each(|&at| map.link(size, FactorKind::Mixed, &[at], None));
                map.link(size, FactorKind::Mixed, &[], Some(self.output[1]));
            }
        };
        groups(self.feature_groups, [(0, channels), (1, features)]);
        groups(self.batch_groups, [(0, batch), (1, features)]);
        let of_features = kernel[features] / (self.feature_groups * self.batch_groups);
        map.link(x[batch] / self.batch_groups, FactorKind::Parallel, &[(0, batch)], Some(self.output[0]));
        map.link(of_features, FactorKind::Parallel, &[(1, features)], Some(self.output[1]));
        let sum = FactorKind::Contracted(Some(Reduction::Sum));
        map.link(kernel[taken], sum, &[(0, channels), (1, taken)], None);
        for (at, window) in self.window(kernel).into_iter().enumerate() {
            let [dim, own, result] = [self.input[at + 2], self.kernel[at + 2], self.output[at + 2]];
            if window == WindowDim::POINT {
                map.link(x[dim], FactorKind::Parallel, &[(0, dim)], Some(result));
            } else {
                map.link(x[dim], FactorKind::Mixed, &[(0, dim)], None);
                map.link(results[0].shape()[result], FactorKind::Mixed, &[], Some(result));
            }
            map.link(window.size, FactorKind::Contracted(None), &[(1, own)], None);
        }
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::Each
    }

    /// An operand that is dilated under strides or a dilated kernel, as in gradients of strided convolutions, is dilated by `pad`
    /// first: not every compiler takes both.
    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let kernel = cx.hlo.array(args[1])?.shape.clone();
        let (mut x, mut window) = (args[0], self.window(&kernel));
        let moves = window.iter().any(|dim| dim.stride > 1 || dim.window_dilation > 1);
        if moves && window.iter().any(|dim| dim.base_dilation > 1) {
            let mut padding = vec![PadDim::default(); kernel.rank()];
            for (at, dim) in window.iter_mut().enumerate() {
                padding[self.input[at + 2]].interior = dim.base_dilation - 1;
                dim.base_dilation = 1;
            }
            let zero = cx.hlo.constant_scalar(cx.hlo.array(x)?.dtype, 0.0)?;
            x = cx.hlo.pad(x, zero, &padding)?;
        }
        let groups = (self.feature_groups, self.batch_groups);
        cx.one(|hlo| hlo.convolution(x, args[1], &self.hlo_dims(), &window, groups, self.accumulate))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let accumulate = if float == DType::F64 { DType::F64 } else { DType::F32 };
        let plain = |spatial| Convolution::plain(spatial, accumulate);
        let arg = |shape: &[usize]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let strided = Convolution {
            strides: [2, 1].into(),
            low: [1, 0].into(),
            high: [1, 2].into(),
            kernel_dilation: [1, 2].into(),
            ..plain(2)
        };
        let last = Convolution {
            input: [0, 3, 1, 2].into(),
            kernel: [3, 2, 0, 1].into(),
            output: [0, 3, 1, 2].into(),
            low: [1, -1].into(),
            high: [1, 1].into(),
            ..plain(2)
        };
        let dilated = Convolution {
            input_dilation: [2].into(),
            strides: [3].into(),
            low: [2].into(),
            high: [1].into(),
            ..plain(1)
        };
        let grouped = Convolution { feature_groups: 2, strides: [2].into(), ..plain(1) };
        let batches = Convolution { batch_groups: 2, ..plain(1) };
        vec![
            Sample::new("plain", plain(1), [arg(&[2, 3, 5]), arg(&[4, 3, 2])]).ulps(8.0),
            Sample::new("strided", strided, [arg(&[2, 2, 5, 4]), arg(&[2, 2, 3, 2])]).ulps(8.0),
            Sample::new("features last", last, [arg(&[2, 4, 5, 2]), arg(&[3, 2, 2, 4])]).ulps(8.0),
            Sample::new("dilated", dilated, [arg(&[1, 2, 4]), arg(&[2, 2, 3])]).ulps(8.0),
            Sample::new("feature groups", grouped, [arg(&[2, 4, 5]), arg(&[6, 2, 3])]).ulps(8.0),
            Sample::new("batch groups", batches, [arg(&[4, 3, 4]), arg(&[6, 3, 2])]).ulps(8.0),
            Sample::new("points", plain(1), [arg(&[2, 4, 2]), arg(&[4, 4, 1])]).ulps(8.0),
            Sample::new("nothing spatial", plain(0), [arg(&[2, 3]), arg(&[4, 3])]).ulps(8.0),
        ]
    }
}
