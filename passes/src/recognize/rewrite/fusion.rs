//! A pass made of rules.

use super::rule::Rule;
use super::select::{Match, Selection, select};
use super::view::MatchCx;
use crate::framework::example::Example;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::framework::remark::Remark;
use halite_ir::{Function, LocId, Module, Phase, Rewriter, rewrite_planned};
use halite_support::{Name, Result};
use std::sync::Arc;

/// A pass that replaces what its rules match by composites, and drops what nothing reads any longer.
#[derive(Clone, Debug)]
pub struct Fusion {
    name: &'static str,
    summary: &'static str,
    ulps: u32,
    rules: Vec<Rule>,
    example: Option<Example>,
}

impl Fusion {
    /// A pass of these rules, which keeps results within `ulps` units of roundoff.
    pub(crate) fn new(name: &'static str, summary: &'static str, ulps: u32, rules: Vec<Rule>) -> Self {
        Self { name, summary, ulps, rules, example: None }
    }

    /// The same, shown by this in the reference.
    #[must_use]
    pub(crate) fn example(self, example: Example) -> Self {
        Self { example: Some(example), ..self }
    }

    /// The names of the rules.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.rules.iter().map(|rule| rule.replacement.rule)
    }

    /// The same with the rules in another order, which makes no difference to what it does.
    ///
    /// # Panics
    /// When `order` names a position that there is not.
    #[must_use]
    pub fn reordered(&self, order: &[usize]) -> Self {
        Self { rules: order.iter().map(|&at| self.rules[at].clone()).collect(), ..self.clone() }
    }
}

impl Pass for Fusion {
    fn info(&self) -> PassInfo {
        let info = PassInfo::new(self.name, self.summary, Relation::Ulp(self.ulps)).needs(Phase::Built..=Phase::Built);
        PassInfo { example: self.example, ..info }
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut notes = Vec::new();
        let fused = rewrite_planned(
            module,
            cx.registry,
            |infer, function| {
                let selection = select(&infer, function, &self.rules)?;
                if cx.explains() {
                    notes.push((function.name.clone(), self.notes(function, &selection)));
                }
                (!selection.taken.is_empty()).then_some(selection)
            },
            rewrite,
        )?;
        for (function, notes) in notes {
            let Some(function) = module.find(&function) else { continue };
            for (remark, loc) in notes {
                cx.explain(|| remark.at(module, function, loc));
            }
        }
        Ok(Changed::when(fused))
    }

    fn rules(&self) -> Vec<Name> {
        self.rules.iter().map(|rule| rule.replacement.rule.into()).collect()
    }

    fn with_rules(&self, count: usize) -> Option<Arc<dyn Pass>> {
        let rules = self.rules.iter().take(count).cloned().collect();
        Some(Arc::new(Self { rules, ..self.clone() }))
    }
}

impl Fusion {
    /// Says what was done and what almost was, in the order of the instructions.
    fn notes(&self, function: &Function, selection: &Selection<'_>) -> Vec<(Remark, LocId)> {
        let taken = |matched: &Match<'_>| {
            (
                matched.root,
                Remark::taken(
                    self.name,
                    matched.rule.replacement.rule,
                    format!("becomes `{}`", matched.rule.replacement.composite),
                ),
            )
        };
        let missed = |matched: &Match<'_>| {
            (
                matched.root,
                Remark::missed(self.name, matched.rule.replacement.rule, matched.bindings.obstacles.concat()),
            )
        };
        let mut all: Vec<_> = selection.taken.iter().map(taken).chain(selection.missed.iter().map(missed)).collect();
        all.sort_by_key(|(root, _)| *root);
        all.into_iter().map(|(root, remark)| (remark, function.insts[root].loc)).collect()
    }
}

fn rewrite(b: &mut Rewriter<'_>, source: &Function, selection: Selection<'_>) -> Result<()> {
    let mut taken = selection.taken.iter().peekable();
    for (at, inst) in source.insts.iter().enumerate() {
        let replaced = taken.next_if(|matched| matched.root == at);
        match replaced {
            _ if !selection.kept[at] => {}
            None => b.copy(source, inst)?,
            Some(matched) => {
                let outer = b.set_loc(inst.loc);
                let cx = MatchCx { registry: b.registry(), function: source, root: inst.results[0] };
                let value = matched.rule.emit(b, &matched.bindings, cx)?;
                b.set_loc(outer);
                b.keep_names(source, inst, &[value]);
                b.replace_all(inst, &[value]);
            }
        }
    }
    Ok(())
}
