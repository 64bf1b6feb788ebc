//! Where everything of functions lies.

use super::decide::Decision;
use super::fact::{Fact, Placement, SubAxes};
use super::known::Functions;
use halite_ir::FuncId;
use halite_tensor::{DType, Mesh, Sharding};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A function with what is known of its arguments and where its results had better lie.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) function: FuncId,
    pub(super) params: Vec<Fact>,
    pub(super) preferences: Vec<Option<Sharding>>,
}

/// Where everything of a function lies.
#[derive(Debug)]
pub(super) struct Plan {
    /// For each instruction.
    pub(super) steps: Vec<Step>,
    /// For each value what is known of it, where it is made.
    pub(super) facts: Vec<Fact>,
    /// For each value that is made as terms of a sum: where the sum lies once it is needed, or terms of it over fewer ranks.
    pub(super) materialized: Vec<Option<Placement>>,
    /// Where each result is returned.
    pub(super) results: Vec<Fact>,
    /// For each parameter, where all that read it want it.
    pub(super) wanted: Vec<Option<Sharding>>,
    /// For each parameter that is zero, as which terms of a sum it is read.
    pub(super) terms: Vec<SubAxes>,
}

/// Where an instruction is computed.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) decision: Decision,
    /// What is called, for a call.
    pub(super) callee: Option<Rc<Key>>,
}

/// What planning needs to know besides the functions.
pub(super) struct Given<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) functions: &'a Functions,
    /// What sums over ranks are made in, where what they are of is narrowed to it.
    pub(super) reduce: DType,
    /// The sub-axes along which sums are shared out over a sequence instead of repeated.
    pub(super) along_sequence: SubAxes,
    /// Where the entry's parameters that are replaced lie, and thus their replacements.
    pub(super) state: FxHashMap<String, Placement>,
}

/// All plans so far, each after those of what it calls.
#[derive(Default)]
pub(super) struct Plans {
    pub(super) done: Vec<(Rc<Key>, Rc<Plan>)>,
    pub(super) index: FxHashMap<Rc<Key>, usize>,
}

impl Plans {
    pub(super) fn get(&self, key: &Key) -> Option<&Rc<Plan>> {
        self.index.get(key).map(|&at| &self.done[at].1)
    }
}
