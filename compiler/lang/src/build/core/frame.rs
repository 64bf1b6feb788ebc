//! Functions under way: the entry, and those that are called.

use crate::build::Caller;
use crate::ops::Declared;
use halite_ir::{Draft, Value as Id};
use halite_support::Name;
use indexmap::IndexMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// A tensor of a model under way: a value of a function, which may have returned. It is plain data, which means nothing to
/// other models.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Handle {
    pub(super) owner: Owner,
    /// The number of the function.
    pub(super) frame: usize,
    pub(super) value: Id,
}

/// The model that a handle belongs to: no two models of a process have the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Owner(u64);

impl Owner {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A function that is being written.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Its number among all that were begun.
    number: usize,
    /// The instructions written so far; empty while an operation runs.
    pub(super) draft: Draft,
    /// How many scopes were entered when it was begun.
    pub(super) scopes: usize,
    /// The weights declared so far, in order.
    pub(super) weights: Vec<Declared<Caller>>,
    /// The values of functions around it that it reads, each with the parameter in its place.
    pub(super) captures: IndexMap<Handle, Id>,
}

impl Frame {
    pub(super) fn new(number: usize, name: Name, scopes: usize) -> Self {
        Self { number, draft: Draft::new(name), scopes, weights: Vec::new(), captures: IndexMap::new() }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The value of a handle in this function; `None` for one of another function that was not read yet. The handle is one of this
    /// model.
    pub(super) fn value(&self, handle: Handle) -> Option<Id> {
        if handle.frame == self.number { Some(handle.value) } else { self.captures.get(&handle).copied() }
    }
}
