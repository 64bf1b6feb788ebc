//! Instructions that may be computed again.

use crate::framework::pattern::matches_pattern;
use halite_ir::paths::nested;
use halite_ir::{FuncId, InferCx, Inst, LocKind, LocTable, Op, OpClass};
use halite_recipe::{Recipe, Recompute, RecomputePolicy, RecomputeWhere};
use halite_support::{Diagnostic, Result, codes};
use std::cell::Cell;

/// The composites whose insides `attention` computes again.
const ATTENTION: [&str; 2] = ["causal_attention", "causal_attention_grad"];

/// The instructions that a recipe lets a backward compute again.
#[derive(Debug)]
pub(super) struct Policy<'a> {
    entries: &'a [Recompute],
    /// For each entry, whether it is no pattern, or matched something.
    matched: Vec<Cell<bool>>,
    /// Whether everything may be: a budget says how much is.
    everything: bool,
    /// Whether every narrowing rounds with bits of its own: then none may happen twice.
    narrows_once: bool,
}

/// The function in which an instruction stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionOf<'a> {
    /// The scope in which it is called.
    pub(super) scope: &'a str,
    /// Whether it is a part of a pipeline, which the model calls once.
    pub(super) is_part: bool,
}

impl<'a> Policy<'a> {
    pub(super) fn of(recipe: &'a Recipe) -> Self {
        let entries = &recipe.recompute;
        Self {
            entries,
            matched: entries.iter().map(|entry| Cell::new(pattern(entry).is_none())).collect(),
            everything: matches!(entries[..], [Recompute::Where(RecomputeWhere { budget: Some(_), .. })]),
            narrows_once: recipe.precision.rounds_everywhere(),
        }
    }

    /// Whether calls are told apart by their scopes.
    pub(super) fn names_scopes(&self) -> bool {
        self.entries.iter().filter_map(pattern).any(|pattern| pattern.scope.is_some())
    }

    /// Whether an instruction of a function may be computed again.
    pub(super) fn allows(&self, cx: &InferCx<'_>, locs: &LocTable, inst: &Inst, of: FunctionOf<'_>) -> bool {
        let has = |policy| self.entries.contains(&Recompute::Policy(policy));
        let is_matched = self.is_matched(locs, inst, of.scope);
        let effect = inst.op.def().effect(cx);
        let rounds = inst.rounds_at_random() || (self.narrows_once && inst.rounding.is_some());
        // All ranks run one program, so that all of them take part again.
        let repeats = (effect.movable || effect.ordered) && effect.mergeable;
        // What a part calls, such as a layer, says for itself what is computed again.
        let is_layer = of.is_part && inst.op.callee().is_some() && work(cx, inst) == Work::Products;
        if has(RecomputePolicy::None) || rounds || !repeats || is_layer {
            return false;
        }
        let is_attention = || has(RecomputePolicy::Attention) && is_within(locs, inst, &ATTENTION);
        let is_block = has(RecomputePolicy::Block) && !of.is_part;
        if self.everything || is_matched || is_block || is_attention() {
            return true;
        }
        match work(cx, inst) {
            Work::Products => false,
            Work::Sums => has(RecomputePolicy::Dots),
            Work::Elements => true,
        }
    }

    /// Whether a pattern matches an instruction; all patterns that do are noted.
    fn is_matched(&self, locs: &LocTable, inst: &Inst, outer: &str) -> bool {
        let mut any = false;
        for (entry, matched) in self.entries.iter().zip(&self.matched) {
            let Some(RecomputeWhere { op, scope, .. }) = pattern(entry) else { continue };
            let in_scope = |pattern: &String| matches_pattern(pattern, &nested(outer, locs.scope(inst.loc)));
            if op.as_ref().is_none_or(|op| matches_pattern(op, inst.op.name())) && scope.as_ref().is_none_or(in_scope) {
                matched.set(true);
                any = true;
            }
        }
        any
    }

    /// # Errors
    /// When a pattern matched nothing.
    pub(super) fn check(&self) -> Result<()> {
        let Some(index) = self.matched.iter().position(|matched| !matched.get()) else { return Ok(()) };
        let Some(RecomputeWhere { op, scope, .. }) = pattern(&self.entries[index]) else { return Ok(()) };
        let text = |key, pattern: &Option<String>| pattern.as_ref().map(|pattern| format!("{key} = \"{pattern}\""));
        let patterns: Vec<String> = [text("op", op), text("scope", scope)].into_iter().flatten().collect();
        let message =
            format!("`recompute` {{ {} }} matches nothing that a backward reads the results of", patterns.join(", "));
        let error = Diagnostic::error(codes::PATTERN, message).key(format!("recompute.{index}"));
        Err(error
            .note("what is computed again is that of functions that the model calls several times, as the block of each layer")
            .help("correct the pattern (`*` matches any text) or remove it; `halite inspect --all` lists ops and scopes"))
    }
}

/// The work of computing something again, the cheapest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    Elements,
    Sums,
    Products,
}

/// The greatest work of an instruction; that of a call or a kernel is in its callee.
fn work(cx: &InferCx<'_>, inst: &Inst) -> Work {
    let mut most = own_work(cx, inst);
    let mut open: Vec<FuncId> = inst.op.callee().into_iter().collect();
    let mut seen = vec![false; cx.functions.len()];
    while let Some(callee) = open.pop() {
        let Some(function) = cx.functions.get(callee.index()) else { return Work::Products };
        if std::mem::replace(&mut seen[callee.index()], true) {
            continue;
        }
        for inst in &function.insts {
            most = most.max(own_work(cx, inst));
            open.extend(inst.op.callee());
        }
    }
    most
}

fn own_work(cx: &InferCx<'_>, inst: &Inst) -> Work {
    match inst.op {
        _ if inst.op.callee().is_some() => Work::Elements,
        Op::Reduce(_) => Work::Sums,
        _ => match inst.op.def().policy(cx).class {
            OpClass::Matmul => Work::Products,
            OpClass::Accumulate => Work::Sums,
            OpClass::Elementwise | OpClass::Sensitive | OpClass::Storage | OpClass::Integer => Work::Elements,
        },
    }
}

fn pattern(entry: &Recompute) -> Option<&RecomputeWhere> {
    match entry {
        Recompute::Where(entry) if entry.budget.is_none() => Some(entry),
        _ => None,
    }
}

/// Whether an instruction comes from one of these composites.
fn is_within(locs: &LocTable, inst: &Inst, composites: &[&str]) -> bool {
    locs.chain(inst.loc).any(|kind| matches!(kind, LocKind::Composite(name) if composites.contains(&&**name)))
}
