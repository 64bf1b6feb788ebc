//! Donation in phase `legal`.
//!
//! Each parameter of the entry with a replacement is donated: the replacement may be written into its buffer as soon as it
//! is computed. So no instruction after the one that computes the replacement reads the parameter, and no other result
//! returns it. The instruction that computes the replacement may read it, and a parameter that is its own replacement may
//! be read anywhere. A replacement that is another parameter counts as computed before the first instruction. XLA itself
//! would add a copy where this is broken; a target's compiler may not, so it is an error here.
//!
//! A call reads all its arguments. One that computes the replacement of an argument donates it to its callee, where the
//! same holds.

use super::{Errors, broken};
use crate::edge::Edge;
use crate::syntax::{Def, FuncId, FuncResult, Function, Module, ResultRole, Value};
use rustc_hash::FxHashMap;

/// A parameter, and the result that takes its buffer.
type Donation = (Value, Value);

/// Checks the entry and what it donates to. Callers come after callees, so that all that a function is donated is known
/// when it is looked at, and each is looked at once.
pub(super) fn check(module: &Module, entry: &Function, errors: &mut Errors<'_>) {
    let params: FxHashMap<&str, Value> = entry.params.iter().map(|param| (&*param.name, param.value)).collect();
    let donation = |(of, result): (&str, &FuncResult)| Some((*params.get(of)?, result.value));
    let mut donated: Vec<Vec<Donation>> = vec![Vec::new(); module.functions.len()];
    if let Some(last) = donated.last_mut() {
        last.extend(replacements(entry).filter_map(donation));
    }
    for at in (0..module.functions.len()).rev() {
        let mut own = std::mem::take(&mut donated[at]);
        own.retain(|(param, replacement)| param != replacement);
        own.sort_unstable();
        own.dedup();
        if !own.is_empty() {
            check_function(module, FuncId::new(at), &own, &mut donated, errors);
        }
    }
}

/// The results that replace a parameter, with that parameter's name.
pub(super) fn replacements(function: &Function) -> impl Iterator<Item = (&str, &FuncResult)> {
    let replaced = |result: &'_ FuncResult| matches!(result.role, ResultRole::State(_));
    function
        .results
        .iter()
        .filter(move |result| replaced(result))
        .filter_map(|result| if let ResultRole::State(of) = &result.role { Some((&**of, result)) } else { None })
}

/// Checks a function that is donated buffers, and says what its calls donate.
fn check_function(
    module: &Module,
    id: FuncId,
    own: &[Donation],
    donated: &mut [Vec<Donation>],
    errors: &mut Errors<'_>,
) {
    let function = module.function(id);
    let written = written(function, own);
    let mut replaced: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
    for &(param, replacement) in own {
        replaced.entry(replacement).or_default().push(param);
    }
    for (at, inst) in function.insts.iter().enumerate() {
        for &arg in &inst.args {
            if written[arg.index()].is_some_and(|computed| computed < Some(at)) {
                let (op, name) = (inst.op.name(), name(function, arg));
                let message = format!("`{op}` reads `{name}` after its replacement is computed");
                errors.at_inst(
                    id,
                    at,
                    broken(message).help("compute the replacement after all that reads the old value"),
                );
            }
        }
        for edge in inst.calls() {
            let passed = passed_on(edge, module.function(edge.callee), &replaced);
            donated[edge.callee.index()].extend(passed);
        }
    }
    for result in function.results.iter().filter(|result| written[result.value.index()].is_some()) {
        let message = format!("a result returns `{}`, which is replaced", name(function, result.value));
        errors.at_return(id, broken(message));
    }
}

/// For each donated parameter the position of the first instruction that computes a replacement; `None` is before all.
fn written(function: &Function, own: &[Donation]) -> Vec<Option<Option<usize>>> {
    let mut written: Vec<Option<Option<usize>>> = vec![None; function.values.len()];
    for &(param, replacement) in own {
        let computed = match function.values[replacement.index()].def {
            Def::Param(_) => None,
            Def::Inst(at, _) => Some(at as usize),
        };
        let first = written[param.index()].map_or(computed, |known| known.min(computed));
        written[param.index()] = Some(first);
    }
    written
}

fn name(function: &Function, value: Value) -> &str {
    match function.values[value.index()].def {
        Def::Param(at) => function.params.get(at as usize).map_or("", |param| &*param.name),
        Def::Inst(..) => "",
    }
}

/// The donations of a call to its callee. `replaced` lists for each value the parameters that it replaces.
fn passed_on<'a>(
    edge: Edge<'a>,
    callee: &'a Function,
    replaced: &'a FxHashMap<Value, Vec<Value>>,
) -> impl Iterator<Item = Donation> + 'a {
    let mut taken: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
    for (inner, result) in edge.returns(callee) {
        for &param in replaced.get(&result).into_iter().flatten() {
            taken.entry(param).or_default().push(inner);
        }
    }
    edge.params(callee).flat_map(move |(param, arg)| {
        let replacements = taken.get(&arg).cloned().unwrap_or_default();
        replacements.into_iter().map(move |replacement| (param, replacement))
    })
}
