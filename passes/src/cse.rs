//! `cse`.

use crate::pass::{Changed, Kind, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Effect, Function, Inst, Module, Op, Phase, Rewriter, Value, rewrite_functions};
use halite_support::Result;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// Common subexpression elimination: of equal pure instructions (op, attributes, arguments) the first stands for all.
/// Instructions with an effect are left alone.
///
/// ```text
/// %a = exponential %x : f32[4]            %a = exponential %x : f32[4]
/// %b = exponential %x : f32[4]      =>    %c = add %a, %a : f32[4]
/// %c = add %a, %b : f32[4]
/// ```
#[derive(Debug)]
pub(crate) struct Cse;

impl Pass for Cse {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "cse",
            summary: "merge equal pure instructions",
            kind: Kind::Optimization,
            needs: Phase::Built..=Phase::Step,
            gives: None,
            relation: Relation::Identical,
        }
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut merged = 0;
        rewrite_functions(module, cx.registry, |rewriter, source| {
            let mut known = Known::default();
            for inst in &source.insts {
                merged += usize::from(known.merge_or_copy(rewriter, source, inst)?);
            }
            Ok(())
        })?;
        Ok(Changed::when(merged > 0))
    }
}

/// Positions, in the function being built, of the instructions with a given hash.
#[derive(Default)]
struct Known(FxHashMap<u64, SmallVec<[u32; 1]>>);

impl Known {
    /// Whether the instruction was merged with an earlier one.
    fn merge_or_copy(&mut self, rewriter: &mut Rewriter<'_>, source: &Function, inst: &Inst) -> Result<bool> {
        if inst.op.def().effect(&rewriter.infer_cx()) != Effect::Pure {
            rewriter.copy(source, inst)?;
            return Ok(false);
        }
        let args = rewriter.values(&inst.args)?;
        let candidates = self.0.entry(hash(&inst.op, &args)).or_default();
        let built = &rewriter.function().insts;
        let equal = |&&at: &&u32| built[at as usize].op == inst.op && built[at as usize].args[..] == args[..];
        if let Some(&at) = candidates.iter().find(equal) {
            let results = built[at as usize].results.clone();
            rewriter.replace_all(inst, &results);
            return Ok(true);
        }
        candidates.push(u32::try_from(built.len()).expect("instructions fit in 32 bits"));
        rewriter.copy(source, inst)?;
        Ok(false)
    }
}

fn hash(op: &Op, args: &[Value]) -> u64 {
    let mut hasher = FxHasher::default();
    (op, args).hash(&mut hasher);
    hasher.finish()
}
