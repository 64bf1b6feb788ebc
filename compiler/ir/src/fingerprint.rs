//! A structural hash of modules.

use crate::syntax::Module;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// A hash of everything that gives a module its meaning: phase, signatures and instructions, without names of values
/// and locations. Equal modules have equal fingerprints within one build of the compiler.
pub fn fingerprint(module: &Module) -> u64 {
    let mut hasher = FxHasher::default();
    module.phase.hash(&mut hasher);
    for function in &module.functions {
        function.name.hash(&mut hasher);
        for param in &function.params {
            (&param.name, param.value, function.ty(param.value)).hash(&mut hasher);
            format!("{:?}", param.role).hash(&mut hasher);
        }
        for inst in &function.insts {
            (&inst.op, &inst.args, &inst.results).hash(&mut hasher);
        }
        for result in &function.results {
            (&result.name, result.value).hash(&mut hasher);
            format!("{:?}", result.role).hash(&mut hasher);
        }
    }
    hasher.finish()
}
