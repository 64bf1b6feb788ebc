//! Stochastic rounding that no pass has realized yet.

use super::{EvalCx, Interpreter};
use crate::rounding::widened;
use crate::syntax::Inst;
use crate::ty::TensorType;
use halite_support::Result;
use halite_tensor::rounding::{random_bits, stochastic, stream_key};
use halite_tensor::{DType, HostTensor, Indices};

/// Evaluates an instruction in `f32` and rounds its narrow results with the bits of a stream, those of seed and update 0:
/// `annotate-rounding` puts in the others.
pub(super) fn eval(
    interpreter: &Interpreter<'_>,
    inst: &Inst,
    stream: &str,
    types: &[TensorType],
    args: &[Vec<&HostTensor>],
) -> Result<Vec<Vec<HostTensor>>> {
    let is_narrow = |ty: &TensorType| ty.dtype().is_narrow();
    let wide_types: Vec<_> =
        types.iter().map(|ty| if is_narrow(ty) { ty.with_dtype(DType::F32) } else { ty.clone() }).collect();
    let cx = EvalCx { functions: interpreter.functions, registry: interpreter.registry, results: &wide_types };
    let wide = widened(&inst.op, DType::F32);
    let converts = wide.as_ref().is_none_or(|wide| wide.converts_operands);
    let converted: Vec<Vec<HostTensor>> = args
        .iter()
        .map(|args| args.iter().map(|arg| if converts { in_f32(arg) } else { (*arg).clone() }).collect())
        .collect();
    let results = match wide {
        Some(wide) => {
            let args: Vec<Vec<&HostTensor>> = converted.iter().map(|args| args.iter().collect()).collect();
            wide.op.def().eval_ranks(&cx, &args)?
        }
        None => converted,
    };
    let round = |results: Vec<HostTensor>| {
        results.into_iter().zip(types).map(|(wide, ty)| if is_narrow(ty) { rounded(&wide, ty, stream) } else { wide })
    };
    Ok(results.into_iter().map(|results| round(results).collect()).collect())
}

fn in_f32(x: &HostTensor) -> HostTensor {
    if x.dtype().is_float() { HostTensor::from_f64s(DType::F32, x.shape().clone(), x.f64s()) } else { x.clone() }
}

fn rounded(wide: &HostTensor, ty: &TensorType, stream: &str) -> HostTensor {
    let key = stream_key(0, stream);
    let values = Indices::new(ty.shape()).zip(wide.f64s()).map(|(index, value)| {
        let coordinates: Vec<u32> = index.iter().map(|&at| at as u32).collect();
        f64::from(stochastic(value as f32, random_bits(key, 0, &coordinates), ty.dtype()))
    });
    HostTensor::from_f64s(ty.dtype(), ty.shape().clone(), values)
}
