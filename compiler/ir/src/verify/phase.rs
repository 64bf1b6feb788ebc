//! The rules of each phase.
//!
//! | phase | rule |
//! |---|---|
//! | `built` | no result is a gradient |
//! | after `built` | a gradient, and the scale of one, names a parameter of its function |
//! | `step` | the state of the entry is closed |
//! | `legal` | no composite; no stochastic rounding that is not realized; the state of the entry is closed; donation is safe |
//!
//! **Closed state.** Each weight and state parameter of the entry has exactly one replacement, of its type, and each replacement is of
//! such a parameter. Where nothing but transient state is replaced, all of that alone has one. In `legal`, an entry without
//! replacements need not have any if it has no state of a weight. An entry that is a task of a pipeline has at most one for each: the
//! other tasks of its stage have the rest.
//!
//! **Donation.** In `legal`, each parameter of the entry with a replacement is donated: see `donation.rs`.

use super::donation::{self, replacements};
use super::{Errors, broken};
use crate::ops::Op;
use crate::syntax::{FuncId, Function, Module, Param, ParamRole, Phase, ResultRole};
use crate::ty::TensorType;
use halite_tensor::DType;
use rustc_hash::{FxHashMap, FxHashSet};

/// A rule that phases have beyond structure and types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum PhaseRule {
    /// Gradients are results where there may be some, and of parameters.
    Gradients,
    /// Each weight and state parameter of the entry has one replacement, of its type.
    ClosedState,
    /// No stochastic rounding is left to be realized.
    RealizedRounding,
    /// No composite is left.
    NoComposite,
    /// Nothing reads a donated buffer after its replacement is computed.
    Donation,
}

/// Checks the rules of a phase.
pub(super) fn check(module: &Module, phase: Phase, errors: &mut Errors<'_>) {
    errors.rule = Some(PhaseRule::Gradients);
    for (index, function) in module.functions.iter().enumerate() {
        check_gradients(phase, FuncId::new(index), function, errors);
    }
    let Some(entry) = module.entry() else { return };
    let id = FuncId::new(module.functions.len() - 1);
    if phase == Phase::Step || phase == Phase::Legal && has_state(entry) {
        errors.rule = Some(PhaseRule::ClosedState);
        check_closed(id, entry, errors);
    }
    if phase == Phase::Legal {
        check_legal(module, errors);
        errors.rule = Some(PhaseRule::Donation);
        donation::check(module, entry, errors);
    }
}

fn check_gradients(phase: Phase, id: FuncId, function: &Function, errors: &mut Errors<'_>) {
    let params: FxHashSet<&str> = function.params.iter().map(|param| &*param.name).collect();
    for result in &function.results {
        if result.role == ResultRole::Finite && *function.ty(result.value) != TensorType::scalar(DType::Pred) {
            let found = function.ty(result.value);
            errors.at_return(id, broken(format!("whether the update is to be made is `{found}`, not `pred[]`")));
        }
        let (what, of) = match &result.role {
            ResultRole::Gradient(of) => ("gradient", of),
            ResultRole::Scale(of) => ("scale", of),
            _ => continue,
        };
        if phase == Phase::Built {
            errors.at_return(id, broken(format!("a {what} of `{of}` among the results in phase `built`")));
        } else if !params.contains(&**of) {
            errors.at_return(id, broken(format!("a {what} of `{of}`, which is no parameter")));
        }
        if what == "scale" && !is_float_scalar(function.ty(result.value)) {
            let found = function.ty(result.value);
            errors.at_return(id, broken(format!("the scale of `{of}` is `{found}`, not a scalar of floats")));
        }
    }
}

fn is_float_scalar(ty: &TensorType) -> bool {
    ty.rank() == 0 && ty.dtype().is_float()
}

fn is_state(param: &Param) -> bool {
    matches!(param.role, ParamRole::Weight(_) | ParamRole::State(_))
}

fn is_transient(param: &Param) -> bool {
    matches!(&param.role, ParamRole::State(spec) if spec.transient)
}

fn is_sum(param: &Param) -> bool {
    matches!(&param.role, ParamRole::State(spec) if spec.sum)
}

/// Whether the entry updates anything: weights have state, or there is a replacement. What only reads other state does not.
fn has_state(entry: &Function) -> bool {
    entry.params.iter().any(|param| param.role.weight_of().is_some())
        || entry.results.iter().any(|result| matches!(result.role, ResultRole::State(_)))
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
    // A module that only hands on what passes between the modules of an update leaves the rest as it is. One that updates the rest
    // may read sums as they are: the next update starts them.
    let replaced = |param: &&Param| states.get(&*param.name).is_some_and(|(_, count)| *count > 0);
    let only_transient = entry.params.iter().filter(replaced).any(is_transient)
        && entry.params.iter().filter(replaced).all(is_transient);
    for param in entry.params.iter().filter(|param| is_state(param) && (is_transient(param) || !only_transient)) {
        match states.get(&*param.name).map_or(0, |(_, count)| *count) {
            0 if entry.task.is_some() || (is_sum(param) && !only_transient) => {}
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
            if let Some(stream) = inst.stream() {
                errors.rule = Some(PhaseRule::RealizedRounding);
                let message = format!("`{name}` rounds by the stream `{stream}`, which nothing has realized");
                errors.at_inst(FuncId::new(index), at, broken(message).help("run `annotate-rounding` before"));
            }
            if matches!(inst.op, Op::Composite(_)) {
                errors.rule = Some(PhaseRule::NoComposite);
                errors.at_inst(
                    FuncId::new(index),
                    at,
                    broken(format!("composite `{name}` in phase `legal`"))
                        .help("state an earlier phase, or write its decomposition"),
                );
            }
        }
    }
}
