//! Selects the matches of a function that are taken.
//!
//! 1. A match counts only where its root is needed at all.
//! 2. Of several at one root, the one with the most instructions is taken; of equal ones, that with the least name. So
//!    the order of the rules does not matter.
//! 3. A match whose root lies inside one taken is not. Roots are visited from the last one, so the larger of two nested
//!    matches wins.
//! 4. Inner values may be read from elsewhere too, and then stay beside the composite; but no composite and no transcendental function
//!    of as many elements as the result is computed a second time for that: such a match is given up, and the choice is made anew.
//!    Values that only other matches read do not stay.
//! 5. Of near misses, only those that lie in none of these and in no larger near miss are reported.

use super::bindings::Bindings;
use super::rule::Rule;
use super::view::MatchCx;
use halite_ir::{Def, Function, InferCx, Op, Registry, Value, graph};
use rustc_hash::FxHashSet;

/// A rule that fits somewhere, or almost does.
#[derive(Debug)]
pub(super) struct Match<'r> {
    /// The position of the root.
    pub(super) root: usize,
    pub(super) rule: &'r Rule,
    /// The bindings of its names.
    pub(super) bindings: Bindings,
}

/// The selection in a function.
#[derive(Debug)]
pub(super) struct Selection<'r> {
    /// The matches taken, by position.
    pub(super) taken: Vec<Match<'r>>,
    /// The near misses, by position.
    pub(super) missed: Vec<Match<'r>>,
    /// For each instruction, whether it is still there.
    pub(super) kept: Vec<bool>,
}

/// Chooses among the matches of some rules.
pub(super) fn select<'r>(cx: &InferCx<'_>, function: &Function, rules: &'r [Rule]) -> Option<Selection<'r>> {
    let mut matches = matches(cx.registry, function, rules);
    if matches.is_empty() {
        return None;
    }
    let needed = graph::live_insts(cx, function);
    matches.retain(|matched| needed[matched.root]);
    loop {
        let taken = choose(function, &matches);
        let live = reached(cx, function, &matches, &taken, |_| false);
        let repeated = repeated(function, &matches, &taken, &live);
        if repeated.is_empty() {
            let kept = reached(cx, function, &matches, &taken, |at| !needed[at]);
            return Some(finish(function, matches, &taken, kept));
        }
        for (at, value) in repeated {
            let name = name(function, value);
            matches[at].bindings.block(format!("{name} is read elsewhere too and would be computed twice"));
        }
    }
}

/// Every rule where it fits or almost does: last roots first, then by size, then by name.
fn matches<'r>(registry: &Registry, function: &Function, rules: &'r [Rule]) -> Vec<Match<'r>> {
    let mut matches = Vec::new();
    for (root, inst) in function.insts.iter().enumerate() {
        let &[result] = inst.results.as_slice() else { continue };
        if inst.rounds_at_random() || !function.ty(result).dtype().is_float() {
            continue;
        }
        let at_root = MatchCx { registry, function, root: result };
        let fitting = rules.iter().filter(|rule| rule.may_begin_at(&inst.op));
        matches.extend(fitting.filter_map(|rule| Some(Match { root, rule, bindings: rule.fit(&at_root)? })));
    }
    let rank = |matched: &Match<'r>| (matched.root, matched.bindings.insts.len());
    matches.sort_by(|a, b| rank(b).cmp(&rank(a)).then_with(|| a.rule.replacement.rule.cmp(b.rule.replacement.rule)));
    matches
}

/// The positions of the matches to take.
fn choose(function: &Function, matches: &[Match<'_>]) -> Vec<usize> {
    let (mut taken, mut covered) = (Vec::new(), FxHashSet::default());
    for (at, matched) in matches.iter().enumerate().filter(|(_, matched)| matched.bindings.obstacles.is_empty()) {
        if !covered.contains(&function.insts[matched.root].results[0]) {
            taken.push(at);
            covered.extend(matched.bindings.insts.iter().copied());
        }
    }
    taken
}

/// For each instruction, whether it is needed when composites replace the roots of these matches. One that `stays` names is needed.
fn reached(
    cx: &InferCx<'_>,
    function: &Function,
    matches: &[Match<'_>],
    taken: &[usize],
    stays: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut read = vec![false; function.values.len()];
    function.results.iter().for_each(|result| read[result.value.index()] = true);
    let mut reached = vec![false; function.insts.len()];
    let mut roots = taken.iter().map(|&at| &matches[at]).peekable();
    for (at, inst) in function.insts.iter().enumerate().rev() {
        let replaced = roots.next_if(|matched| matched.root == at);
        let is_kept = !inst.op.def().effect(cx).removable || stays(at);
        reached[at] = is_kept || inst.results.iter().any(|result| read[result.index()]);
        match replaced {
            _ if !reached[at] => {}
            Some(matched) => {
                matched.rule.replacement.reads(&matched.bindings).for_each(|value| read[value.index()] = true)
            }
            None => inst.args.iter().for_each(|arg| read[arg.index()] = true),
        }
    }
    reached
}

/// Matches that would have something costly computed twice, and its value.
fn repeated(function: &Function, matches: &[Match<'_>], taken: &[usize], live: &[bool]) -> Vec<(usize, Value)> {
    let size = |value: Value| function.ty(value).shape().num_elements();
    let stays = |root: usize, value: Value| {
        let Def::Inst(at, _) = function.values[value.index()].def else { return false };
        let at = at as usize;
        at != root && live[at] && is_costly(&function.insts[at].op)
    };
    let of_match = |&at: &usize| {
        let Match { root, bindings, .. } = &matches[at];
        let result = function.insts[*root].results[0];
        let large = |value: &&Value| size(**value) >= size(result);
        bindings.insts.iter().filter(large).find(|value| stays(*root, **value)).map(|&value| (at, value))
    };
    taken.iter().filter_map(of_match).collect()
}

fn is_costly(op: &Op) -> bool {
    matches!(
        op,
        Op::Cosine(_)
            | Op::Erf(_)
            | Op::Exponential(_)
            | Op::Log(_)
            | Op::Logistic(_)
            | Op::Power(_)
            | Op::Sine(_)
            | Op::Tanh(_)
            | Op::Composite(_)
    )
}

fn finish<'r>(function: &Function, matches: Vec<Match<'r>>, taken: &[usize], kept: Vec<bool>) -> Selection<'r> {
    let is_taken: FxHashSet<usize> = taken.iter().copied().collect();
    let mut covered: FxHashSet<Value> =
        taken.iter().flat_map(|&at| matches[at].bindings.insts.iter().copied()).collect();
    let mut selection = Selection { taken: Vec::new(), missed: Vec::new(), kept };
    for (at, matched) in matches.into_iter().enumerate() {
        let elsewhere = !covered.contains(&function.insts[matched.root].results[0]);
        if is_taken.contains(&at) {
            selection.taken.push(matched);
        } else if elsewhere && matched.bindings.obstacles.len() == 1 {
            covered.extend(matched.bindings.insts.iter().copied());
            selection.missed.push(matched);
        }
    }
    selection.taken.reverse();
    selection.missed.reverse();
    selection
}

/// A value for people: by its name, or by what defines it.
fn name(function: &Function, value: Value) -> String {
    match (&function.values[value.index()].hint, function.def(value)) {
        (Some(hint), _) => format!("`%{hint}`"),
        (None, Some(inst)) => format!("the `{}` inside", inst.op.name()),
        (None, None) => "a parameter".to_owned(),
    }
}
