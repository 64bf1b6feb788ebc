//! Made-up inputs and a budget for running programs on them, to see whether a suspicion of an analysis shows in their results.

use halite_ir::{Function, InferCx, Module, Param, ParamRole, Registry, TensorType, function_totals, inst_cost};
use halite_tensor::{DType, HostTensor, split_mix};

/// The most elements and floating-point operations that the interpreter is given, of all ranks together: some seconds of work.
const MAX_WORK: u64 = 200_000_000;

/// The most elements that inputs have, of all ranks together: they are all made before anything is run.
const MAX_INPUTS: u64 = 10_000_000;

/// Whole numbers are drawn below this: ids, labels and positions that the smallest of models have too.
const BELOW: u64 = 4;

/// Whether the interpreter runs a module on so many ranks within its budget.
pub(super) fn fits(module: &Module, registry: &Registry, ranks: usize) -> bool {
    let cx = InferCx { functions: &module.functions, registry };
    let own = |function: &Function| {
        let insts = function.insts.iter().map(|inst| {
            let elements: usize = inst.results.iter().map(|&result| function.ty(result).shape().num_elements()).sum();
            inst_cost(&cx, &[], function, inst).flops.saturating_add(elements as u64)
        });
        insts.fold(0, u64::saturating_add)
    };
    let work = function_totals(&module.functions, own).last().copied().unwrap_or_default();
    let given = module.entry().map_or(0, |entry| {
        let elements =
            entry.param_types().iter().map(|ty| ty.shape().num_elements() as u64).fold(0, u64::saturating_add);
        elements.saturating_mul(ranks as u64)
    });
    work.saturating_mul(ranks as u64) <= MAX_WORK && given <= MAX_INPUTS
}

/// Inputs for the parameters of an entry, which have these types: reals around zero, state that is not negative, small whole numbers.
pub(super) fn inputs<'a>(params: impl Iterator<Item = (&'a Param, &'a TensorType)>, seed: u64) -> Vec<HostTensor> {
    let input = |(at, (param, ty)): (usize, (&Param, &TensorType))| {
        let number = |index: usize| split_mix(seed ^ ((at as u64) << 40) ^ index as u64);
        let indices = 0..ty.shape().num_elements();
        if let ParamRole::Known(content) = &param.role {
            return content.tensor(ty.shape(), 0);
        }
        match ty.dtype() {
            dtype if dtype.is_float() => {
                let of_state = matches!(param.role, ParamRole::State(_));
                let real = |index| {
                    let unit = (number(index) >> 11) as f64 / (1_u64 << 53) as f64;
                    if of_state { 0.01 + 0.1 * unit } else { 2.0 * unit - 1.0 }
                };
                HostTensor::from_f64s(dtype, ty.shape().clone(), indices.map(real))
            }
            dtype => {
                let below = if dtype == DType::Pred { 2 } else { BELOW };
                HostTensor::from_ints(dtype, ty.shape().clone(), indices.map(|index| i128::from(number(index) % below)))
            }
        }
    };
    params.enumerate().map(input).collect()
}
