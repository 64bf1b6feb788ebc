//! `legalize`.

mod division;
mod resets;
mod unread;
mod written;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::framework::target::UnreadInputs;
use halite_ir::{Module, Op, Phase};
use halite_support::{Diagnostic, Result, codes};

/// Moves a module to phase `legal`.
///
/// CPU XLA takes every primitive and element type of the IR, and calls. Where the target asks for it, parameters of the entry
/// that nothing reads are dropped: a compiler that drops them itself gives inputs other numbers. Those that a result replaces stay, and
/// are read. Whole numbers are divided by comparison
/// where it may be done, on hardware that divides through a reciprocal. Constants that replace state are
/// made last. What the target takes of the rest is
/// judged on the HLO that is made of it, by the same rules as HLO that others made. Composites are refused here; reads of a
/// donated buffer after its replacement by the verification that follows.
///
/// ```text
/// func @main(%x: f32[4], %mask: f32[4]) -> (f32[4]) {      =>    func @main(%x: f32[4]) -> (f32[4]) {
///   %y = negate %x : f32[4]                                        %y = negate %x : f32[4]
///   return %y                                                      return %y
/// }                                                              }
/// ```
#[derive(Debug)]
pub(crate) struct Legalize;

impl Pass for Legalize {
    fn info(&self) -> PassInfo {
        PassInfo::new("legalize", "leave only what the target takes", Relation::Identical)
            .required()
            .gives(Phase::Legal)
            .example(golden!("legalize" @ "halve"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut insts = module.functions.iter().flat_map(|function| &function.insts);
        if let Some(left) = insts.find(|inst| matches!(inst.op, Op::Composite(_))) {
            let message = format!("`legalize` meets `{}`, which has no HLO form", left.op.name());
            return Err(Diagnostic::error(codes::PIPELINE, message)
                .or_at(module.locs.span(left.loc), "still here")
                .help("run `expand-composites` before `legalize`"));
        }
        unread::drop_unread_inputs(module, cx.registry, cx.target.unread_inputs)?;
        if cx.target.unread_inputs == UnreadInputs::Go {
            written::read_what_is_replaced(module, cx.registry)?;
        }
        if cx.target.divides_inexactly {
            division::divide_by_comparison(module, cx.registry)?;
        }
        resets::make_last(module, cx.registry)?;
        module.phase = Phase::Legal;
        Ok(Changed::Yes)
    }
}
