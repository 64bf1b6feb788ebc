//! Loops that were written out round by round.

use halite_ir::{FuncId, Function, Module, Registry, inline_calls};
use halite_support::Result;
use halite_tensor::DType;

/// Writes the rounds of loops into the entry, with the functions around them, and those that take the number of a round: there, which
/// layer a round reads is known. Of functions that are the same, as a framework writes one for each call, the first stays.
///
/// # Errors
/// When the entry becomes too large.
pub(crate) fn write_out(module: &mut Module, registry: &Registry, rounds: &[FuncId]) -> Result<()> {
    let mut written: Vec<bool> = module.functions.iter().map(takes_number).collect();
    rounds.iter().for_each(|round| written[round.index()] = true);
    for (at, function) in module.functions.iter().enumerate() {
        // Callees come before callers.
        written[at] |= function.insts.iter().filter_map(|inst| inst.call()).any(|call| written[call.callee.index()]);
    }
    let entry: Vec<bool> = (1..=written.len()).map(|number| number == written.len()).collect();
    inline_calls(module, registry, &written, &entry)?;
    module.merge_functions();
    Ok(())
}

/// Whether a function takes a whole number by itself.
fn takes_number(function: &Function) -> bool {
    let is_number = |dtype: DType, rank: usize| dtype.is_int() && rank == 0;
    function.params.iter().map(|param| function.ty(param.value)).any(|ty| is_number(ty.dtype(), ty.shape().rank()))
}
