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
    let mut open: IndexSet<&str> = program.functions.keys().copied().collect();
    let mut recursive = IndexSet::new();
    loop {
        remove_leaves(&mut open, calls);
        let Some(&start) = open.first() else { return recursive };
        let cycle = find_cycle(start, &open, calls);
        let names: Vec<_> = cycle.iter().map(|(name, _)| format!("`{name}`")).collect();
        let (first, span) = cycle[0];
        let message = format!("function `{first}` calls itself");
        let path = format!("{} calls {}", names.join(" calls "), names[0]);
        findings.errors.push(Diagnostic::error(codes::RECURSION, message).at(span, "by this call").note(path));
        for (name, _) in cycle {
            open.shift_remove(name);
            recursive.insert(name);
        }
    }
}

/// Removes functions that call no open function, until every open one does.
fn remove_leaves<'m>(open: &mut IndexSet<&'m str>, calls: &Calls<'m>) {
    let mut pending: IndexMap<&str, usize> = IndexMap::new();
    let mut callers: IndexMap<&str, Vec<&'m str>> = IndexMap::new();
    for &name in open.iter() {
        let callees: Vec<_> = open_callees(name, open, calls).collect();
        pending.insert(name, callees.len());
        for (callee, _) in callees {
            callers.entry(callee).or_default().push(name);
        }
    }
    let mut leaves: Vec<&str> = pending.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    while let Some(leaf) = leaves.pop() {
        open.swap_remove(leaf);
        for &caller in callers.get(leaf).into_iter().flatten() {
            pending[caller] -= 1;
            if pending[caller] == 0 {
                leaves.push(caller);
            }
        }
    }
    open.sort();
}

fn open_callees<'m, 'c>(
    name: &str,
    open: &'c IndexSet<&'m str>,
    calls: &'c Calls<'m>,
) -> impl Iterator<Item = (&'m str, Span)> + 'c {
    calls.get(name).into_iter().flatten().copied().filter(|(callee, _)| open.contains(callee))
}

/// Follows calls from `start` until a function comes again; every open function calls an open one.
fn find_cycle<'m>(start: &'m str, open: &IndexSet<&'m str>, calls: &Calls<'m>) -> Vec<(&'m str, Span)> {
    let mut path: IndexMap<&str, Span> = IndexMap::new();
    let mut name = start;
    loop {
        if let Some(first) = path.get_index_of(name) {
            return path.into_iter().skip(first).collect();
        }
        let next = open_callees(name, open, calls).next();
        let (callee, span) = next.expect("leaves were removed");
        path.insert(name, span);
        name = callee;
    }
}
