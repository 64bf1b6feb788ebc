//! `dot_general`.

use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx, Products};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error, require_dim, shape_error};
use crate::ops::class::{Takes, require_elements};
use crate::reduction::Reduction;
use crate::shards::Linear;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{DotDims, Id};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Dims, HostTensor, Indices, Shape};
use smallvec::smallvec;

described! {
    /// Batched contraction of two tensors.
    ///
    /// The result has the batch dimensions, then the free dimensions of the left operand, then those of the right one, each
    /// in operand order. Products are summed at the precision of `accumulate`, which is also the result's element type; the
    /// order of the sum is unspecified. Integers wrap.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct DotGeneral {
        /// Dimensions present in both operands and the result, pairwise.
        pub batch: (Dims, Dims),
        /// Dimensions summed over, pairwise.
        pub contract: (Dims, Dims),
        /// Element type of the sums and of the result; at least as wide as the operands'.
        pub accumulate: DType,
    }
}

impl Default for DotGeneral {
    fn default() -> Self {
        Self { batch: Default::default(), contract: Default::default(), accumulate: DType::F32 }
    }
}

/// The dimensions of `rank` that are neither batch nor contracted.
fn free_dims(rank: usize, batch: &[usize], contract: &[usize]) -> Dims {
    (0..rank).filter(|dim| !batch.contains(dim) && !contract.contains(dim)).collect()
}

impl DotGeneral {
    fn free(&self, x: &TensorType, y: &TensorType) -> (Dims, Dims) {
        (free_dims(x.rank(), &self.batch.0, &self.contract.0), free_dims(y.rank(), &self.batch.1, &self.contract.1))
    }

    fn check_dims(&self, side: &str, ty: &TensorType, batch: &[usize], contract: &[usize]) -> Result<()> {
        let mut seen = Dims::new();
        for &dim in batch.iter().chain(contract) {
            require_dim("dot_general", ty, dim)?;
            if seen.contains(&dim) {
                return Err(attr_error(format!("`dot_general` names dimension {dim} of its {side} operand twice")));
            }
            seen.push(dim);
        }
        Ok(())
    }

    fn check_sizes(&self, x: &TensorType, y: &TensorType) -> Result<()> {
        let pairs = [("batch", &self.batch), ("contract", &self.contract)];
        for (name, (left, right)) in pairs {
            if left.len() != right.len() {
                let (left, right) = (left.len(), right.len());
                return Err(attr_error(format!("`{name}` of `dot_general` lists {left} and {right} dimensions")));
            }
            for (&i, &j) in left.iter().zip(right) {
                let (m, n) = (x.shape()[i], y.shape()[j]);
                if m != n {
                    let message =
                        format!("cannot {name} dimension {i} ({m}) of `{x}` with dimension {j} ({n}) of `{y}`");
                    return Err(shape_error(message).help("transpose an operand or choose other dimensions"));
                }
            }
        }
        Ok(())
    }

    /// The cotangent of one operand: contracts the cotangent of the result with the other operand over that one's free
    /// dimensions. Of the two orders of a dot's operands it takes the one that leaves no transpose, if there is one.
    fn operand_vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>, ct: Value, side: Side) -> Result<Value> {
        let own = b.ty(cx.args[side as usize]).clone();
        let other = cx.args[1 - side as usize];
        let free = self.free(b.ty(cx.args[0]), b.ty(cx.args[1]));
        let (own_free, other_free) = side.pick(&free);
        let (own_batch, other_batch) = side.pick(&self.batch);
        let (own_contract, other_contract) = side.pick(&self.contract);
        let batch: Dims = (0..own_batch.len()).collect();
        let start = own_batch.len() + if side == Side::Left { own_free.len() } else { 0 };
        let summed: Dims = (start..start + other_free.len()).collect();
        // A dot keeps free dimensions in operand order: the contracted ones come in the order of the other operand.
        let mut contracted: Vec<_> = other_contract.iter().zip(own_contract).collect();
        contracted.sort();
        let contracted: Dims = contracted.into_iter().map(|(_, &own)| own).collect();
        let order =
            |first: &Dims, second: &Dims| -> Dims { own_batch.iter().chain(first).chain(second).copied().collect() };
        let (ct_first, other_first) = (order(own_free, &contracted), order(&contracted, own_free));
        let swap = !ct_first.is_sorted() && other_first.is_sorted();
        let pair = |ct: Dims, other: &Dims| if swap { (other.clone(), ct) } else { (ct, other.clone()) };
        let dot = DotGeneral {
            batch: pair(batch, other_batch),
            contract: pair(summed, other_free),
            accumulate: self.accumulate,
        };
        let raw = b.emit(dot, &if swap { [other, ct] } else { [ct, other] })?;
        let order = if swap { other_first } else { ct_first };
        let at = |dim: usize| order.iter().position(|&own| own == dim).unwrap_or(dim);
        let permutation: Dims = (0..own.rank()).map(at).collect();
        let value = b.transpose(raw, &permutation)?;
        b.convert(value, own.dtype())
    }
}

