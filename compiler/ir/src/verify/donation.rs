//! Donation in phase `legal`.
//!
//! Each parameter of the entry with a replacement is donated: the replacement may be written into its buffer as soon as it
//! is computed. So no instruction after the one that computes the replacement reads the parameter, and no other result
//! returns it. The instruction that computes the replacement may read it, and a parameter that is its own replacement may
//! be read anywhere. A replacement that is another parameter counts as computed before the first instruction. XLA itself
//! would add a copy where this is broken; on Neuron it is a hazard, so it is an error here.
//!
//! A call reads all its arguments. One that computes the replacement of an argument donates it to its callee, where the
//! same holds.

use super::Errors;
use super::phase::{broken, replacements};
use crate::ops::Op;
use crate::syntax::{Def, FuncId, FuncResult, Function, Inst, Module, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// A parameter, and the result that takes its buffer.
type Donation = (Value, Value);

/// Checks the entry and what it donates to.
pub(super) fn check(module: &Module, entry: &Function, errors: &mut Errors<'_>) {
    let params: FxHashMap<&str, Value> = entry.params.iter().map(|param| (&*param.name, param.value)).collect();
    let donation = |(of, result): (&str, &FuncResult)| Some((*params.get(of)?, result.value));
    let donated = replacements(entry).filter_map(donation).collect();
    let mut checker = Checker { module, seen: FxHashSet::default(), errors };
    checker.function(FuncId::new(module.functions.len() - 1), donated);
}

struct Checker<'a, 'e, 'm> {
    module: &'a Module,
    seen: FxHashSet<(FuncId, Vec<Donation>)>,
    errors: &'e mut Errors<'m>,
}

impl Checker<'_, '_, '_> {
    fn function(&mut self, id: FuncId, mut donated: Vec<Donation>) {
        donated.retain(|(param, replacement)| param != replacement);
        if donated.is_empty() || !self.seen.insert((id, donated.clone())) {
            return;
        }
        let function = self.module.function(id);
        let mut written = vec![None; function.values.len()];
        for &(param, replacement) in &donated {
            written[param.index()] = Some(computed_at(function, replacement));
        }
        for (at, inst) in function.insts.iter().enumerate() {
            for &arg in &inst.args {
                if written[arg.index()].is_some_and(|computed| computed < Some(at)) {
                    let (op, name) = (inst.op.name(), name(function, arg));
                    let message = format!("`{op}` reads `{name}` after its replacement is computed");
                    self.errors.at_inst(id, at, broken(message));
                }
            }
            if let Op::Call(call) = &inst.op {
                self.function(call.callee, passed_on(inst, self.module.function(call.callee), &donated));
            }
        }
        for result in function.results.iter().filter(|result| written[result.value.index()].is_some()) {
            let message = format!("a result returns `{}`, which is replaced", name(function, result.value));
            self.errors.at_return(id, broken(message));
        }
    }
}

/// The position of the instruction that computes a value: `None` is before the first.
fn computed_at(function: &Function, value: Value) -> Option<usize> {
    match function.values[value.index()].def {
        Def::Param(_) => None,
        Def::Inst(at, _) => Some(at as usize),
    }
}

fn name(function: &Function, param: Value) -> &str {
    function.params.iter().find(|own| own.value == param).map_or("", |own| &*own.name)
}

/// What a call donates to its callee.
fn passed_on(call: &Inst, callee: &Function, donated: &[Donation]) -> Vec<Donation> {
    let mut passed = Vec::new();
    for &(param, replacement) in donated {
        let Some(result) = call.results.iter().position(|&own| own == replacement) else { continue };
        let taken = call.args.iter().zip(&callee.params).filter(|(arg, _)| **arg == param);
        passed.extend(taken.map(|(_, inner)| (inner.value, callee.results[result].value)));
    }
    passed
}
