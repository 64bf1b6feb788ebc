//! Plans: the placements of all values and instructions of functions.

use super::decide::Decision;
use super::delayed::Delayed;
use super::fact::{Fact, Placement, Read, SubAxes};
use super::known::Functions;
use halite_ir::{FuncId, Value};
use halite_tensor::{DType, Mesh, Sharding};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A function, with the facts about its arguments and the preferred shardings of its results.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) function: FuncId,
    pub(super) params: Vec<Fact>,
    pub(super) preferences: Vec<Option<Sharding>>,
}

/// The placements of all values and instructions of a function.
#[derive(Debug)]
pub(super) struct Plan {
    /// For each instruction.
    pub(super) steps: Vec<Step>,
    /// For each value, the facts about it where it is made.
    pub(super) facts: Vec<Fact>,
    /// For each value that is made as a partial sum, the placement of the sum once it is needed, or of a partial sum over fewer ranks.
    pub(super) materialized: Vec<Option<Placement>>,
    /// The facts about each result where it is returned.
    pub(super) results: Vec<Fact>,
    /// For each parameter, the sharding that all its readers want.
    pub(super) wanted: Vec<Option<Sharding>>,
    /// For each parameter that is zero, the sub-axes along which it is read as terms of a sum.
    pub(super) terms: Vec<SubAxes>,
}

impl Plan {
    /// The facts about a value where it is read.
    pub(super) fn read(&self, value: Value) -> Read<'_> {
        let made = &self.facts[value.index()];
        Read { made, place: self.materialized[value.index()].as_ref().unwrap_or(&made.place) }
    }
}

/// The placement of an instruction.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) decision: Rc<Decision>,
    /// The callee, for a call.
    pub(super) callee: Option<Rc<Key>>,
}

/// The inputs of planning besides the functions.
pub(super) struct Given<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) functions: &'a Functions,
    /// The partial sums that are passed on to several readers.
    pub(super) delayed: Delayed,
    /// The element type of sums over ranks of narrower numbers.
    pub(super) reduce: DType,
    /// The sub-axes along which sums are shared out over a sequence instead of repeated.
    pub(super) along_sequence: SubAxes,
    /// The placements of the entry's parameters that are replaced, and thus of their replacements.
    pub(super) state: FxHashMap<String, Placement>,
}

/// All plans so far, each after those of its callees.
#[derive(Default)]
pub(super) struct Plans {
    pub(super) done: Vec<(Rc<Key>, Rc<Plan>)>,
    pub(super) index: FxHashMap<Rc<Key>, usize>,
}

impl Plans {
    pub(super) fn get(&self, key: &Key) -> Option<&Rc<Plan>> {
        self.index.get(key).map(|&at| &self.done[at].1)
    }

    /// The plans that a plan calls on, itself included.
    pub(super) fn needed(&self, entry: &Key) -> FxHashSet<Rc<Key>> {
        let mut needed = FxHashSet::default();
        let mut open = vec![Rc::new(entry.clone())];
        while let Some(key) = open.pop() {
            let Some(plan) = self.get(&key) else { continue };
            if needed.insert(key) {
                open.extend(plan.steps.iter().filter_map(|step| step.callee.clone()));
            }
        }
        needed
    }
}
