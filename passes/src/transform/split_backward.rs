//! `split-backward`.

use super::split_stages::{Args, Given, Half, Set, Written, halves, name_of};
use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::inline::check_size;
use halite_ir::{FuncId, Function, Inst, Module, Op, Phase, Rewriter, StageTask, inline_calls};
use halite_support::{Diagnostic, Names, Result};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The name of the pass.
const PASS: &str = "split-backward";

/// Makes two functions of each backward of a pipeline whose schedule runs the halves of backwards apart: the first makes the gradient that
/// the part before waits for, the second the gradients by weights. The backward of the first part, for which nobody waits, stays one.
///
/// What a backward calls is written out, so that a layer is in both halves. The first half gives the second what it made; what only moves
/// numbers the second makes again.
///
/// ```text
///                                                   %dx, %0 = call %r, %w, %dy {callee = @part_1_backward_input}
/// %dx, %dw = call %r, %w, %dy                  =>   %dw = call %r, %0 {callee = @part_1_backward_weights}
///            {callee = @part_1_backward}
/// ```
#[derive(Debug)]
pub(crate) struct SplitBackward;

impl Pass for SplitBackward {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "make two functions of each backward of a pipeline", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Step)
            .example(golden!("split_backward" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let Some(recipe) = cx.recipe.filter(|recipe| recipe.stages() > 1) else { return Ok(Changed::No) };
        if !recipe.pipeline()?.1.kind().splits_backward() {
            return Ok(Changed::No);
        }
        let entry = module.take_entry()?;
        let splits = splits(module, &entry);
        if splits.is_empty() {
            module.functions.push(entry);
            return Ok(Changed::No);
        }
        let mut within = vec![false; module.functions.len()];
        splits.values().for_each(|split| within[split.callee.index()] = true);
        let written: Vec<bool> = module.functions.iter().map(|function| !function.noinline).collect();
        check_size(module, &within)?;
        inline_calls(module, cx.registry, &written, &within)?;
        let mut names = module.names();
        let callees = module.functions.clone();
        let mut b = Rewriter::new(module, cx.registry, &entry);
        for (at, inst) in entry.insts.iter().enumerate() {
            match splits.get(&at) {
                Some(split) => split.write(&mut b, &mut names, &callees[split.callee.index()], inst)?,
                None => b.copy(&entry, inst)?,
            }
        }
        b.finish(&entry)?;
        module.drop_unreached();
        Ok(Changed::Yes)
    }
}

/// A backward that is made two.
struct Split {
    callee: FuncId,
    part: usize,
    /// For each result, whether the backward before waits for it.
    sent: Vec<bool>,
}

/// The calls of an entry that are made two, by their positions: the backwards that others wait for, where they make anything else.
fn splits(module: &Module, entry: &Function) -> BTreeMap<usize, Split> {
    let backward = |inst: &Inst| {
        let callee = inst.call()?.callee;
        let Some(StageTask::Backward { part }) = module.function(callee).task else { return None };
        Some((callee, part))
    };
    let mut awaited = vec![false; entry.values.len()];
    for inst in entry.insts.iter().filter(|inst| backward(inst).is_some()) {
        inst.args.iter().for_each(|arg| awaited[arg.index()] = true);
    }
    let split = |(at, inst): (usize, &Inst)| {
        let (callee, part) = backward(inst)?;
        let sent: Vec<bool> = inst.results.iter().map(|result| awaited[result.index()]).collect();
        (sent.contains(&true) && sent.contains(&false)).then_some((at, Split { callee, part, sent }))
    };
    entry.insts.iter().enumerate().filter_map(split).collect()
}

impl Split {
    /// Writes the two functions and their calls.
    fn write(&self, b: &mut Rewriter<'_>, names: &mut Names, callee: &Function, call: &Inst) -> Result<()> {
        let mut known = FxHashMap::default();
        for (param, &arg) in callee.params.iter().zip(&call.args) {
            known.insert(param.value, b.value(arg)?);
        }
        let [input, weights] = self.halves(callee);
        let part = self.part;
        let halves = [(StageTask::BackwardInput { part }, input), (StageTask::BackwardWeights { part }, weights)];
        for (task, half) in halves.iter().filter(|(_, half)| !half.outputs.is_empty()) {
            let (mut args, mut given) = (Args::default(), Vec::with_capacity(half.inputs.len()));
            for &input in &half.inputs {
                let outer = *known.get(&input).ok_or_else(|| Diagnostic::bug("a backward reads what is not there"))?;
                given.push(Given { input, arg: args.insert_full(outer, name_of(callee, input)).0, number: None });
            }
            b.set_loc(call.loc);
            let results = Written { task: *task, source: callee, half }.call(b, names, args, &given)?;
            for (&own, result) in half.outputs.iter().chain(&half.residuals).zip(results) {
                if let Some(hint) = &callee.values[own.index()].hint {
                    b.name_value(result, hint.clone());
                }
                known.insert(own, result);
            }
        }
        for (own, &result) in callee.results.iter().zip(&call.results) {
            if let Some(&value) = known.get(&own.value) {
                b.replace(result, value);
            }
        }
        Ok(())
    }

    /// The half that makes what is sent, and the half that makes all else.
    fn halves(&self, callee: &Function) -> [Half; 2] {
        let results = |sent: bool| -> Set {
            let of = callee.results.iter().zip(&self.sent).filter(|(_, own)| **own == sent);
            of.map(|(result, _)| result.value).collect()
        };
        halves(callee, [results(true), results(false)], |_| true, |at| !is_made_again(&callee.insts[at]))
    }
}

/// Whether the second half makes what the first made too, instead of being given it.
fn is_made_again(inst: &Inst) -> bool {
    matches!(inst.op, Op::Constant(_) | Op::Iota(_) | Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Transpose(_))
}
