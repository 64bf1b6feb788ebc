//! The partial sums of which it was decided whether they are passed on.

use halite_ir::{FuncId, Value};
use rustc_hash::FxHashMap;

/// For partial sums whether they are passed on to what reads them. Of those that are not here, the ones that are read once are.
#[derive(Default, Debug)]
pub(super) struct Delayed(FxHashMap<(FuncId, Value), bool>);

impl Delayed {
    /// Whether a value that is a partial sum is passed on as such; `None` where that is not decided.
    pub(super) fn passes(&self, function: FuncId, value: Value) -> Option<bool> {
        self.0.get(&(function, value)).copied()
    }

    /// Whether nothing is decided.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Decides about a value, unless that is done.
    pub(super) fn decide(&mut self, value: (FuncId, Value), passes: bool) {
        self.0.entry(value).or_insert(passes);
    }
}
