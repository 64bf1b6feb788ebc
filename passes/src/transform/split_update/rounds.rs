//! The functions of each round: what stages make, read and hand on.

use super::homes::Homes;
use crate::transform::split_stages::{Half, Set, inputs};
use halite_ir::{Def, Function, InferCx, Inst, Op, ResultRole, Value};
use halite_support::Name;
use halite_tensor::DType;
use indexmap::IndexMap;
use rustc_hash::FxHashSet;

/// The function of a stage in a round.
pub(super) struct Turn {
    pub(super) half: Half,
    /// The results of the entry that it returns.
    pub(super) results: Vec<usize>,
}

/// For each round, the function of each stage.
pub(super) fn rounds(infer: InferCx<'_>, entry: &Function, homes: &Homes, stages: usize) -> Vec<Vec<Turn>> {
    let count = homes.last(entry) + 1;
    let mut rounds: Vec<Vec<Turn>> = (0..count).map(|_| Vec::new()).collect();
    for stage in 0..stages {
        let turns = Splitter { infer, entry, homes, stage }.rounds(count);
        rounds.iter_mut().zip(turns).for_each(|(round, turn)| round.push(turn));
    }
    rounds
}

/// The rounds of a stage.
struct Splitter<'a> {
    infer: InferCx<'a>,
    entry: &'a Function,
    homes: &'a Homes,
    stage: usize,
}

impl Splitter<'_> {
    fn rounds(&self, count: usize) -> Vec<Turn> {
        let mut outputs: Vec<Set> = vec![Set::default(); count];
        self.handed_on().into_iter().for_each(|(round, value)| _ = outputs[round].insert(value));
        let own = (0..self.entry.results.len()).filter(|&at| self.homes.results[at] == self.stage);
        let mut results: Vec<usize> = own.collect();
        if let Some(last) = outputs.last_mut() {
            last.extend(results.iter().map(|&at| self.entry.results[at].value));
        }
        let mut turns = Vec::with_capacity(count);
        for round in (0..count).rev() {
            let roots = std::mem::take(&mut outputs[round]);
            let insts = self.numbers_first(self.made(round, &roots));
            let inputs = inputs(self.entry, &insts, &roots);
            for &input in &inputs {
                if let Some(round) = self.own(input) {
                    outputs[round].insert(input);
                }
            }
            let (outputs, numbers) = self.together(roots);
            let half = Half { insts, inputs, outputs, residuals: Set::default(), numbers };
            turns.push(Turn { half, results: std::mem::take(&mut results) });
        }
        turns.reverse();
        turns
    }

    /// Instructions with those first that make numbers of numbers that are there. Each stage makes these for itself, in one order, and tensors of
    /// its own at other places between them: so stages that are equal have equal functions. Where state would be read after its replacement is
    /// made, all stay where they are.
    fn numbers_first(&self, insts: Vec<usize>) -> Vec<usize> {
        let mut late = vec![false; self.entry.values.len()];
        let (first, rest): (Vec<usize>, Vec<usize>) = insts.iter().copied().partition(|&at| {
            let inst = &self.entry.insts[at];
            let is_number = |value: &Value| self.entry.ty(*value).rank() == 0 && !late[value.index()];
            let is_ordered = inst.op.def().effect(&self.infer).ordered;
            let is_first = !is_ordered && inst.args.iter().chain(&inst.results).all(is_number);
            if !is_first {
                inst.results.iter().for_each(|result| late[result.index()] = true);
            }
            is_first
        });
        let made = first.iter().flat_map(|&at| &self.entry.insts[at].results).copied();
        let replaced = self.replaced(&made.collect());
        let is_read_late = rest.iter().flat_map(|&at| &self.entry.insts[at].args).any(|arg| replaced.contains(arg));
        if is_read_late { insts } else { first.into_iter().chain(rest).collect() }
    }

    /// The parameters whose replacements are among values.
    fn replaced(&self, values: &Set) -> Set {
        let results = self.entry.results.iter().filter(|result| values.contains(&result.value));
        let names =
            results.filter_map(|result| if let ResultRole::State(name) = &result.role { Some(name) } else { None });
        let names: FxHashSet<&Name> = names.collect();
        self.entry.params.iter().filter(|param| names.contains(&param.name)).map(|param| param.value).collect()
    }

    /// The numbers among values that nothing but functions reads, those of one type together; before them the other values.
    fn together(&self, roots: Set) -> (Set, Vec<Vec<Value>>) {
        let returned: Set = self.entry.results.iter().map(|result| result.value).collect();
        let is_number = |value: &Value| {
            let is_made = matches!(self.entry.values[value.index()].def, Def::Inst(..));
            is_made && self.entry.ty(*value).rank() == 0 && !returned.contains(value)
        };
        let mut numbers: IndexMap<DType, Vec<Value>> = IndexMap::new();
        let mut others = Set::default();
        for root in roots {
            if is_number(&root) {
                numbers.entry(self.entry.ty(root).dtype()).or_default().push(root);
            } else {
                others.insert(root);
            }
        }
        (others, numbers.into_values().collect())
    }

    /// The values that this stage makes and others read, each with its round.
    fn handed_on(&self) -> Vec<(usize, Value)> {
        let Self { entry, homes, .. } = self;
        let mut crosses = vec![false; entry.values.len()];
        for (inst, at) in entry.insts.iter().zip(&homes.at) {
            for arg in &inst.args {
                crosses[arg.index()] |= Homes::crosses(homes.values[arg.index()], at);
            }
        }
        for (result, &stage) in entry.results.iter().zip(&homes.results) {
            crosses[result.value.index()] |= homes.values[result.value.index()].is_some_and(|home| home != stage);
        }
        let all = (0..entry.values.len()).map(Value::new).filter(|value| crosses[value.index()]);
        all.filter_map(|value| self.own(value).map(|round| (round, value))).collect()
    }

    /// The round in which this stage makes a value that no other makes.
    fn own(&self, value: Value) -> Option<usize> {
        let Def::Inst(at, _) = self.entry.values[value.index()].def else { return None };
        let at = at as usize;
        (self.homes.insts[at] == Some(self.stage)).then_some(self.homes.rounds[at])
    }

    /// The instructions that a round makes of these values: those of earlier rounds again, but for what is dear.
    fn made(&self, round: usize, roots: &Set) -> Vec<usize> {
        let mut wanted = vec![false; self.entry.values.len()];
        roots.iter().for_each(|root| wanted[root.index()] = true);
        let mut made = Vec::new();
        for (at, inst) in self.entry.insts.iter().enumerate().rev() {
            let is_wanted = inst.results.iter().any(|result| wanted[result.index()]);
            if is_wanted && self.makes(at, inst, round) {
                inst.args.iter().for_each(|arg| wanted[arg.index()] = true);
                made.push(at);
            }
        }
        made.reverse();
        made
    }

    /// Whether a round makes an instruction that it needs.
    fn makes(&self, at: usize, inst: &Inst, round: usize) -> bool {
        match self.homes.insts[at] {
            None => true,
            Some(home) => home == self.stage && (self.homes.rounds[at] == round || self.is_cheap(inst)),
        }
    }

    /// Whether an instruction costs less than to keep its result: numbers are kept, and so are the results of collectives and of products.
    fn is_cheap(&self, inst: &Inst) -> bool {
        let is_ordered = inst.op.def().effect(&self.infer).ordered;
        let is_number = inst.results.iter().all(|&result| self.entry.ty(result).rank() == 0);
        !is_number && !is_ordered && !matches!(inst.op, Op::DotGeneral(_))
    }
}
