//! `reshape`.

use super::movement::{common_block, require_countable};
use crate::attr::{AttrVisitor, ResultSlot};
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, shape_error};
use crate::shards::{Linear, Shards};
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// The elements of a tensor in row-major order under another shape.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Reshape {
        /// The shape of the result.
        pub shape: Shape,
    }
}

impl OpDef for Reshape {
    fn name(&self) -> &str {
        "reshape"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.result(0, ResultSlot::Shape(&mut self.shape));
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("reshape", args)?;
        let result = require_countable("reshape", x.dtype(), self.shape.clone())?;
        let (from, to) = (x.shape().num_elements(), self.shape.num_elements());
        if from != to {
            return Err(shape_error(format!("cannot reshape `{x}` to `{result}`: {from} elements are not {to}")));
        }
        Ok(smallvec![result])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(vec![args[0].clone().reshaped(self.shape.clone())])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, shape) = (present(cx.ct())?, b.shape(cx.args[0]).clone());
        Ok(Vjp::one(b.reshape(ct, shape)?))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    /// Walks both shapes from the left and shares common factors; sizes that cut across each other are mixed but for what they have in
    /// common at their ends.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        if args[0].shape().num_elements() == 0 {
            return FactorMap::opaque(args, results);
        }
        let mut map = FactorMap::new(args, results);
        let (mut from, mut to) = (Walk::new(args[0].shape()), Walk::new(results[0].shape()));
        while from.advance() | to.advance() {
            let common = common_block(&[from.rest, to.rest]);
            if common > 1 {
                map.link(common, FactorKind::Parallel, &[(0, from.dim())], Some(to.dim()));
                from.rest /= common;
                to.rest /= common;
            } else {
                link_mixed(&mut map, &mut from, &mut to);
            }
        }
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::Jointly
    }

    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        Ok(Some(b.emit_all(Reshape { shape: shards.shape() }, args)?))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.reshape(args[0], &self.shape))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let to = |shape: &[usize]| Reshape { shape: shape.into() };
        vec![
            Sample::new("merge", to(&[6, 4]), [SampleArg::uniform(float, [2, 3, 4], -1.0, 1.0)]),
            Sample::new("split", to(&[2, 3, 1, 4]), [SampleArg::uniform(float, [6, 4], -1.0, 1.0)]),
            Sample::new("scalar", to(&[]), [SampleArg::uniform(float, [1, 1], -1.0, 1.0)]),
            Sample::new("integers", to(&[4, 6]), [SampleArg::whole(DType::S32, [6, 4], -9, 9)]),
        ]
    }
}

/// A walk over the sizes of a shape; `rest` is the part of the current size that is not matched yet.
struct Walk<'a> {
    shape: &'a [usize],
    next: usize,
    rest: usize,
}

impl<'a> Walk<'a> {
    fn new(shape: &'a [usize]) -> Self {
        Self { shape, next: 0, rest: 1 }
    }

    fn dim(&self) -> usize {
        self.next - 1
    }

    /// Moves to the next size that is not 1 when the current one is used up; false at the end.
    fn advance(&mut self) -> bool {
        while self.rest == 1 && self.next < self.shape.len() {
            self.rest = self.shape[self.next];
            self.next += 1;
        }
        self.rest != 1
    }

    /// Takes one whole size more.
    fn extend(&mut self) -> usize {
        let size = self.shape[self.next];
        self.rest *= size;
        self.next += 1;
        size
    }
}

