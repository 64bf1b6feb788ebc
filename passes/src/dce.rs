//! `dce`.

use crate::pass::{Changed, Kind, Pass, PassCx, PassInfo, Relation};
use halite_ir::{InferCx, Module, Phase, graph, rewrite_functions};
use halite_support::Result;

/// Dead code elimination: removes instructions whose results reach neither the function's results nor an instruction
/// with an effect. Parameters stay.
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
        PassInfo {
            name: "dce",
            summary: "remove instructions that nothing needs",
            kind: Kind::Optimization,
            needs: Phase::Built..=Phase::Step,
            gives: None,
            relation: Relation::Identical,
        }
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let infer = InferCx { functions: &module.functions, registry: cx.registry };
        let live: Vec<Vec<bool>> = module.functions.iter().map(|f| graph::live_insts(&infer, f)).collect();
        if live.iter().flatten().all(|&live| live) {
            return Ok(Changed::No);
        }
        let mut live = live.into_iter();
        rewrite_functions(module, cx.registry, |rewriter, source| {
            let live = live.next().unwrap_or_default();
            let kept = source.insts.iter().zip(live).filter(|(_, live)| *live);
            kept.map(|(inst, _)| inst).try_for_each(|inst| rewriter.copy(source, inst))
        })?;
        Ok(Changed::Yes)
    }
}
