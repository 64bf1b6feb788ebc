//! The number of runs of each function of a module, and the scopes of those runs.

use halite_ir::paths::nested;
use halite_ir::{FuncId, Module};
use indexmap::IndexMap;
use std::cell::OnceCell;

/// The number of runs of each function in one run of the entry, and their scopes.
pub(crate) struct Calls<'m> {
    module: &'m Module,
    times: Vec<usize>,
    /// For each function its scopes, each with the number of its runs there; computed when first asked for.
    scopes: OnceCell<Vec<IndexMap<String, usize>>>,
}

impl<'m> Calls<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        Self { module, times: times(module), scopes: OnceCell::new() }
    }

    /// The number of runs of a function.
    pub(crate) fn times(&self, function: FuncId) -> usize {
        self.times[function.index()]
    }

    /// The scopes of the calls of a function, each with the number of calls there; the entry runs in the empty one.
    pub(crate) fn scopes(&self, function: FuncId) -> &IndexMap<String, usize> {
        &self.scopes.get_or_init(|| scopes(self.module))[function.index()]
    }
}

/// The most scopes of a function that are told apart: calls of calls have more than anyone reads.
const MAX_SCOPES: usize = 4096;

/// The number of runs of each function. Callers come after callees. A function that nothing calls runs once.
fn times(module: &Module) -> Vec<usize> {
    let mut times = vec![0_usize; module.functions.len()];
    for (index, function) in module.functions.iter().enumerate().rev() {
        times[index] = times[index].max(1);
        for inst in &function.insts {
            for edge in inst.calls() {
                times[edge.callee.index()] = times[edge.callee.index()].saturating_add(times[index]);
            }
        }
    }
    times
}

fn scopes(module: &Module) -> Vec<IndexMap<String, usize>> {
    let mut scopes = vec![IndexMap::<String, usize>::new(); module.functions.len()];
    for (index, function) in module.functions.iter().enumerate().rev() {
        if scopes[index].is_empty() {
            scopes[index].insert(String::new(), 1);
        }
        let outer = std::mem::take(&mut scopes[index]);
        for inst in &function.insts {
            for edge in inst.calls() {
                let own = module.locs.scope(inst.loc);
                let inner = &mut scopes[edge.callee.index()];
                for (outer, times) in outer.iter().take(MAX_SCOPES.saturating_sub(inner.len())) {
                    let known = inner.entry(nested(outer, own.clone())).or_default();
                    *known = known.saturating_add(*times);
                }
            }
        }
        scopes[index] = outer;
    }
    scopes
}
