//! A structural hash of modules.

use crate::syntax::{Function, Module};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// A hash of everything that gives a module its meaning: phase, signatures and instructions, without the numbers and
/// names of values and without locations. Equal modules have equal fingerprints within one build of the compiler.
pub fn fingerprint(module: &Module) -> u64 {
    let mut hasher = FxHasher::default();
    module.phase.hash(&mut hasher);
    for function in &module.functions {
        hash_function(function, &mut hasher);
    }
    hasher.finish()
}

fn hash_function(function: &Function, hasher: &mut FxHasher) {
    let numbers = canonical_numbers(function);
    (&function.name, function.noinline, function.rounds, function.task).hash(hasher);
    for param in &function.params {
        (&param.name, function.ty(param.value)).hash(hasher);
        format!("{:?}", param.role).hash(hasher);
    }
    for inst in &function.insts {
        (&inst.op, &inst.rounding).hash(hasher);
        inst.args.iter().for_each(|arg| numbers[arg.index()].hash(hasher));
    }
    for result in &function.results {
        (&result.name, numbers[result.value.index()]).hash(hasher);
        format!("{:?}", result.role).hash(hasher);
    }
}

/// The number of each value when parameters are counted first, then results in the order of instructions.
fn canonical_numbers(function: &Function) -> Vec<usize> {
    let params = function.params.iter().map(|param| param.value);
    let results = function.insts.iter().flat_map(|inst| inst.results.iter().copied());
    let mut numbers = vec![usize::MAX; function.values.len()];
    for (number, value) in params.chain(results).enumerate() {
        numbers[value.index()] = number;
    }
    numbers
}
