//! `simplify`.

mod arithmetic;
mod candidate;
mod choice;
mod convert;
mod dot;
mod movement;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use candidate::{Candidate, Rewrite, Uses};
use halite_ir::{Function, InferCx, Inst, Module, Op, Rewriter, Value, rewrite_planned};
use halite_support::{Name, Result};
use std::sync::Arc;

/// Local rewrites by named rules, each exact bit for bit: no rule changes a rounding, a random bit, a NaN or the sign
/// of a zero, and none looks across an instruction with an effect. One forward walk, in which a rewritten instruction is
/// offered to the rules again until none fires; what becomes dead is left to `dce`. A function to which no rule applies
/// is not rebuilt.
///
/// ```text
/// %zero = constant -0.0 : f32[4]
/// %a = add %x, %zero : f32[4]          =>    %b = negate %x : f32[4]
/// %b = negate %a : f32[4]
/// ```
#[derive(Debug)]
pub(crate) struct Simplify {
    /// The rules that are tried.
    rules: &'static [Rule],
}

impl Default for Simplify {
    /// All rules.
    fn default() -> Self {
        Self { rules: RULES }
    }
}

impl Pass for Simplify {
    fn info(&self) -> PassInfo {
        PassInfo::new("simplify", "apply exact local rewrites", Relation::Identical)
            .example(golden!("simplify/arithmetic" @ "add_negative_zero_fires"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let rules = self.rules;
        let plan = |cx: InferCx<'_>, function: &Function| any_fires(function, cx, rules).then_some(());
        let fired = rewrite_planned(module, cx.registry, plan, |rewriter, source, ()| {
            let (counts, mut uses) = (Uses::of(source), Uses::default());
            for param in &source.params {
                uses.inherit(rewriter.value(param.value)?, param.value, &counts);
            }
            for inst in &source.insts {
                rewrite_or_copy(rewriter, source, inst, &uses, rules)?;
                for &old in &inst.results {
                    uses.inherit(rewriter.value(old)?, old, &counts);
                }
            }
            Ok(())
        })?;
        Ok(Changed::when(fired))
    }

    fn rules(&self) -> Vec<Name> {
        self.rules.iter().map(|rule| rule.name.into()).collect()
    }

    fn with_rules(&self, count: usize) -> Option<Arc<dyn Pass>> {
        Some(Arc::new(Self { rules: &self.rules[..count.min(self.rules.len())] }))
    }
}

/// A named rewrite of one instruction.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Its name, in kebab case.
    name: &'static str,
    /// Returns a replacement of the instruction, if the rule applies to it.
    apply: fn(&Candidate<'_>) -> Option<Rewrite>,
}

const fn rule(name: &'static str, apply: fn(&Candidate<'_>) -> Option<Rewrite>) -> Rule {
    Rule { name, apply }
}

/// All rules; the first that applies fires.
static RULES: &[Rule] = &[
    rule("constant-right", arithmetic::constant_right),
    rule("add-negative-zero", arithmetic::add_negative_zero),
    rule("subtract-zero", arithmetic::subtract_zero),
    rule("multiply-one", arithmetic::multiply_one),
    rule("divide-one", arithmetic::divide_one),
    rule("negate-negate", arithmetic::negate_negate),
    rule("add-negate", arithmetic::add_negate),
    rule("subtract-negate", arithmetic::subtract_negate),
    rule("multiply-negates", arithmetic::multiply_negates),
    rule("maximum-lowest", arithmetic::maximum_lowest),
    rule("minimum-highest", arithmetic::minimum_highest),
    rule("clamp-unbounded", arithmetic::clamp_unbounded),
    rule("equal-operands", choice::equal_operands),
    rule("and-all", choice::and_all),
    rule("and-none", choice::and_none),
    rule("or-all", choice::or_all),
    rule("or-none", choice::or_none),
    rule("not-not", choice::not_not),
    rule("not-compare", choice::not_compare),
    rule("select-not", choice::select_not),
    rule("select-select", choice::select_select),
    rule("select-same", choice::select_same),
    rule("select-constant", choice::select_constant),
    rule("compare-constant-right", choice::compare_constant_right),
    rule("compare-same", choice::compare_same),
    rule("convert-identity", convert::identity),
    rule("convert-widening-pair", convert::widening_pair),
    rule("convert-of-reshape", convert::of_reshape),
    rule("splat-movement", movement::splat),
    rule("reshape-identity", movement::reshape_identity),
    rule("reshape-reshape", movement::reshape_reshape),
    rule("transpose-identity", movement::transpose_identity),
    rule("transpose-transpose", movement::transpose_transpose),
    rule("transpose-of-ones", movement::transpose_of_ones),
    rule("transpose-of-dot", dot::transposed),
    rule("dot-of-transpose", dot::of_transpose),
    rule("broadcast-identity", movement::broadcast_identity),
    rule("broadcast-broadcast", movement::broadcast_broadcast),
    rule("broadcast-of-reshape", movement::broadcast_of_reshape),
    rule("reshape-of-broadcast", movement::reshape_of_broadcast),
    rule("reduce-of-broadcast", movement::reduce_of_broadcast),
    rule("reduce-of-one", movement::reduce_of_one),
    rule("reverse-reverse", movement::reverse_reverse),
    rule("slice-identity", movement::slice_identity),
    rule("slice-slice", movement::slice_slice),
    rule("slice-of-broadcast", movement::slice_of_broadcast),
    rule("slice-of-concatenate", movement::slice_of_concatenate),
    rule("concatenate-one", movement::concatenate_one),
    rule("concatenate-concatenate", movement::concatenate_concatenate),
    rule("concatenate-of-slices", movement::concatenate_of_slices),
    rule("pad-nothing", movement::pad_nothing),
];

/// The names of the rules of `simplify`, in the order in which they are tried.
pub fn simplify_rules() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name)
}

