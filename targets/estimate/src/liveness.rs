//! The lifetimes of temporaries.

use super::graph::Graph;
use super::storage::{Home, StepId, Steps};
use halite_hlo::graph::Lifetimes;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The lifetimes of temporaries.
pub(super) struct Liveness<'s> {
    steps: &'s Steps,
    order: &'s [StepId],
    /// When results begin and are last read, by the position in the order.
    lives: Lifetimes,
    /// Steps whose results lie in memory of the module's results until these are written.
    borrowed: Vec<bool>,
}

/// An event in the lifetimes of temporaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// The result of a step gets memory.
    Begins(StepId),
    /// A step runs with what is live.
    Runs(StepId),
    /// The memory of a step's result is free.
    Ends(StepId),
}

impl<'s> Liveness<'s> {
    /// The lives of temporaries when steps run in the given order.
    pub(super) fn new(steps: &'s Steps, order: &'s [StepId]) -> Self {
        let num = steps.steps.len();
        let reads = |step: usize| steps.reads(step as StepId).iter().map(|read| *read as usize);
        let lives = Lifetimes::new(num, order.iter().map(|step| *step as usize), reads);
        Self { steps, order, lives, borrowed: vec![false; num] }
    }

    /// The position at which a result is last read.
    pub(super) fn last_read(&self, step: StepId) -> u32 {
        self.lives.last(step as usize)
    }

    /// Puts temporaries into results that take no parameter's memory, the largest first, as long as they end before the
    /// result is written.
    pub(super) fn borrow_results(&mut self, graph: &Graph<'_>, aliased: &FxHashSet<u32>) {
        let fresh = graph.results().iter().enumerate().filter(|(index, _)| !aliased.contains(&(*index as u32)));
        let fresh: FxHashSet<u32> = fresh.map(|(_, value)| *value).collect();
        let lenders: Vec<StepId> = self.order.iter().copied().filter(|step| self.lends(*step, &fresh)).collect();
        if lenders.is_empty() {
            return;
        }
        let mut temporaries: Vec<StepId> =
            self.order.iter().copied().filter(|step| self.home(*step) == Home::Temporary).collect();
        temporaries.sort_by_key(|step| std::cmp::Reverse(self.bytes(*step)));
        for lender in lenders.into_iter().take(MAX_LOOKS / temporaries.len().max(1)) {
            let mut guests: BTreeMap<u32, u32> = BTreeMap::new();
            for &step in &temporaries {
                let (begin, last) = (self.lives.begin(step as usize), self.lives.last(step as usize));
                let fits = self.bytes(step) <= self.bytes(lender) && self.bytes(step) * 4 > self.bytes(lender);
                let free = !self.borrowed[step as usize] && last < self.lives.begin(lender as usize);
                // Guests do not overlap, so the last one that begins in time ends last of those.
                let is_apart = || guests.range(..=last).next_back().is_none_or(|(_, end)| *end < begin);
                if fits && free && is_apart() {
                    self.borrowed[step as usize] = true;
                    guests.insert(begin, last);
                }
            }
        }
    }

    fn home(&self, step: StepId) -> Home {
        self.steps.steps[step as usize].home
    }

    fn bytes(&self, step: StepId) -> u64 {
        self.steps.steps[step as usize].bytes
    }

    fn lends(&self, step: StepId, fresh: &FxHashSet<u32>) -> bool {
        let step = &self.steps.steps[step as usize];
        step.home == Home::Result && step.bytes > LEAST_LENT && fresh.contains(&step.value)
    }

    /// Calls `visit` with every event, in order. A step that may store in place takes the memory of an operand of its size that ends
    /// with it.
    pub(super) fn walk(&self, mut visit: impl FnMut(Change)) {
        let mut ends = vec![Vec::new(); self.order.len()];
        for &step in self.order {
            if self.is_counted(step) {
                ends[self.last_read(step) as usize].push(step);
            }
        }
        for (&id, ends) in self.order.iter().zip(&ends) {
            let mut replaced = None;
            if self.is_counted(id) {
                if self.steps.steps[id as usize].in_place {
                    replaced = ends.iter().find(|end| **end != id && self.bytes(**end) == self.bytes(id)).copied();
                }
                if let Some(replaced) = replaced {
                    visit(Change::Ends(replaced));
                }
                visit(Change::Begins(id));
            }
            visit(Change::Runs(id));
            for &end in ends.iter().filter(|end| Some(**end) != replaced) {
                visit(Change::Ends(end));
            }
        }
    }

    fn is_counted(&self, step: StepId) -> bool {
        self.home(step) == Home::Temporary && !self.borrowed[step as usize]
    }
}

/// Results of fewer bytes are not considered.
const LEAST_LENT: u64 = 1024;
/// The most pairs of a result and a temporary that are considered; real modules have far fewer.
const MAX_LOOKS: usize = 1 << 26;
