//! `combine-collectives`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{
    Def, Function, InferCx, Inst, Module, Op, Rewriter, Rounding, TensorType, Value, Values, rewrite_planned,
};
use halite_support::Result;
use halite_tensor::DType;
use rustc_hash::FxHashMap;

/// Combines collectives of one kind, over the same groups and of one element type, into one of several operands: few long messages take
/// less time than many short ones. They are made where the last of them was, before anything reads a result, and are of no more bytes
/// than the target takes at once; so no other instruction moves, and none waits for what it does not read. A gather along another
/// dimension than the first stays as it is: CPU XLA, by which every step is verified, takes no gather of several operands along it. So
/// does a reduce-scatter, of which StableHLO takes only one operand. What waits for one barrier is not combined with what waits for another,
/// or for none: the earlier would wait too.
///
/// ```text
/// %a = all_reduce %x {kind = sum, groups = [[0, 1]]} : f32[4]
/// %b = all_reduce %y {kind = sum, groups = [[0, 1]]} : f32[2]
/// %c = add %a, %a : f32[4]
/// =>
/// %a, %b = all_reduce %x, %y {kind = sum, groups = [[0, 1]]} : f32[4], f32[2]
/// %c = add %a, %a : f32[4]
/// ```
#[derive(Debug)]
pub(crate) struct CombineCollectives;

impl Pass for CombineCollectives {
    fn info(&self) -> PassInfo {
        PassInfo::new("combine-collectives", "make collectives of one kind at once", Relation::Identical)
            .example(golden!("combine_collectives" @ "read"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let most = cx.target.bucket_bytes;
        let plan = |_: InferCx<'_>, function: &Function| plan(function, most?);
        let combined = rewrite_planned(module, cx.registry, plan, |b, source, plan| {
            source.insts.iter().zip(&plan).try_for_each(|(inst, fate)| match fate {
                Fate::Stays => b.copy(source, inst),
                Fate::Waits => Ok(()),
                Fate::Takes(others) => combine(b, source, others, inst),
            })
        })?;
        Ok(Changed::when(combined))
    }
}

/// The action on an instruction.
#[derive(Clone, PartialEq)]
enum Fate {
    Stays,
    /// It is made with a later one.
    Waits,
    /// Earlier ones, at these positions, are made with it.
    Takes(Vec<usize>),
}

/// The properties that collectives must share to be combined.
type Key<'f> = (&'f Op, DType, Option<&'f Rounding>, Option<usize>);

/// Collectives that nothing has read so far.
#[derive(Default)]
struct Bucket {
    positions: Vec<usize>,
    bytes: u64,
}

/// The action on each instruction; `None` where nothing is combined.
fn plan(function: &Function, most: u64) -> Option<Vec<Fate>> {
    let mut fates = vec![Fate::Stays; function.insts.len()];
    let mut open: FxHashMap<Key<'_>, Bucket> = FxHashMap::default();
    let mut waiting: FxHashMap<Value, Key<'_>> = FxHashMap::default();
    for (at, inst) in function.insts.iter().enumerate() {
        for key in inst.args.iter().filter_map(|arg| waiting.get(arg)) {
            close(&mut fates, open.remove(key));
        }
        let Some((key, bytes)) = combinable(function, inst) else { continue };
        if open.get(&key).is_some_and(|bucket| bucket.bytes.saturating_add(bytes) > most) {
            close(&mut fates, open.remove(&key));
        }
        let bucket = open.entry(key).or_default();
        bucket.positions.push(at);
        bucket.bytes = bucket.bytes.saturating_add(bytes);
        waiting.extend(inst.results.iter().map(|&result| (result, key)));
    }
    open.into_values().for_each(|bucket| close(&mut fates, Some(bucket)));
    fates.iter().any(|fate| *fate != Fate::Stays).then_some(fates)
}

/// Has the collectives of a bucket made where the last of them is.
fn close(fates: &mut [Fate], bucket: Option<Bucket>) {
    let Some((&last, others)) = bucket.as_ref().and_then(|bucket| bucket.positions.split_last()) else { return };
    if others.is_empty() {
        return;
    }
    others.iter().for_each(|&other| fates[other] = Fate::Waits);
    fates[last] = Fate::Takes(others.to_vec());
}

/// The properties that an instruction shares with those that it is combined with, and the bytes of its whole tensors; `None` for one
/// that cannot be combined.
fn combinable<'f>(function: &'f Function, inst: &'f Inst) -> Option<(Key<'f>, u64)> {
    let draws = inst.rounding.as_ref().is_some_and(|rounding| *rounding != Rounding::Nearest);
    let along_first = match &inst.op {
        Op::AllReduce(_) => true,
        Op::AllGather(op) => op.dim == 0,
        _ => false,
    };
    if draws || !along_first {
        return None;
    }
    let whole = if matches!(inst.op, Op::AllGather(_)) { &inst.results } else { &inst.args };
    let types = || whole.iter().map(|&value| function.ty(value));
    let key = (&inst.op, types().next()?.dtype(), inst.rounding.as_ref(), barrier(function, inst));
    Some((key, types().map(TensorType::bytes).sum()))
}

/// The position of the barrier that a collective waits for.
fn barrier(function: &Function, inst: &Inst) -> Option<usize> {
    let Def::Inst(at, _) = function.values[inst.args.first()?.index()].def else { return None };
    matches!(function.insts[at as usize].op, Op::OptimizationBarrier(_)).then_some(at as usize)
}

/// One instruction for some earlier ones and the last.
fn combine(b: &mut Rewriter<'_>, source: &Function, others: &[usize], last: &Inst) -> Result<()> {
    let all = || others.iter().map(|&other| &source.insts[other]).chain([last]);
    let args: Values =
        all().map(|inst| b.values(&inst.args)).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    let outer = b.set_loc(last.loc);
    let mut results = &b.emit_like(last, &args)?[..];
    b.set_loc(outer);
    for inst in all() {
        let (own, rest) = results.split_at(inst.results.len());
        b.keep_names(source, inst, own);
        b.replace_all(inst, own);
        results = rest;
    }
    Ok(())
}