/// Whether a rule applies to some instruction.
fn any_fires(function: &Function, cx: InferCx<'_>, rules: &'static [Rule]) -> bool {
    let uses = &Uses::of(function);
    let fires = |inst: &Inst| first(&Candidate { rules, function, cx, uses, op: &inst.op, args: &inst.args }).is_some();
    function.insts.iter().any(|inst| !inst.rounds_at_random() && fires(inst))
}

fn rewrite_or_copy(
    b: &mut Rewriter<'_>,
    source: &Function,
    inst: &Inst,
    uses: &Uses,
    rules: &'static [Rule],
) -> Result<()> {
    if inst.rounds_at_random() {
        return b.copy(source, inst);
    }
    let args = b.values(&inst.args)?;
    match rewritten(&Candidate { rules, function: b.function(), cx: b.infer_cx(), uses, op: &inst.op, args: &args }) {
        None => b.copy(source, inst)?,
        Some(Rewrite::To(value)) => b.replace_all(inst, &[value]),
        Some(Rewrite::As(op, args)) => write(b, source, inst, *op, &args)?,
        Some(Rewrite::Then(first, args, last)) => {
            let outer = b.set_loc(inst.loc);
            let between = b.emit(*first, &args)?;
            b.set_loc(outer);
            write(b, source, inst, *last, &[between])?;
        }
    }
    Ok(())
}

/// Writes what stands for an instruction.
fn write(b: &mut Rewriter<'_>, source: &Function, inst: &Inst, op: Op, args: &[Value]) -> Result<()> {
    let outer = b.set_loc(inst.loc);
    let results = b.emit_all(op, args)?;
    b.set_loc(outer);
    b.keep_names(source, inst, &results);
    b.replace_all(inst, &results);
    Ok(())
}

/// The rewrite of the first rule that applies.
fn first(candidate: &Candidate<'_>) -> Option<Rewrite> {
    candidate.rules.iter().find_map(|rule| (rule.apply)(candidate))
}

/// The replacement of an instruction after as many rules as apply.
fn rewritten(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let mut last = first(candidate)?;
    while let Rewrite::As(op, args) = &last {
        match first(&Candidate { op, args, ..*candidate }) {
            Some(rewrite) => last = rewrite,
            None => break,
        }
    }
    Some(last)
}

#[cfg(test)]
mod tests {
    #[test]
    fn rules_have_different_names() {
        let mut names: Vec<_> = super::simplify_rules().collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
