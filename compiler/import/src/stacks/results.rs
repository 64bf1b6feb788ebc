//! Arrays that a loop fills, a row in each round.

use crate::rows::{self, Known};
use halite_ir::{Def, Function, Inst, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The instructions of an entry that put rows into an array until all are replaced: the array is its rows, one after another.
pub(super) struct Results {
    /// The rows, by the instruction that puts in the last.
    whole: FxHashMap<usize, Vec<Value>>,
    /// The instructions that put in the others.
    parts: FxHashSet<usize>,
}

impl Results {
    /// Those of an entry, where these scalars are known.
    pub(super) fn of(entry: &Function, known: &Known) -> Self {
        let mut found = Self { whole: FxHashMap::default(), parts: FxHashSet::default() };
        let row = |at: usize| rows::written(entry, &entry.insts[at], known);
        let writers: FxHashMap<usize, usize> = (0..entry.insts.len()).filter_map(|at| Some((at, row(at)?))).collect();
        let uses = uses(entry);
        // The writer of the array that another goes on with, where nothing else reads it.
        let before = |at: usize| match entry.values[entry.insts[at].args[0].index()].def {
            Def::Inst(own, _) => {
                Some(own as usize).filter(|own| writers.contains_key(own) && uses[entry.insts[at].args[0].index()] == 1)
            }
            Def::Param(_) => None,
        };
        let inner: FxHashSet<usize> = writers.keys().filter_map(|&at| before(at)).collect();
        for &end in writers.keys().filter(|at| !inner.contains(at)) {
            let chain: Vec<usize> = std::iter::successors(Some(end), |&at| before(at)).collect();
            let rows = entry.ty(entry.insts[end].args[0]).shape()[0];
            if rows < 2 || rows > chain.len() {
                continue;
            }
            let mut updates: Vec<Option<Value>> = vec![None; rows];
            for &at in &chain {
                updates[writers[&at]].get_or_insert(entry.insts[at].args[1]);
            }
            if let Some(updates) = updates.into_iter().collect::<Option<Vec<Value>>>() {
                found.whole.insert(end, updates);
                found.parts.extend(&chain[1..]);
            }
        }
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// The rows of the array that an instruction completes.
    pub(super) fn whole(&self, at: usize) -> Option<&[Value]> {
        self.whole.get(&at).map(Vec::as_slice)
    }

    /// Whether an instruction puts a row into an array that another completes.
    pub(super) fn is_part(&self, at: usize) -> bool {
        self.parts.contains(&at)
    }
}

/// How often each value is read.
fn uses(entry: &Function) -> Vec<u32> {
    let mut uses = vec![0; entry.values.len()];
    let read = entry.insts.iter().flat_map(|inst: &Inst| inst.args.iter().copied());
    read.chain(entry.results.iter().map(|result| result.value)).for_each(|value| uses[value.index()] += 1);
    uses
}
