//! Names that the pattern of an exception could have been meant for.

use crate::framework::pattern::matches_pattern;
use halite_ir::paths::family;
use halite_ir::{Function, Inst, Module, Op, ParamRole, Registry};
use halite_recipe::PrecisionOverride;
use halite_support::nearest::{list, nearest_first};
use std::collections::BTreeSet;

/// The most names that are shown.
const SHOWN: usize = 4;

/// Notes on the names that the module has, for an exception that matches nothing.
pub(super) fn notes(missed: &PrecisionOverride, module: &Module, registry: &Registry) -> Vec<String> {
    if let Some(pattern) = &missed.parameter {
        let params = module.entry().map(|entry| entry.params.as_slice()).unwrap_or_default();
        let weights = params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
        let names = weights.flat_map(|param| param.originals()).map(family).collect();
        return some("parameters are named like", pattern, &names).into_iter().collect();
    }
    let fits = |name: &str| missed.op.as_ref().is_none_or(|pattern| matches_pattern(pattern, name));
    let all = || module.functions.iter().flat_map(|function| &function.insts).filter(|inst| has_types(inst));
    match (&missed.op, &missed.scope) {
        (Some(op), _) if !all().any(|inst| fits(inst.op.name())) => {
            let names = all().map(|inst| inst.op.name().to_owned()).collect();
            let why = holders(op, module, registry).or_else(|| parts(op, registry));
            why.into_iter().chain(some("ops that occur:", op, &names)).collect()
        }
        (_, Some(scope)) => {
            let scopes = all().filter(|inst| fits(inst.op.name())).map(|inst| family(&module.locs.scope(inst.loc)));
            let scopes = scopes.filter(|scope| !scope.is_empty()).collect();
            some("scopes in which they occur:", scope, &scopes).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Whether an exception could be about an instruction.
fn has_types(inst: &Inst) -> bool {
    !matches!(inst.op, Op::Constant(_) | Op::Convert(_)) && inst.op.callee().is_none()
}

fn some(what: &str, pattern: &str, names: &BTreeSet<String>) -> Option<String> {
    let near = nearest_first(pattern, names.iter().map(String::as_str));
    let shown = &near[..near.len().min(SHOWN)];
    (!shown.is_empty()).then(|| format!("{what} {}", list(shown)))
}

/// The composites inside which an op occurs.
fn holders(op: &str, module: &Module, registry: &Registry) -> Option<String> {
    let (mut seen, mut holders) = (BTreeSet::new(), Vec::new());
    for function in &module.functions {
        for inst in &function.insts {
            if seen.insert(inst.op.name()) && holds(op, function, inst, registry) {
                holders.push(inst.op.name());
            }
        }
    }
    let only = || format!("`{op}` occurs only inside {}, to which overrides apply as a whole", list(&holders));
    (!holders.is_empty()).then(only)
}

/// Auto-diff leaves no composite that has no gradient of its own.
fn parts(op: &str, registry: &Registry) -> Option<String> {
    let composite = registry.composite(op).ok().filter(|composite| composite.vjp().is_none())?;
    Some(format!("`{}` is differentiated as the ops that it consists of: overrides go for those", composite.name()))
}

/// Whether an op occurs in the decomposition of an instruction, or in one of those in it.
fn holds(op: &str, function: &Function, inst: &Inst, registry: &Registry) -> bool {
    let Op::Composite(composite) = &inst.op else { return false };
    let types: Vec<_> = inst.args.iter().map(|&arg| function.ty(arg)).collect();
    composite.decompose(registry, &types).is_ok_and(|body| {
        body.insts.iter().any(|inner| matches_pattern(op, inner.op.name()) || holds(op, &body, inner, registry))
    })
}
