//! The forward and the backward of each part: their instructions, inputs and outputs.

use super::owners::Owners;
use crate::transform::needed::needed;
use halite_ir::composites::Transfer;
use halite_ir::{Def, FuncResult, Function, ParamRole, ResultRole, Value};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// An ordered set of values.
pub(in crate::transform) type Set = IndexSet<Value, FxBuildHasher>;

/// A function of a part.
#[derive(Debug, Default)]
pub(in crate::transform) struct Half {
    /// The instructions that it runs.
    pub(in crate::transform) insts: Vec<usize>,
    /// Its inputs: parameters of the entry, and what other functions make.
    pub(in crate::transform) inputs: Set,
    /// Its results for others.
    pub(in crate::transform) outputs: Set,
    /// Its results for the backward of its part alone.
    pub(in crate::transform) residuals: Set,
    /// Numbers that it makes for other functions, those of one type together: it returns them as one vector.
    pub(in crate::transform) numbers: Vec<Vec<Value>>,
}

/// The two functions of a part.
#[derive(Debug, Default)]
pub(super) struct Stage {
    pub(super) forward: Half,
    pub(super) backward: Half,
}

/// The functions of all parts.
pub(super) fn stages(entry: &Function, owners: &Owners) -> Vec<Stage> {
    (0..owners.parts).map(|part| Splitter { entry, owners, part }.stage()).collect()
}

/// Splits a part into its forward and its backward.
struct Splitter<'a> {
    entry: &'a Function,
    owners: &'a Owners,
    part: usize,
}

impl Splitter<'_> {
    fn stage(&self) -> Stage {
        let (mut forward, mut backward) = (Half::default(), Half::default());
        for inst in &self.entry.insts {
            match Transfer::ends(&inst.op) {
                Some((from, to)) if from == self.part && to > from => _ = forward.outputs.insert(inst.args[0]),
                Some((from, _)) if from == self.part => _ = backward.outputs.insert(inst.args[0]),
                _ => {}
            }
        }
        for result in &self.entry.results {
            if self.makes(result.value) {
                let half = if self.is_of_forward(result) { &mut forward } else { &mut backward };
                half.outputs.insert(result.value);
            }
        }
        let of_forward = needed(self.entry, forward.outputs.iter().copied(), |at| self.owners.runs(self.part, at));
        let is_of_forward = |value: &Value| self.inst(*value).is_some_and(|at| of_forward[at]);
        for value in self.joined() {
            let half = if is_of_forward(&value) { &mut forward } else { &mut backward };
            half.outputs.insert(value);
        }
        // The backward makes again what it can of the batch and of weights; the rest of what the forward made it is given.
        let runs = |at| self.owners.runs(self.part, at);
        let [forward, backward] = halves(self.entry, [forward.outputs, backward.outputs], runs, |at| self.is_own(at));
        Stage { forward, backward }
    }

    /// The position of the instruction of this part that makes a value.
    fn inst(&self, value: Value) -> Option<usize> {
        let Def::Inst(at, _) = self.entry.values[value.index()].def else { return None };
        self.owners.runs(self.part, at as usize).then_some(at as usize)
    }

    /// Whether this part makes a value that the entry reads, and no other does.
    fn makes(&self, value: Value) -> bool {
        self.inst(value).is_some_and(|at| !self.owners.joins[at] && self.owners.maker(at) == Some(self.part))
    }

    /// Whether an instruction makes what the part owns: what follows from the batch and from weights, or came from another part.
    fn is_own(&self, at: usize) -> bool {
        self.entry.insts[at].results.iter().any(|result| self.owners.sources[result.index()].is_own())
    }

    /// Whether a result of the entry is one of the forward: what the model returns, and sums of that over micro-batches. All else follows
    /// from gradients, or may.
    fn is_of_forward(&self, result: &FuncResult) -> bool {
        match &result.role {
            ResultRole::Value | ResultRole::Probe | ResultRole::Loss | ResultRole::Count => true,
            ResultRole::Sum | ResultRole::Over(_) => true,
            ResultRole::State(name) => {
                let mut params = self.entry.params.iter().filter(|param| param.name == *name);
                params.any(|param| matches!(&param.role, ParamRole::State(spec) if spec.sum && spec.of.is_none()))
            }
            ResultRole::Metric
            | ResultRole::Gradient(_)
            | ResultRole::Scale(_)
            | ResultRole::Finite
            | ResultRole::Residual => false,
        }
    }

    /// The values of this part that the entry reads where it joins parts.
    fn joined(&self) -> Vec<Value> {
        let joins = self.entry.insts.iter().zip(&self.owners.joins).filter(|(_, joins)| **joins);
        joins.flat_map(|(inst, _)| &inst.args).copied().filter(|&value| self.makes(value)).collect()
    }
}

/// Two functions that run one after the other, each with its outputs, of instructions that are theirs. Of what the first makes, the second
/// is given as residuals what is `kept`, and makes the rest again.
pub(in crate::transform) fn halves(
    entry: &Function,
    [first, second]: [Set; 2],
    runs: impl Fn(usize) -> bool,
    kept: impl Fn(usize) -> bool,
) -> [Half; 2] {
    let mut first = Half { outputs: first, ..Half::default() };
    let mut second = Half { outputs: second, ..Half::default() };
    let of_first = needed(entry, first.outputs.iter().copied(), &runs);
    let kept: Vec<bool> = of_first.iter().enumerate().map(|(at, &made)| made && kept(at)).collect();
    let is_kept = |value: &Value| matches!(entry.values[value.index()].def, Def::Inst(at, _) if kept[at as usize]);
    first.outputs.extend(second.outputs.iter().copied().filter(is_kept));
    second.outputs.retain(|value| !is_kept(value));
    let of_second = needed(entry, second.outputs.iter().copied(), |at| runs(at) && !kept[at]);
    first.insts = positions(&of_first);
    second.insts = positions(&of_second);
    first.inputs = inputs(entry, &first.insts, &first.outputs);
    second.inputs = inputs(entry, &second.insts, &second.outputs);
    let handed_on = second.inputs.iter().copied().filter(is_kept);
    first.residuals = handed_on.filter(|value| !first.outputs.contains(value)).collect();
    [first, second]
}

fn positions(chosen: &[bool]) -> Vec<usize> {
    chosen.iter().enumerate().filter(|(_, chosen)| **chosen).map(|(at, _)| at).collect()
}

/// The values that instructions, or the results beside them, read and do not make.
pub(in crate::transform) fn inputs(entry: &Function, insts: &[usize], outputs: &Set) -> Set {
    let mut made = vec![false; entry.values.len()];
    let mut inputs = Set::default();
    for &at in insts {
        let inst = &entry.insts[at];
        inputs.extend(inst.args.iter().copied().filter(|arg| !made[arg.index()]));
        inst.results.iter().for_each(|result| made[result.index()] = true);
    }
    inputs.extend(outputs.iter().copied().filter(|value| !made[value.index()]));
    inputs
}
