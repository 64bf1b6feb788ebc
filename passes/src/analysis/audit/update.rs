//! The arithmetic of the optimizer.

use super::context::AuditCx;
use super::fix::RecipeKey;
use super::report::{Evidence, Report};
use halite_ir::{Inst, OpClass, ParamRole};
use halite_support::codes;
use halite_tensor::DType;

/// Reports narrow arithmetic on what is computed from moments, master weights and other state, and the instructions that make new
/// weights and slots.
pub(super) fn check(cx: &AuditCx<'_>, report: &mut Report<'_>) {
    let update = cx.function.insts.iter().filter(|inst| cx.is_update(inst));
    let replaced = cx.function.params.iter().filter(|param| match &param.role {
        ParamRole::Weight(_) => true,
        ParamRole::State(_) => cx.dtype(param.value).is_float(),
        ParamRole::Argument | ParamRole::Batch | ParamRole::Known(_) => false,
    });
    let writes = replaced.filter_map(|param| cx.replacement(&param.name)).filter(|inst| !cx.is_update(inst));
    for inst in update.chain(writes) {
        if let Some(dtype) = arithmetic(cx, inst).filter(|dtype| dtype.is_narrow()) {
            let op = inst.op.name();
            let evidence = Evidence { code: codes::UPDATE_NARROW, loc: inst.loc, what: op, op, dtype };
            report.add(cx.id, evidence, RecipeKey::UPDATE, &[op.to_owned()]);
        }
    }
}

/// The float type that an instruction computes in, if it computes.
fn arithmetic(cx: &AuditCx<'_>, inst: &Inst) -> Option<DType> {
    let class = inst.op.def().policy(&cx.infer).class;
    let computes = !matches!(class, OpClass::Storage | OpClass::Integer);
    let floats = inst.args.iter().map(|&arg| cx.dtype(arg)).filter(|dtype| dtype.is_float());
    floats.max_by_key(|dtype| dtype.size()).filter(|_| computes)
}
