//! The arithmetic of the optimizer.

use super::mend::RecipeKey;
use super::report::{Evidence, Report};
use super::scene::Scene;
use halite_ir::{Inst, OpClass, ParamRole};
use halite_support::codes;
use halite_tensor::{DType, Slot};

/// Reports narrow arithmetic on what is computed from moments or master weights, and the instructions that make new
/// weights and slots.
pub(super) fn check(scene: &Scene<'_>, report: &mut Report<'_>) {
    let update = scene.entry.insts.iter().filter(|inst| scene.is_update(inst));
    let replaced = scene.entry.params.iter().filter(|param| match &param.role {
        ParamRole::Weight(_) => true,
        ParamRole::State(info) => info.slot != Slot::Step,
        ParamRole::Argument | ParamRole::Batch | ParamRole::CausalMask => false,
    });
    let writes = replaced.filter_map(|param| scene.replacement(&param.name)).filter(|inst| !scene.is_update(inst));
    for inst in update.chain(writes) {
        if let Some(dtype) = arithmetic(scene, inst).filter(|dtype| dtype.is_narrow()) {
            let op = inst.op.name();
            let evidence = Evidence { code: codes::UPDATE_NARROW, loc: inst.loc, what: op, op, dtype };
            report.add(evidence, RecipeKey::UPDATE, [op.to_owned()]);
        }
    }
}

/// The float type that an instruction computes in, if it computes.
fn arithmetic(scene: &Scene<'_>, inst: &Inst) -> Option<DType> {
    let class = inst.op.def().policy(&scene.infer).class;
    let computes = !matches!(class, OpClass::Storage | OpClass::Integer);
    let floats = inst.args.iter().map(|&arg| scene.dtype(arg)).filter(|dtype| dtype.is_float());
    floats.max_by_key(|dtype| dtype.size()).filter(|_| computes)
}
