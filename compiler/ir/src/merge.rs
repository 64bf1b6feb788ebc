//! Functions that are the same.

use crate::alike::are_functions_alike;
use crate::syntax::{FuncId, Function, Module};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

impl Module {
    /// Calls the first of those functions that are the same but for names, wherever another is called, and drops the others. The entry stays.
    pub fn merge_functions(&mut self) {
        let mut firsts: Vec<FuncId> = Vec::with_capacity(self.functions.len());
        let mut by_hash: FxHashMap<u64, Vec<FuncId>> = FxHashMap::default();
        for at in 0..self.functions.len() {
            // Callees come before callers.
            for inst in &mut self.functions[at].insts {
                inst.op.map_callees(|id: FuncId| firsts[id.index()]);
            }
            let function = &self.functions[at];
            let same = by_hash.entry(hash(function)).or_default();
            let first =
                same.iter().copied().find(|first| are_functions_alike(&self.functions[first.index()], function));
            firsts.push(first.unwrap_or(FuncId::new(at)));
            if first.is_none() {
                same.push(FuncId::new(at));
            }
        }
        self.drop_unreached();
    }
}

/// A hash of the ops of a function and what they read.
fn hash(function: &Function) -> u64 {
    let mut hasher = FxHasher::default();
    for inst in &function.insts {
        (&inst.op, &inst.args).hash(&mut hasher);
    }
    hasher.finish()
}
