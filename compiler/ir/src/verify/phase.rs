//! What each phase forbids.
//!
//! | phase | rule |
//! |---|---|
//! | `built` | no result is a gradient |
//! | after `built` | a gradient names a parameter of its function |
//! | `step` | the state of the entry is closed: each weight and state parameter has exactly one replacement, of its type, and each replacement is of such a parameter |
//! | `legal` | no composite and no call; the state is closed as in `step`, unless the entry only reads weights; donation is safe |
//!
//! **Donation.** In `legal`, each parameter of the entry with a replacement is donated: the replacement may be written
//! into its buffer as soon as it is computed. So no instruction after the one that computes the replacement reads the
//! parameter, and no other result returns it. The instruction that computes the replacement may read it, and a parameter
//! that is its own replacement may be read anywhere. A replacement that is another parameter counts as computed before the
//! first instruction. XLA itself would add a copy where this is broken; on Neuron it is a hazard, so it is an error here.

use super::Errors;
use crate::ops::Op;
use crate::syntax::{Def, FuncId, FuncResult, Function, Module, Param, ParamRole, Phase, ResultRole};
use halite_support::{Diagnostic, codes};
use rustc_hash::{FxHashMap, FxHashSet};

/// Checks the rules of the module's phase.
pub(super) fn check(module: &Module, errors: &mut Errors<'_>) {
    for (index, function) in module.functions.iter().enumerate() {
        check_gradients(module.phase, FuncId::new(index), function, errors);
    }
    let Some(entry) = module.entry() else { return };
    let id = FuncId::new(module.functions.len() - 1);
    if module.phase == Phase::Step || module.phase == Phase::Legal && has_state(entry) {
        check_closed(id, entry, errors);
    }
    if module.phase == Phase::Legal {
        check_legal(module, errors);
        check_donation(id, entry, errors);
    }
}

fn broken(message: String) -> Diagnostic {
    Diagnostic::error(codes::PHASE, message)
}

fn check_gradients(phase: Phase, id: FuncId, function: &Function, errors: &mut Errors<'_>) {
    let params: FxHashSet<&str> = function.params.iter().map(|param| &*param.name).collect();
    for result in &function.results {
        let ResultRole::Gradient(of) = &result.role else { continue };
        if phase == Phase::Built {
            errors.at_return(id, broken(format!("a gradient of `{of}` among the results in phase `built`")));
        } else if !params.contains(&**of) {
            errors.at_return(id, broken(format!("a gradient of `{of}`, which is no parameter")));
        }
    }
}

fn is_state(param: &Param) -> bool {
    matches!(param.role, ParamRole::Weight(_) | ParamRole::State(_))
}

/// Whether the entry updates anything: it has slots beside the weights, or a replacement.
fn has_state(entry: &Function) -> bool {
    entry.params.iter().any(|param| matches!(param.role, ParamRole::State(_)))
        || entry.results.iter().any(|result| matches!(result.role, ResultRole::State(_)))
}

/// The results that replace a parameter, with that parameter's name.
fn replacements(function: &Function) -> impl Iterator<Item = (&str, &FuncResult)> {
    let replaced = |result: &'_ FuncResult| matches!(result.role, ResultRole::State(_));
    function
        .results
        .iter()
        .filter(move |result| replaced(result))
        .filter_map(|result| if let ResultRole::State(of) = &result.role { Some((&**of, result)) } else { None })
}

fn check_closed(id: FuncId, entry: &Function, errors: &mut Errors<'_>) {
    let mut states: FxHashMap<&str, (&Param, usize)> =
        entry.params.iter().filter(|param| is_state(param)).map(|param| (&*param.name, (param, 0))).collect();
    for (of, result) in replacements(entry) {
        let Some((param, count)) = states.get_mut(of) else {
            errors.at_return(id, broken(format!("a result replaces `{of}`, which is no weight or state parameter")));
            continue;
        };
        *count += 1;
        let (expected, found) = (entry.ty(param.value), entry.ty(result.value));
        if expected != found {
            errors.at_return(id, broken(format!("`{of}` is `{expected}`, its replacement is `{found}`")));
        }
    }
    for param in entry.params.iter().filter(|param| is_state(param)) {
        match states.get(&*param.name).map_or(0, |(_, count)| *count) {
            0 => errors.at_return(id, broken(format!("`{}` has no replacement among the results", param.name))),
            1 => {}
            count => errors.at_return(id, broken(format!("`{}` has {count} replacements", param.name))),
        }
    }
}

fn check_legal(module: &Module, errors: &mut Errors<'_>) {
    for (index, function) in module.functions.iter().enumerate() {
        for (at, inst) in function.insts.iter().enumerate() {
            let name = inst.op.name();
            if matches!(inst.op, Op::Composite(_)) {
                errors.at_inst(
                    FuncId::new(index),
                    at,
                    broken(format!("composite `{name}` in phase `legal`"))
                        .help("state an earlier phase, or write its decomposition"),
                );
            } else if matches!(inst.op, Op::Call(_)) {
                errors.at_inst(FuncId::new(index), at, broken("a call in phase `legal`".to_owned()));
            }
        }
    }
}

/// When a donated parameter's replacement is computed: `None` is before the first instruction.
fn computed_at(entry: &Function, result: &FuncResult) -> Option<usize> {
    match entry.values[result.value.index()].def {
        Def::Param(_) => None,
        Def::Inst(at, _) => Some(at as usize),
    }
}

fn check_donation(id: FuncId, entry: &Function, errors: &mut Errors<'_>) {
    let params: FxHashMap<&str, &Param> = entry.params.iter().map(|param| (&*param.name, param)).collect();
    let mut written: Vec<Option<(Option<usize>, &Param)>> = vec![None; entry.values.len()];
    for (of, result) in replacements(entry) {
        if let Some(&param) = params.get(of).filter(|param| param.value != result.value) {
            written[param.value.index()] = Some((computed_at(entry, result), param));
        }
    }
    for (at, inst) in entry.insts.iter().enumerate() {
        for arg in &inst.args {
            if let Some((computed, param)) = written[arg.index()]
                && computed.is_none_or(|computed| computed < at)
            {
                let (op, name) = (inst.op.name(), &param.name);
                errors.at_inst(id, at, broken(format!("`{op}` reads `{name}` after its replacement is computed")));
            }
        }
    }
    for result in &entry.results {
        if let Some((_, param)) = written[result.value.index()] {
            errors.at_return(id, broken(format!("a result returns `{}`, which is replaced", param.name)));
        }
    }
}
