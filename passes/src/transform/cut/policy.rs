//! What may be computed again.

use halite_ir::{InferCx, Inst, LocKind, LocTable, Op, OpClass};
use halite_recipe::{Recipe, Recompute};

/// The composites whose insides `attention` computes again.
const ATTENTION: [&str; 2] = ["causal_attention", "causal_attention_grad"];

/// What a recipe lets a backward compute again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy<'a> {
    words: &'a [Recompute],
    /// Whether every narrowing rounds with bits of its own: then none may happen twice.
    narrows_once: bool,
}

impl<'a> Policy<'a> {
    pub(super) fn of(recipe: &'a Recipe) -> Self {
        Self { words: &recipe.recompute, narrows_once: recipe.precision.rounds_everywhere() }
    }

    /// Whether an instruction may be.
    pub(super) fn allows(&self, cx: &InferCx<'_>, locs: &LocTable, inst: &Inst) -> bool {
        let has = |word| self.words.contains(&word);
        let effect = inst.op.def().effect(cx);
        let rounds = inst.rounds_at_random() || (self.narrows_once && inst.rounding.is_some());
        if has(Recompute::None) || rounds || !effect.movable || !effect.mergeable {
            return false;
        }
        if has(Recompute::Block) || (has(Recompute::Attention) && is_within(locs, inst, &ATTENTION)) {
            return true;
        }
        match inst.op {
            Op::Call(_) | Op::KernelCall(_) => false,
            _ => match inst.op.def().policy(cx).class {
                OpClass::Matmul => false,
                OpClass::Accumulate => has(Recompute::Dots),
                OpClass::Elementwise | OpClass::Sensitive | OpClass::Storage | OpClass::Integer => {
                    has(Recompute::Dots) || !matches!(inst.op, Op::Reduce(_))
                }
            },
        }
    }
}

/// Whether an instruction comes from one of these composites.
fn is_within(locs: &LocTable, inst: &Inst, composites: &[&str]) -> bool {
    locs.chain(inst.loc).any(|kind| matches!(kind, LocKind::Composite(name) if composites.contains(&&**name)))
}
