//! `cse`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Function, InferCx, Inst, Module, Value, Values, rewrite_planned};
use halite_support::Result;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// Common subexpression elimination: of equal instructions (op, attributes, rounding, arguments) the first stands for all. Instructions
/// that may not be merged are left alone.
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
        PassInfo::new("cse", "merge equal instructions", Relation::Identical).example(golden!("cse" @ "merges"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let merged = rewrite_planned(module, cx.registry, plan, |rewriter, source, merged| {
            for (inst, first) in source.insts.iter().zip(merged) {
                match first {
                    None => rewriter.copy(source, inst)?,
                    Some(first) => {
                        let results = rewriter.values(&source.insts[first].results)?;
                        rewriter.replace_all(inst, &results);
                    }
                }
            }
            Ok(())
        })?;
        Ok(Changed::when(merged))
    }
}

/// For each instruction, the earlier one that stands for it; `None` when nothing merges.
fn plan(cx: InferCx<'_>, function: &Function) -> Option<Vec<Option<usize>>> {
    let mut available = AvailableInsts::new(function);
    let merged: Vec<_> = (0..function.insts.len()).map(|at| available.merge(&cx, at)).collect();
    merged.iter().any(Option::is_some).then_some(merged)
}

/// The instructions of a function that stand for themselves.
struct AvailableInsts<'f> {
    function: &'f Function,
    /// The value that stands for each value so far.
    stands: Vec<Value>,
    /// Positions of the instructions with a given hash.
    positions: FxHashMap<u64, SmallVec<[u32; 2]>>,
}

impl<'f> AvailableInsts<'f> {
    fn new(function: &'f Function) -> Self {
        let stands = (0..function.values.len()).map(Value::new).collect();
        let mut positions = FxHashMap::default();
        positions.reserve(function.insts.len());
        Self { function, stands, positions }
    }

    /// The earlier instruction that stands for the one at a position.
    fn merge(&mut self, cx: &InferCx<'_>, at: usize) -> Option<usize> {
        let inst = &self.function.insts[at];
        if !inst.op.def().effect(cx).mergeable {
            return None;
        }
        let args: Values = mapped(&self.stands, inst).collect();
        let candidates = self.positions.entry(hash(inst, &args)).or_default();
        let (insts, stands) = (&self.function.insts, &self.stands);
        let equal = |other: &Inst| {
            other.op == inst.op && other.rounding == inst.rounding && mapped(stands, other).eq(args.iter().copied())
        };
        if let Some(first) = candidates.iter().map(|&first| first as usize).find(|&first| equal(&insts[first])) {
            for (&own, &of_first) in inst.results.iter().zip(&insts[first].results) {
                self.stands[own.index()] = of_first;
            }
            return Some(first);
        }
        candidates.push(u32::try_from(at).expect("instructions fit in 32 bits"));
        None
    }
}

/// The arguments of an instruction, each replaced by what stands for it.
fn mapped(stands: &[Value], inst: &Inst) -> impl Iterator<Item = Value> {
    inst.args.iter().map(|arg| stands[arg.index()])
}

fn hash(inst: &Inst, args: &[Value]) -> u64 {
    let mut hasher = FxHasher::default();
    (&inst.op, &inst.rounding, args).hash(&mut hasher);
    hasher.finish()
}
