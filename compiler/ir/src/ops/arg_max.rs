//! `arg_max`.

use super::class::{Takes, require_elements};
use super::indices::require_positions;
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, require_dim};
use crate::reduction::Reduction;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{ArrayType, Comparison, Id, ReduceKind};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Indices, Shape};
use smallvec::smallvec;

described! {
    /// The position of the first largest element along dimension `dim`, which the result lacks, as `s32`. NaN counts as
    /// larger than everything.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ArgMax {
        /// The dimension that is searched.
        pub dim: usize,
    }
}

/// Whether `x` replaces `best`, an earlier element.
fn beats(x: f64, best: f64) -> bool {
    x > best || (x.is_nan() && !best.is_nan())
}

impl ArgMax {
    fn first_max<T: Copy>(&self, x: &HostTensor, elements: &[T], beats: impl Fn(T, T) -> bool) -> Vec<i128> {
        let shape = x.shape();
        let (size, inner) = (shape[self.dim], shape.strides()[self.dim]);
        let first = |index: Dims| {
            let start: usize = index.iter().zip(&shape.strides()).map(|(at, stride)| at * stride).sum();
            let at = |position: usize| elements[start + position * inner];
            (1..size).fold(0, |best, next| if beats(at(next), at(best)) { next } else { best }) as i128
        };
        let mut starts = shape.clone();
        starts[self.dim] = 1;
        Indices::new(&starts).map(first).collect()
    }
}

impl OpDef for ArgMax {
    fn name(&self) -> &str {
        "arg_max"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("dim", &mut self.dim);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("arg_max", args)?;
        require_elements("arg_max", Takes::Number, x)?;
        require_dim("arg_max", x, self.dim)?;
        require_positions("arg_max", x, self.dim)?;
        let mut shape = x.shape().clone().into_dims();
        shape.remove(self.dim);
        Ok(smallvec![TensorType::new(DType::S32, shape)])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let x = args[0];
        let positions = if x.dtype().is_float() {
            self.first_max(x, &x.f64s(), beats)
        } else {
            self.first_max(x, &x.ints(), |x, best| x > best)
        };
        Ok(vec![HostTensor::from_ints(DType::S32, cx.result().shape().clone(), positions)])
    }

    /// Zero: a position does not move with small changes.
    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::zeros(1))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::EXACT
    }

    /// One comparison for each element of the operand.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::over_operand(args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        let mut next = 0..;
        for (dim, &size) in args[0].shape().iter().enumerate() {
            if dim == self.dim {
                map.link(size, FactorKind::Contracted(None), &[(0, dim)], None);
            } else {
                map.link(size, FactorKind::Parallel, &[(0, dim)], next.next());
            }
        }
        map
    }

    /// The smallest position among those that hold the maximum or NaN: targets have no reduction of two operands. The
    /// position after the last stands for the others; it is small enough for engines that compare integers in `f32`.
    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let (x, hlo) = (args[0], &mut cx.hlo);
        let ArrayType { dtype, shape, .. } = hlo.array(x)?.clone();
        let least = hlo.constant(&Reduction::Max.identity(dtype))?;
        let peak = hlo.reduce(ReduceKind::Max, x, least, &[self.dim])?;
        let kept: Vec<_> = (0..shape.rank()).filter(|&dim| dim != self.dim).collect();
        let peak = hlo.broadcast(peak, &shape, &kept)?;
        let mut holds = hlo.compare(Comparison::Eq, x, peak)?;
        if dtype.is_float() {
            let nan = hlo.compare(Comparison::Ne, x, x)?;
            holds = hlo.or(holds, nan)?;
        }
        let positions = hlo.iota(ArrayType::new(DType::S32, shape.clone()), self.dim)?;
        let end = hlo.constant(&HostTensor::from_ints(DType::S32, [], [shape[self.dim] as i128]))?;
        let beyond = hlo.broadcast(end, &shape, &[])?;
        let candidates = hlo.select(holds, positions, beyond)?;
        cx.one(|hlo| hlo.reduce(ReduceKind::Min, candidates, end, &[self.dim]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let nan = [1.0, 2.0, f64::NAN, 5.0, f64::NAN, 0.0];
        let minus = f64::NEG_INFINITY;
        vec![
            Sample::new("last", ArgMax { dim: 1 }, [SampleArg::uniform(float, [3, 4], -1.0, 1.0)]),
            Sample::new("first", ArgMax { dim: 0 }, [SampleArg::uniform(float, [3, 4], -1.0, 1.0)]),
            Sample::new("ties", ArgMax { dim: 0 }, [SampleArg::listed(float, [4], &[1.0, 3.0, 3.0, -0.0])]),
            Sample::new("nan", ArgMax { dim: 0 }, [SampleArg::listed(float, [6], &nan)]),
            Sample::new("infinite", ArgMax { dim: 0 }, [SampleArg::listed(float, [2], &[minus, minus])]),
            Sample::new("integers", ArgMax { dim: 1 }, [SampleArg::whole(DType::S32, Shape::from([2, 5]), -9, 9)]),
        ]
    }
}

impl Builder<'_> {
    /// The position of the first largest element along `dim`, `s32`.
    ///
    /// # Errors
    /// When `dim` is out of range or empty, or `x` is `pred`.
    pub fn arg_max(&mut self, x: Value, dim: usize) -> Result<Value> {
        self.emit(ArgMax { dim }, &[x])
    }
}
