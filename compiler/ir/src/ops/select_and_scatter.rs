//! `select_and_scatter`.

use super::indices::{convert, wide};
use super::sliding::{Sliding, each_dim_mixed, small_numbers};
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx, array_type};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error, dtype_error};
use crate::reduction::Reduction;
use crate::ty::{TensorType, Types};
use halite_hlo::{ArrayType, Comparison, Id, WindowDim};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Indices};
use smallvec::smallvec;

described! {
    /// The gradient of the extremes of windows: adds each element of the second operand, which has one for each window of the
    /// first, at the first extreme of its window into a tensor of zeros. Each sum is rounded once.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct SelectAndScatter {
        /// The extreme: `max` or `min`.
        pub kind: Reduction,
        /// Elements of a window.
        pub window: Dims,
        /// Distance of windows.
        pub strides: Dims,
        /// Positions before the first element.
        pub low: Vec<i64>,
        /// Positions after the last element.
        pub high: Vec<i64>,
    }
}

impl SelectAndScatter {
    fn windows(&self) -> Vec<WindowDim> {
        let dim = |at: usize| WindowDim {
            size: self.window[at],
            stride: self.strides[at],
            low: self.low[at],
            high: self.high[at],
            ..WindowDim::POINT
        };
        (0..self.window.len()).map(dim).collect()
    }

    /// The comparison that holds between an extreme and what comes after it.
    fn stays(&self) -> Comparison {
        if self.kind == Reduction::Max { Comparison::Ge } else { Comparison::Le }
    }
}

impl OpDef for SelectAndScatter {
    fn name(&self) -> &str {
        "select_and_scatter"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("kind", &mut self.kind);
        visitor.attr("window", &mut self.window);
        visitor.attr("strides", &mut self.strides);
        visitor.attr("low", &mut self.low);
        visitor.attr("high", &mut self.high);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x, source] = arity("select_and_scatter", args)?;
        if !x.dtype().is_float() {
            return Err(dtype_error("select_and_scatter", "floats", x));
        }
        if !matches!(self.kind, Reduction::Max | Reduction::Min) {
            let message = format!("`select_and_scatter` selects by `max` or `min`, found `{}`", self.kind.word());
            return Err(attr_error(message));
        }
        let (rank, lists) = (self.window.len(), [self.strides.len(), self.low.len(), self.high.len()]);
        if lists.iter().any(|&len| len != rank) {
            return Err(attr_error(format!("`select_and_scatter` needs lists of {rank} numbers, found {lists:?}")));
        }
        small_numbers("select_and_scatter", &[&self.window, &self.strides], &[&self.low, &self.high])?;
        if self.low.iter().chain(&self.high).any(|&padding| padding < 0) {
            return Err(attr_error("`select_and_scatter` cannot leave out elements: its padding is negative"));
        }
        let init = ArrayType::scalar(x.dtype());
        let [of_x, of_source] = [x, source].map(array_type);
        halite_hlo::infer::select_and_scatter(&of_x, &of_source, &init, &self.windows())?;
        Ok(smallvec![x.clone()])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, source) = (args[0], args[1]);
        let (xs, windows) = (x.f64s(), self.windows());
        let sliding = Sliding::new(&windows, x.shape());
        let stays = |first: f64, next: f64| if self.kind == Reduction::Max { first >= next } else { first <= next };
        let mut sums = vec![0.0; x.len()];
        for (index, ct) in Indices::new(source.shape()).zip(source.f64s()) {
            let extreme =
                sliding.offsets(&index).reduce(|first, next| if stays(xs[first], xs[next]) { first } else { next });
            if let Some(at) = extreme {
                sums[at] += ct;
            }
        }
        Ok(vec![HostTensor::from_f64s(x.dtype(), x.shape().clone(), sums)])
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("gradients of extremes of windows are not differentiated again"))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::GRADIENT_SUM
    }

    /// A comparison for each element of each window, and an addition for each window.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        let elements = args[1].shape().iter().chain(&self.window).map(|&size| size as u64);
        Cost::new(elements.fold(1, u64::saturating_mul), args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        each_dim_mixed(args, results, &self.windows())
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let hlo = &mut cx.hlo;
        let dtype = hlo.array(args[0])?.dtype;
        let (x, source) = (convert(hlo, args[0], wide(dtype))?, convert(hlo, args[1], wide(dtype))?);
        let zero = hlo.constant_scalar(wide(dtype), 0.0)?;
        let sums = hlo.select_and_scatter(self.stays(), x, source, zero, &self.windows())?;
        cx.one(|hlo| convert(hlo, sums, dtype))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let x = |shape: &[usize]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let op = |kind| SelectAndScatter {
            kind,
            window: smallvec![2, 3],
            strides: smallvec![1, 2],
            low: vec![0, 1],
            high: vec![1, 1],
        };
        let tied = SampleArg::listed(float, [3, 6], &[1.0, 1.0, 0.5]);
        vec![
            Sample::new("max", op(Reduction::Max), [x(&[3, 6]), x(&[3, 3])]).ulps(8.0),
            Sample::new("min", op(Reduction::Min), [x(&[3, 6]), x(&[3, 3])]).ulps(8.0),
            Sample::new("ties", op(Reduction::Max), [tied, x(&[3, 3])]).ulps(8.0),
        ]
    }
}
