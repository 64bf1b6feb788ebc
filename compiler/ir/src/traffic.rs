//! Traffic of a rank in the functions of a module.

use crate::cost::function_totals;
use crate::syntax::{Function, Inst, Module};
use crate::wire::Wire;

/// The traffic of a rank for an instruction of a function; `None` for one that sends nothing, calls among them.
pub fn wire<'f>(function: &'f Function, inst: &'f Inst) -> Option<Wire<'f>> {
    let args: Vec<_> = inst.args.iter().map(|&arg| function.ty(arg)).collect();
    let results: Vec<_> = inst.results.iter().map(|&result| function.ty(result)).collect();
    inst.op.def().wire(&args, &results)
}

/// For each function of a module the bytes that a rank sends when it is called once, those of its calls included.
pub fn function_wire_bytes(module: &Module) -> Vec<u64> {
    let own = |function: &Function| {
        let bytes = function.insts.iter().filter_map(|inst| wire(function, inst)).map(|wire| wire.bytes);
        bytes.fold(0, u64::saturating_add)
    };
    function_totals(&module.functions, own)
}