/// An operand of the contraction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Side {
    /// The entry of this side, then that of the other one.
    fn pick<T>(self, pair: &(T, T)) -> (&T, &T) {
        if self == Side::Left { (&pair.0, &pair.1) } else { (&pair.1, &pair.0) }
    }
}

impl OpDef for DotGeneral {
    fn name(&self) -> &str {
        "dot_general"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("batch", &mut self.batch);
        visitor.attr("contract", &mut self.contract);
        visitor.attr("accumulate", &mut self.accumulate);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x, y] = arity("dot_general", args)?;
        require_elements("dot_general", Takes::Number, x)?;
        if x.dtype() != y.dtype() {
            let message = format!("operands of `dot_general` have different element types, `{x}` and `{y}`");
            return Err(Diagnostic::error(codes::DTYPE, message).help("convert one operand with `convert`"));
        }
        let kind = |dtype: DType| (dtype.is_float(), dtype.is_int(), dtype.is_signed());
        if kind(self.accumulate) != kind(x.dtype()) || self.accumulate.size() < x.dtype().size() {
            let message = format!("`dot_general` of `{x}` cannot accumulate in `{}`", self.accumulate);
            let wider = if x.dtype().is_float() { "float" } else { "integer of the same sign" };
            return Err(attr_error(message).help(format!("use `{}` or a wider {wider}", x.dtype())));
        }
        self.check_dims("left", x, &self.batch.0, &self.contract.0)?;
        self.check_dims("right", y, &self.batch.1, &self.contract.1)?;
        self.check_sizes(x, y)?;
        let (free_x, free_y) = self.free(x, y);
        let left = self.batch.0.iter().chain(&free_x).map(|&dim| x.shape()[dim]);
        let shape: Shape = left.chain(free_y.iter().map(|&dim| y.shape()[dim])).collect();
        Ok(smallvec![TensorType::new(self.accumulate, shape)])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, y) = (args[0], args[1]);
        let (free_x, free_y) = (
            free_dims(x.shape().rank(), &self.batch.0, &self.contract.0),
            free_dims(y.shape().rank(), &self.batch.1, &self.contract.1),
        );
        let (x_strides, y_strides) = (x.shape().strides(), y.shape().strides());
        let summed: Shape = self.contract.0.iter().map(|&dim| x.shape()[dim]).collect();
        let steps: Vec<(usize, usize)> = Indices::new(&summed)
            .map(|index| (offset(&index, &self.contract.0, &x_strides), offset(&index, &self.contract.1, &y_strides)))
            .collect();
        let batches = self.batch.0.len();
        let offsets = Indices::new(cx.result().shape()).map(|index| {
            let (batch, rest) = index.split_at(batches);
            let (left, right) = rest.split_at(free_x.len());
            let i = offset(batch, &self.batch.0, &x_strides) + offset(left, &free_x, &x_strides);
            let j = offset(batch, &self.batch.1, &y_strides) + offset(right, &free_y, &y_strides);
            (i, j)
        });
        let (dtype, shape) = (self.accumulate, cx.result().shape().clone());
        if dtype.is_float() {
            let (xs, ys) = (x.f64s(), y.f64s());
            let sum = |(i, j)| steps.iter().map(|(di, dj)| xs[i + di] * ys[j + dj]).sum::<f64>();
            return Ok(vec![HostTensor::from_f64s(dtype, shape, offsets.map(sum))]);
        }
        let (xs, ys) = (x.ints(), y.ints());
        let product = |x: i128, y: i128| x.wrapping_mul(y);
        let sum =
            |(i, j)| steps.iter().fold(0, |sum: i128, (di, dj)| sum.wrapping_add(product(xs[i + di], ys[j + dj])));
        Ok(vec![HostTensor::from_ints(dtype, shape, offsets.map(sum))])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let ct = b.convert(ct, b.dtype(cx.args[0]))?;
        let mut vjp = |side: Side| -> Result<Option<Value>> {
            cx.wanted[side as usize].then(|| self.operand_vjp(b, cx, ct, side)).transpose()
        };
        Ok(Vjp::of([vjp(Side::Left)?, vjp(Side::Right)?]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::MATMUL
    }

    /// Two operations for each product.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        let summed: u64 = self.contract.0.iter().map(|&dim| args[0].shape()[dim] as u64).product();
        let elements = results[0].shape().num_elements() as u64;
        Cost::new(2 * elements * summed, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        let (free_x, free_y) = self.free(args[0], args[1]);
        let size = |dim: usize| args[0].shape()[dim];
        let mut next = 0..;
        let mut result = || next.next();
        for (&i, &j) in self.batch.0.iter().zip(&self.batch.1) {
            map.link(size(i), FactorKind::Parallel, &[(0, i), (1, j)], result());
        }
        for &i in &free_x {
            map.link(size(i), FactorKind::Parallel, &[(0, i)], result());
        }
        for &j in &free_y {
            map.link(args[1].shape()[j], FactorKind::Parallel, &[(1, j)], result());
        }
        for (&i, &j) in self.contract.0.iter().zip(&self.contract.1) {
            map.link(size(i), FactorKind::Contracted(Some(Reduction::Sum)), &[(0, i), (1, j)], None);
        }
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::Each
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let dims = DotDims {
            lhs_contracting: self.contract.0.clone(),
            rhs_contracting: self.contract.1.clone(),
            lhs_batch: self.batch.0.clone(),
            rhs_batch: self.batch.1.clone(),
        };
        let is_wide = match cx.options.products {
            Products::Narrow => false,
            Products::WideUnlessBatchLeads => ![&self.batch.0, &self.batch.1].into_iter().all(|batch| leads(batch)),
            Products::Wide => true,
        };
        let mut operands = [args[0], args[1]];
        for operand in operands.iter_mut().filter(|_| is_wide) {
            if cx.hlo.array(*operand)?.dtype != self.accumulate {
                *operand = cx.hlo.convert(*operand, self.accumulate)?;
            }
        }
        let [x, y] = operands;
        cx.one(|hlo| hlo.dot(x, y, &dims, self.accumulate))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let accumulate = if float == DType::F64 { DType::F64 } else { DType::F32 };
        let dot = |batch: (&[usize], &[usize]), contract: (&[usize], &[usize])| DotGeneral {
            batch: (batch.0.into(), batch.1.into()),
            contract: (contract.0.into(), contract.1.into()),
            accumulate,
        };
        let arg = |shape: &[usize]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let whole = |dtype, shape: &[usize], low, high| SampleArg::whole(dtype, shape, low, high);
        vec![
            Sample::new("matmul", dot((&[], &[]), (&[1], &[0])), [arg(&[2, 3]), arg(&[3, 4])]).ulps(8.0),
            Sample::new("linear", dot((&[], &[]), (&[2], &[1])), [arg(&[2, 3, 4]), arg(&[5, 4])]).ulps(8.0),
            Sample::new("batched", dot((&[0], &[1]), (&[2], &[0])), [arg(&[2, 3, 4]), arg(&[4, 2, 5])]).ulps(8.0),
            Sample::new("two sums", dot((&[], &[]), (&[0, 2], &[1, 0])), [arg(&[2, 3, 4]), arg(&[4, 2])]).ulps(8.0),
            Sample::new("outer", dot((&[], &[]), (&[], &[])), [arg(&[2]), arg(&[3])]).ulps(8.0),
            Sample::new(
                "integers",
                DotGeneral { accumulate: DType::S32, ..dot((&[], &[]), (&[1], &[0])) },
                [whole(DType::S32, &[2, 3], -70_000, 70_000), whole(DType::S32, &[3, 4], -70_000, 70_000)],
            ),
            Sample::new(
                "unsigned integers",
                DotGeneral { accumulate: DType::U64, ..dot((&[0], &[0]), (&[2], &[1])) },
                [whole(DType::U64, &[2, 2, 3], 0, 1 << 40), whole(DType::U64, &[2, 3, 2], 0, 1 << 40)],
            ),
        ]
    }
}

