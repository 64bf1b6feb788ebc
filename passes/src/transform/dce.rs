//! `dce`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Function, InferCx, Module, graph, rewrite_planned};
use halite_support::Result;

/// Dead code elimination: removes instructions whose results reach neither the function's results nor an instruction that
/// may not be removed. Parameters stay.
///
/// ```text
/// %a = exponential %x : f32[4]      =>    %b = negate %x : f32[4]
/// %b = negate %x : f32[4]                 return %b
/// return %b
/// ```
#[derive(Debug)]
pub(crate) struct Dce;

impl Pass for Dce {
    fn info(&self) -> PassInfo {
        PassInfo::new("dce", "remove instructions that nothing needs", Relation::Identical)
            .example(golden!("dce" @ "removes"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        // A call has the effects of its callee, which does not lose them: liveness may be found function by function.
        let plan = |cx: InferCx<'_>, function: &Function| {
            let live = graph::live_insts(&cx, function);
            live.contains(&false).then_some(live)
        };
        let removed = rewrite_planned(module, cx.registry, plan, |rewriter, source, live| {
            let kept = source.insts.iter().zip(live).filter(|(_, live)| *live);
            kept.map(|(inst, _)| inst).try_for_each(|inst| rewriter.copy(source, inst))
        })?;
        Ok(Changed::when(removed))
    }
}