/// Gives each dimension a factor of its own until both walks have covered equally many elements. What the dimensions have in common at the
/// end corresponds.
fn link_mixed(map: &mut FactorMap, from: &mut Walk<'_>, to: &mut Walk<'_>) {
    let (mut operand, mut result) = (vec![(from.dim(), from.rest)], vec![(to.dim(), to.rest)]);
    while from.rest != to.rest {
        if from.rest < to.rest {
            let size = from.extend();
            operand.push((from.dim(), size));
        } else {
            let size = to.extend();
            result.push((to.dim(), size));
        }
    }
    (from.rest, to.rest) = (1, 1);
    let ends = common_ends(&mut operand, &mut result);
    for (dim, size) in operand.into_iter().filter(|&(_, size)| size > 1) {
        map.link(size, FactorKind::Mixed, &[(0, dim)], None);
    }
    for (dim, size) in result.into_iter().filter(|&(_, size)| size > 1) {
        map.link(size, FactorKind::Mixed, &[], Some(dim));
    }
    for ([operand, result], size) in ends.into_iter().rev() {
        map.link(size, FactorKind::Parallel, &[(0, operand)], Some(result));
    }
}

/// Takes out of dimensions, which are of equally many elements, the factors in which both end: the dimension of each side, and the size, the
/// last factor first.
fn common_ends(operand: &mut [(usize, usize)], result: &mut [(usize, usize)]) -> Vec<([usize; 2], usize)> {
    let mut ends = Vec::new();
    let open = |dims: &[(usize, usize)]| dims.iter().rposition(|&(_, size)| size > 1);
    while let (Some(from), Some(to)) = (open(operand), open(result)) {
        let common = common_block(&[operand[from].1, result[to].1]);
        if common == 1 {
            break;
        }
        ends.push(([operand[from].0, result[to].0], common));
        operand[from].1 /= common;
        result[to].1 /= common;
    }
    ends
}

impl Builder<'_> {
    /// The elements of `x` in row-major order under another shape.
    ///
    /// # Errors
    /// When the number of elements differs.
    pub fn reshape(&mut self, x: Value, shape: impl Into<Shape>) -> Result<Value> {
        let shape = shape.into();
        if self.shape(x) == &shape {
            return Ok(x);
        }
        self.emit(Reshape { shape }, &[x])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(from: &[usize], to: &[usize]) -> (Vec<(usize, FactorKind)>, FactorMap) {
        let (x, y) = (TensorType::new(DType::F32, from), TensorType::new(DType::F32, to));
        let map = Reshape { shape: to.into() }.dims(&[&x], &[y]);
        (map.factors.iter().map(|factor| (factor.size, factor.kind)).collect(), map)
    }

    #[test]
    fn split_and_merged_dimensions_share_factors() {
        let parallel = |sizes: &[usize]| sizes.iter().map(|&size| (size, FactorKind::Parallel)).collect::<Vec<_>>();
        let (found, map) = factors(&[2, 12], &[2, 3, 1, 4]);
        assert_eq!(found, parallel(&[2, 3, 4]));
        assert_eq!((map.operands[0][1].len(), map.results[0][2].len()), (2, 0));
        assert_eq!(factors(&[2, 3, 4], &[6, 4]).0, parallel(&[2, 3, 4]));
        assert_eq!(factors(&[4, 6], &[2, 12]).0, parallel(&[2, 2, 6]));
    }

    #[test]
    fn sizes_that_cut_across_are_mixed() {
        let kinds = |from: &[usize], to: &[usize]| {
            factors(from, to).0.into_iter().map(|(size, kind)| (size, kind == FactorKind::Mixed)).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&[5, 2, 3], &[5, 3, 2]), [(5, false), (2, true), (3, true), (3, true), (2, true)]);
    }

    #[test]
    fn sizes_that_cut_across_correspond_where_both_begin_and_end() {
        let (found, map) = factors(&[6, 4], &[4, 6]);
        let parallel = found.iter().filter(|factor| factor.1 == FactorKind::Parallel).map(|factor| factor.0);
        assert_eq!(parallel.collect::<Vec<_>>(), [2, 2]);
        let ends = |dims: &[crate::dims::DimFactors]| [dims[0].first().copied(), dims[1].last().copied()];
        assert_eq!(ends(&map.operands[0]), ends(&map.results[0]));
        assert_eq!(
            factors(&[2, 3, 8], &[3, 4, 4]).0.iter().filter(|factor| factor.1 == FactorKind::Parallel).count(),
            2
        );
    }
}