/// Whether dimensions are the first, in order.
fn leads(dims: &[usize]) -> bool {
    dims.iter().copied().eq(0..dims.len())
}

/// The position reached by moving `index[k]` steps along dimension `dims[k]`.
fn offset(index: &[usize], dims: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(dims).map(|(&at, &dim)| at * strides[dim]).sum()
}

impl Builder<'_> {
    /// Batched contraction that accumulates in `f32`, or in `f64` for `f64` operands.
    ///
    /// # Errors
    /// When the dimensions do not fit.
    pub fn dot_general(
        &mut self,
        x: Value,
        y: Value,
        batch: (&[usize], &[usize]),
        contract: (&[usize], &[usize]),
    ) -> Result<Value> {
        let accumulate = if self.dtype(x) == DType::F64 { DType::F64 } else { DType::F32 };
        let batch = (Dims::from_slice(batch.0), Dims::from_slice(batch.1));
        let contract = (Dims::from_slice(contract.0), Dims::from_slice(contract.1));
        self.emit(DotGeneral { batch, contract, accumulate }, &[x, y])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Op;
    use crate::registry::Registry;
    use crate::syntax::{Module, ParamRole};

    /// The names of the instructions that the gradients of a dot of `x` and `y` become.
    fn gradient_ops(x: &[usize], y: &[usize], contract: (&[usize], &[usize])) -> Vec<String> {
        let registry = Registry::builtin();
        let mut module = Module::default();
        let mut b = Builder::new(&mut module, &registry, "main");
        let mut param =
            |name: &str, shape: &[usize]| b.param(name, TensorType::new(DType::F32, shape), ParamRole::Argument);
        let args = [param("x", x), param("y", y)];
        let result = b.dot_general(args[0], args[1], (&[], &[]), contract).unwrap();
        let cx = VjpCx { args: &args, results: &[result], cts: &[Some(result)], wanted: &[true, true] };
        let Op::DotGeneral(dot) = b.function().insts[0].op.clone() else { unreachable!("the only instruction") };
        dot.vjp(&mut b, &cx).unwrap();
        b.function().insts[1..].iter().map(|inst| inst.op.name().to_owned()).collect()
    }

    #[test]
    fn gradients_transpose_only_where_no_operand_order_fits() {
        let dots = ["dot_general", "dot_general"];
        assert_eq!(gradient_ops(&[2, 3], &[3, 4], (&[1], &[0])), dots);
        assert_eq!(gradient_ops(&[2, 3], &[4, 3], (&[1], &[1])), dots);
        assert_eq!(gradient_ops(&[3, 2], &[3, 4], (&[0], &[0])), dots);
        assert_eq!(gradient_ops(&[2, 5, 3], &[4, 3], (&[2], &[1])), dots);
        let mixed = gradient_ops(&[2, 3, 5], &[3, 4], (&[1], &[0]));
        assert_eq!(mixed, ["dot_general", "transpose", "dot_general"]);
    }
}
