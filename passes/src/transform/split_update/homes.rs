//! The stages that make each value of an update.

use halite_ir::{Def, FuncResult, Function, Param, ParamRole, ResultRole, Value};
use halite_support::Name;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The stages of an update's values.
pub(super) struct Homes {
    /// The stage that holds or makes each value alone; `None` for what any stage makes that reads it.
    pub(super) values: Vec<Option<usize>>,
    /// The same of the results of each instruction.
    pub(super) insts: Vec<Option<usize>>,
    /// The stages that make each instruction.
    pub(super) at: Vec<BTreeSet<usize>>,
    /// The round in which each instruction is made.
    pub(super) rounds: Vec<usize>,
    /// The stage that returns each result.
    pub(super) results: Vec<usize>,
}

impl Homes {
    /// Tensors are made where they are; numbers and what is made of numbers alone, where they are read.
    pub(super) fn of(entry: &Function, stages: usize, stage_of: impl Fn(usize) -> usize) -> Self {
        let mut values = params(entry, stage_of);
        let mut insts = Vec::with_capacity(entry.insts.len());
        for inst in &entry.insts {
            let home = |arg: &Value| values[arg.index()].filter(|_| entry.ty(*arg).rank() > 0);
            let home = inst.args.iter().find_map(home);
            inst.results.iter().for_each(|result| values[result.index()] = home);
            insts.push(home);
        }
        let results = results(entry, &values, stages.saturating_sub(1));
        let at = at(entry, &insts, &results);
        let rounds = in_rounds(entry, &values, &at);
        Self { values, insts, at, rounds, results }
    }

    /// The last round: one more than that of a result that another stage returns than the one that makes it.
    pub(super) fn last(&self, entry: &Function) -> usize {
        let of_result = |(result, &stage): (&FuncResult, &usize)| {
            let made = match entry.values[result.value.index()].def {
                Def::Inst(at, _) => self.rounds[at as usize],
                Def::Param(_) => 0,
            };
            made + usize::from(self.values[result.value.index()].is_some_and(|home| home != stage))
        };
        let results = entry.results.iter().zip(&self.results).map(of_result);
        results.chain(self.rounds.iter().copied()).max().unwrap_or(0)
    }

    /// Whether another stage than the one that has it reads a value alone.
    pub(super) fn crosses(home: Option<usize>, at: &BTreeSet<usize>) -> bool {
        home.is_some_and(|home| at.iter().any(|&stage| stage != home))
    }
}

/// The stage of each parameter: that of a weight and all state of it, that of a sum.
fn params(entry: &Function, stage_of: impl Fn(usize) -> usize) -> Vec<Option<usize>> {
    let of_weight = |param: &Param| match &param.role {
        ParamRole::Weight(info) => Some((param.name.clone(), info.part?)),
        _ => None,
    };
    let weights: FxHashMap<Name, usize> = entry.params.iter().filter_map(of_weight).collect();
    let mut values = vec![None; entry.values.len()];
    for param in &entry.params {
        let part = match &param.role {
            ParamRole::Weight(info) => info.part,
            ParamRole::State(spec) => spec.part.or_else(|| weights.get(spec.of.as_ref()?).copied()),
            _ => None,
        };
        values[param.value.index()] = part.map(&stage_of);
    }
    values
}

/// The stage of each result: a weight and its state stay where they are; all else is that of the stage that makes it, or of the last one, which
/// has the loss.
fn results(entry: &Function, values: &[Option<usize>], last: usize) -> Vec<usize> {
    let params: FxHashMap<&Name, Value> = entry.params.iter().map(|param| (&param.name, param.value)).collect();
    let of = |result: &FuncResult| {
        let replaced = if let ResultRole::State(name) = &result.role { params.get(name) } else { None };
        let home = replaced.and_then(|param| values[param.index()]);
        home.or(values[result.value.index()]).unwrap_or(last)
    };
    entry.results.iter().map(of).collect()
}

/// The stages that make each instruction: the one of its tensors, or else all that read it.
fn at(entry: &Function, insts: &[Option<usize>], results: &[usize]) -> Vec<BTreeSet<usize>> {
    let mut wanted: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); entry.values.len()];
    for (result, &stage) in entry.results.iter().zip(results) {
        wanted[result.value.index()].insert(stage);
    }
    let mut at = vec![BTreeSet::new(); entry.insts.len()];
    for (position, inst) in entry.insts.iter().enumerate().rev() {
        let readers: BTreeSet<usize> = inst.results.iter().flat_map(|result| wanted[result.index()].clone()).collect();
        if readers.is_empty() {
            continue;
        }
        let stages = insts[position].map_or(readers, |home| BTreeSet::from([home]));
        inst.args.iter().for_each(|arg| wanted[arg.index()].extend(&stages));
        at[position] = stages;
    }
    at
}

/// The round of each instruction: after what it reads, and in a later one where that comes from another stage.
fn in_rounds(entry: &Function, values: &[Option<usize>], at: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut made = vec![0; entry.values.len()];
    let mut rounds = Vec::with_capacity(entry.insts.len());
    for (inst, at) in entry.insts.iter().zip(at) {
        let after = |arg: &Value| made[arg.index()] + usize::from(Homes::crosses(values[arg.index()], at));
        let round = inst.args.iter().map(after).max().unwrap_or(0);
        inst.results.iter().for_each(|result| made[result.index()] = round);
        rounds.push(round);
    }
    rounds
}
