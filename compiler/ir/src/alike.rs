//! Modules that are one program under other names.

use crate::layout::Layout;
use crate::syntax::{FuncResult, Function, Inst, Module, ParamRole, ResultRole};
use halite_tensor::Content;
use rustc_hash::FxHashMap;
use std::mem::discriminant;

/// Whether two modules are one program but for names: those of functions, parameters, results and values, the layers and parts of weights, and
/// what locations say, and those of the streams whose keys a parameter holds. Their entries then take and return the same in the same order,
/// sharded alike. Streams that an instruction rounds by are no names: what draws from others is another program.
pub fn are_alike(one: &Module, other: &Module) -> bool {
    let phases = (one.phase, one.bidirectional, one.functions.len());
    let functions = || one.functions.iter().zip(&other.functions).all(|(one, other)| are_functions_alike(one, other));
    phases == (other.phase, other.bidirectional, other.functions.len()) && functions() && are_laid_alike(one, other)
}

/// Whether two functions of one module, or of two, are the same but for names.
pub(crate) fn are_functions_alike(one: &Function, other: &Function) -> bool {
    let flags = (one.noinline, one.rounds, one.effect) == (other.noinline, other.rounds, other.effect);
    let sizes = (one.params.len(), one.insts.len(), one.results.len(), one.values.len());
    let roles = || {
        let roles = one.params.iter().zip(&other.params);
        roles.into_iter().all(|(one, other)| one.value == other.value && are_roles_alike(&one.role, &other.role))
    };
    let values =
        || one.values.iter().zip(&other.values).all(|(one, other)| (&one.ty, one.def) == (&other.ty, other.def));
    let insts = || one.insts.iter().zip(&other.insts).all(|(one, other)| are_insts_alike(one, other));
    flags
        && sizes == (other.params.len(), other.insts.len(), other.results.len(), other.values.len())
        && roles()
        && values()
        && insts()
        && are_results_alike(one, other)
}

fn are_insts_alike(one: &Inst, other: &Inst) -> bool {
    (&one.op, &one.args, &one.results, &one.rounding) == (&other.op, &other.args, &other.results, &other.rounding)
}

fn are_roles_alike(one: &ParamRole, other: &ParamRole) -> bool {
    match (one, other) {
        (ParamRole::State(one), ParamRole::State(other)) => {
            (&one.kind, one.of.is_some(), one.sum) == (&other.kind, other.of.is_some(), other.sum)
        }
        (ParamRole::Weight(one), ParamRole::Weight(other)) => {
            (one.decay, &one.group, one.frozen, one.output) == (other.decay, &other.group, other.frozen, other.output)
        }
        (ParamRole::Known(Content::Keys(_)), ParamRole::Known(Content::Keys(_))) => true,
        (ParamRole::Known(one), ParamRole::Known(other)) => one == other,
        _ => discriminant(one) == discriminant(other),
    }
}

/// Results of the same values in the same roles, which replace the same parameters.
fn are_results_alike(one: &Function, other: &Function) -> bool {
    let (of_one, of_other) = (positions(one), positions(other));
    let replaced = |of: &FxHashMap<&str, usize>, result: &FuncResult| match &result.role {
        ResultRole::State(name) => of.get(&**name).copied(),
        _ => None,
    };
    one.results.iter().zip(&other.results).all(|(one, other)| {
        let roles = discriminant(&one.role) == discriminant(&other.role);
        roles && one.value == other.value && replaced(&of_one, one) == replaced(&of_other, other)
    })
}

/// The position of each parameter, by name.
fn positions(function: &Function) -> FxHashMap<&str, usize> {
    function.params.iter().enumerate().map(|(at, param)| (&*param.name, at)).collect()
}

/// Whether the entries of two modules are sharded alike.
fn are_laid_alike(one: &Module, other: &Module) -> bool {
    let layouts = (one.layout.as_deref(), other.layout.as_deref());
    let (Some(of_one), Some(of_other)) = layouts else { return layouts.0.is_none() && layouts.1.is_none() };
    let (Some(one), Some(other)) = (one.entry(), other.entry()) else { return false };
    let params = one.params.iter().zip(&other.params);
    let results = one.results.iter().zip(&other.results);
    let same = |layouts: (&Layout, &Layout)| layouts.0.mesh == layouts.1.mesh;
    same((of_one, of_other))
        && params.into_iter().all(|(one, other)| of_one.of_param(one) == of_other.of_param(other))
        && results.into_iter().all(|(one, other)| of_one.of_result(one) == of_other.of_result(other))
}
