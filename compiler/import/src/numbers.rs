//! Scalars that are known.

use halite_ir::ops::Constant;
use halite_ir::{EvalCx, Function, InferCx, Inst, Op, TensorType};
use halite_tensor::{DType, HostTensor};

/// For each value of a function, its content, where it is a whole number or a truth value that follows from constants: counters of loops
/// that were written out.
pub(crate) fn known(cx: InferCx<'_>, function: &Function) -> Vec<Option<HostTensor>> {
    let mut known: Vec<Option<HostTensor>> = vec![None; function.values.len()];
    for inst in &function.insts {
        if let [result] = inst.results.as_slice()
            && is_counted(function.ty(*result))
        {
            known[result.index()] = number(cx, function, inst, &known);
        }
    }
    known
}

fn is_counted(ty: &TensorType) -> bool {
    ty.shape().rank() == 0 && (ty.dtype().is_int() || ty.dtype() == DType::Pred)
}

/// The content of the only result of an instruction, where those of its operands are known.
fn number(cx: InferCx<'_>, function: &Function, inst: &Inst, known: &[Option<HostTensor>]) -> Option<HostTensor> {
    if let Op::Constant(Constant { value, .. }) = &inst.op {
        return Some((**value).clone());
    }
    let args: Vec<&HostTensor> = inst.args.iter().map(|arg| known[arg.index()].as_ref()).collect::<Option<_>>()?;
    if inst.op.callee().is_some() || !inst.op.def().effect(&cx).movable {
        return None;
    }
    let results: Vec<TensorType> = inst.results.iter().map(|&result| function.ty(result).clone()).collect();
    let cx = EvalCx { functions: cx.functions, registry: cx.registry, results: &results };
    inst.op.def().eval(&cx, &args).ok()?.pop()
}
