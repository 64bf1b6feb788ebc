//! Reads of the values of a function.

use halite_ir::{Function, Value};

/// The number of reads of each value of a function, and the last instruction that reads it.
pub(super) struct Uses {
    count: Vec<u32>,
    last: Vec<u32>,
}

impl Uses {
    pub(super) fn of(function: &Function) -> Self {
        let mut uses = Self { count: vec![0; function.values.len()], last: vec![0; function.values.len()] };
        for (at, inst) in (0u32..).zip(&function.insts) {
            for arg in &inst.args {
                uses.count[arg.index()] += 1;
                uses.last[arg.index()] = at;
            }
        }
        for result in &function.results {
            uses.count[result.value.index()] += 1;
        }
        uses
    }

    /// Whether a value is read at one place.
    pub(super) fn is_read_once(&self, value: Value) -> bool {
        self.count[value.index()] == 1
    }

    /// The position of the one instruction that reads a value.
    pub(super) fn only(&self, function: &Function, value: Value) -> Option<usize> {
        let at = self.last[value.index()] as usize;
        let reads = function.insts.get(at).is_some_and(|inst| inst.args.contains(&value));
        (self.is_read_once(value) && reads).then_some(at)
    }
}
