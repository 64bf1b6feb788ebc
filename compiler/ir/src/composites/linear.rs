//! `linear`.

use super::parts::{last_size, spread_vector};
use crate::attrs::Attrs;
use crate::build::{Builder, Values};
use crate::composite::CompositeDef;
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, dtype_error, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, require_elements};
use crate::reduction::Reduction;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::{DType, Shape};
use smallvec::{SmallVec, smallvec};

/// The optional operand that is added to each row.
pub const BIAS: &str = "bias";

described! {
    /// `x weight^T`, or `x weight^T + bias`: `x[..., in]`, `weight[out, in]`, `bias[out]` to `[..., out]`.
    #[derive(Debug)]
    pub struct Linear;
}

fn check_weight(x: &TensorType, weight: &TensorType) -> Result<()> {
    let inputs = last_size("linear", x)?;
    if weight.dtype() != x.dtype() {
        return Err(dtype_error("linear", &format!("a weight of `{}`", x.dtype()), weight));
    }
    if weight.rank() != 2 || weight.shape()[1] != inputs {
        return Err(shape_error(format!("cannot apply a weight of `{weight}` to `{x}`"))
            .help(format!("the weight is stored `[out, in]`; `in` is {inputs}")));
    }
    Ok(())
}

fn check_bias(weight: &TensorType, bias: &TensorType) -> Result<()> {
    let expected = weight.with_shape([weight.shape()[0]]);
    if bias == &expected {
        return Ok(());
    }
    Err(shape_error(format!("the bias of `linear` with a weight of `{weight}` is `{expected}`, found `{bias}`")))
}

impl CompositeDef for Linear {
    fn name(&self) -> &str {
        "linear"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "weight"]).optional(&[BIAS])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [x, weight] = args.required()?;
        require_elements("linear", Takes::Float, x)?;
        check_weight(x, weight)?;
        if let Some(bias) = args.get(BIAS) {
            check_bias(weight, bias)?;
        }
        let mut shape: Shape = x.shape().clone();
        shape[x.rank() - 1] = weight.shape()[0];
        Ok(smallvec![x.with_shape(shape)])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [x, weight] = args.required()?;
        let last = b.shape(x).rank() - 1;
        let wide = b.dot_general(x, weight, (&[], &[]), (&[last], &[1]))?;
        let y = b.convert(wide, attrs.result_dtype(0).unwrap_or(b.dtype(x)))?;
        let Some(bias) = args.get(BIAS) else { return Ok(smallvec![y]) };
        let bias = b.convert(bias, b.dtype(y))?;
        let bias = spread_vector(b, bias, y)?;
        Ok(smallvec![b.add(y, bias)?])
    }

    /// Rows of the weight, and elements of the bias, are the last dimension of the result.
    fn dims(&self, args: Args<'_, &TensorType>, results: &[TensorType]) -> Option<FactorMap> {
        let (last, rows) = (results[0].rank() - 1, args[1].shape()[0]);
        let mut map = FactorMap::new(args.values(), results);
        for dim in 0..last {
            map.link(args[0].shape()[dim], FactorKind::Parallel, &[(0, dim)], Some(dim));
        }
        let with: SmallVec<[(usize, usize); 2]> =
            std::iter::once(1).chain(args.position(BIAS)).map(|operand| (operand, 0)).collect();
        map.link(rows, FactorKind::Parallel, &with, Some(last));
        map.link(args[1].shape()[1], FactorKind::Contracted(Some(Reduction::Sum)), &[(0, last), (1, 1)], None);
        Some(map)
    }

    fn policy(&self) -> Policy {
        Policy::MATMUL
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let linear = || super::op(&Linear, &[]);
        let biased = linear().with_operand(BIAS).expect("`linear` may have a bias");
        let arg = |shape: &[usize]| SampleArg::uniform(float, shape, -1.0, 1.0);
        vec![
            Sample::new("no bias", linear(), [arg(&[2, 3, 4]), arg(&[5, 4])]).ulps(8.0),
            Sample::new("bias", biased, [arg(&[3, 4]), arg(&[5, 4]), arg(&[5])]).ulps(8.0),
            Sample::new("vector", linear(), [arg(&[4]), arg(&[5, 4])]).ulps(8.0),
        ]
    }
}
