//! How often, and in which scopes, the functions of a module run.

use halite_ir::paths::nested;
use halite_ir::{FuncId, Module};
use indexmap::IndexMap;
use std::cell::OnceCell;

/// How often, and in which scopes, each function runs in one run of the entry.
pub(crate) struct Calls<'m> {
    module: &'m Module,
    times: Vec<usize>,
    /// For each function its scopes, and how often it runs in each; made when something is found.
    scopes: OnceCell<Vec<IndexMap<String, usize>>>,
}

impl<'m> Calls<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        Self { module, times: times(module), scopes: OnceCell::new() }
    }

    /// How often a function runs.
    pub(crate) fn times(&self, function: FuncId) -> usize {
        self.times[function.index()]
    }

    /// The scopes of the calls of a function, each with how often it is called there; the entry runs in the empty one.
    pub(crate) fn scopes(&self, function: FuncId) -> &IndexMap<String, usize> {
        &self.scopes.get_or_init(|| scopes(self.module))[function.index()]
    }
}

/// How many scopes of a function are told apart: calls of calls have more than anyone reads.
const MAX_SCOPES: usize = 4096;

/// Callers come after what they call. What nothing calls runs once.
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
