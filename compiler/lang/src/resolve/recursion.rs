//! Functions that call themselves.

use super::{Findings, Program};
use halite_support::{Diagnostic, Span, codes};
use indexmap::{IndexMap, IndexSet};

type Calls<'m> = IndexMap<&'m str, Vec<(&'m str, Span)>>;

/// Reports each cycle of calls once and returns the places of all calls of functions on cycles.
pub(super) fn check(program: &Program<'_>, calls: &Calls<'_>, findings: &mut Findings) -> Vec<Span> {
    let recursive = recursive_functions(program, calls, findings);
    let all = calls.values().flatten();
    all.filter(|(callee, _)| recursive.contains(callee)).map(|(_, span)| *span).collect()
}

fn recursive_functions<'m>(program: &Program<'m>, calls: &Calls<'m>, findings: &mut Findings) -> IndexSet<&'m str> {
    let mut open = Open::new(program, calls);
    let mut recursive = IndexSet::new();
    let mut names: Vec<&str> = program.functions.keys().copied().collect();
    names.sort_unstable();
    for start in names {
        let (mut path, mut name) = (IndexMap::new(), start);
        while open.contains(name) {
            let Some(cycle) = open.follow(name, &mut path) else { break };
            report(&cycle, findings);
            for &(name, _) in &cycle {
                open.close(name);
                recursive.insert(name);
            }
            // Functions that led to the cycle alone are closed as well; from the rest there are more ways to go.
            while path.last().is_some_and(|(name, _)| !open.contains(name)) {
                path.pop();
            }
            name = path.pop().map_or(start, |(name, _)| name);
        }
    }
    recursive
}

fn report(cycle: &[(&str, Span)], findings: &mut Findings) {
    let names: Vec<_> = cycle.iter().map(|(name, _)| format!("`{name}`")).collect();
    let (first, span) = cycle[0];
    let message = format!("function `{first}` calls itself");
    let path = format!("{} calls {}", names.join(" calls "), names[0]);
    findings.errors.push(Diagnostic::error(codes::RECURSION, message).at(span, "by this call").note(path));
}

/// The functions that call an open function: what is on a cycle, or leads to one, and is not reported yet.
struct Open<'c, 'm> {
    calls: &'c Calls<'m>,
    callers: IndexMap<&'m str, Vec<&'m str>>,
    /// For each open function how many of its calls are of open ones.
    pending: IndexMap<&'m str, usize>,
    /// For each function the first of its calls that may be of an open one: none is opened again.
    next: IndexMap<&'m str, usize>,
}

impl<'c, 'm> Open<'c, 'm> {
    fn new(program: &Program<'m>, calls: &'c Calls<'m>) -> Self {
        let mut open = Self { calls, callers: IndexMap::new(), pending: IndexMap::new(), next: IndexMap::new() };
        for &name in program.functions.keys() {
            let callees = calls.get(name).map_or(&[][..], Vec::as_slice);
            open.pending.insert(name, callees.len());
            for &(callee, _) in callees {
                open.callers.entry(callee).or_default().push(name);
            }
        }
        let leaves: Vec<&str> = open.pending.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
        leaves.into_iter().for_each(|leaf| open.close(leaf));
        open
    }

    fn contains(&self, name: &str) -> bool {
        self.pending.contains_key(name)
    }

    /// Closes a function, and with it those that call no open one any more.
    fn close(&mut self, name: &'m str) {
        let mut closing = vec![name];
        while let Some(name) = closing.pop() {
            if self.pending.swap_remove(name).is_none() {
                continue;
            }
            for &caller in self.callers.get(name).into_iter().flatten() {
                if let Some(count) = self.pending.get_mut(caller) {
                    *count -= 1;
                    if *count == 0 {
                        closing.push(caller);
                    }
                }
            }
        }
    }

    /// Follows calls from an open function, after those that lead to it, until a function comes again: takes what is
    /// between off the path. Every open function calls an open one.
    fn follow(&mut self, start: &'m str, path: &mut IndexMap<&'m str, Span>) -> Option<Vec<(&'m str, Span)>> {
        let mut name = start;
        loop {
            if let Some(first) = path.get_index_of(name) {
                return Some(path.split_off(first).into_iter().collect());
            }
            let callees = self.calls.get(name)?;
            let next = self.next.entry(name).or_default();
            while !self.pending.contains_key(callees.get(*next)?.0) {
                *next += 1;
            }
            let (callee, span) = callees[*next];
            path.insert(name, span);
            name = callee;
        }
    }
}
