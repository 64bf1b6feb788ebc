//! Weights whose rows alone are read.

use crate::rows::{self, Known};
use halite_ir::dims::FactorMap;
use halite_ir::{Function, InferCx, Inst, TensorType, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The weights of an entry of which nothing but rows is read, or rows of what element-wise instructions make of them, as a conversion to
/// another type is.
pub(super) struct Sources {
    /// The parameter that each value is made of.
    of: FxHashMap<Value, usize>,
    /// The parameter and the row that the result of an instruction is.
    read: FxHashMap<Value, (usize, usize)>,
    /// The first and the last instruction that reads a row of a parameter.
    places: FxHashMap<usize, (usize, usize)>,
}

/// Weights of which a loop reads a row in each round.
#[derive(Debug)]
pub(super) struct OfLoop {
    /// The number of rows.
    pub(super) rows: usize,
    /// Their parameters.
    pub(super) params: Vec<usize>,
    /// The last instruction that reads one.
    last: usize,
}

impl Sources {
    /// Those among the parameters that are marked, where these scalars are known.
    pub(super) fn of(cx: InferCx<'_>, entry: &Function, weights: &[bool], known: &Known) -> Self {
        let params = entry.params.iter().enumerate().filter(|(at, _)| weights[*at]);
        let mut of: FxHashMap<Value, usize> = params.map(|(at, param)| (param.value, at)).collect();
        let mut read: FxHashMap<Value, (usize, usize)> = FxHashMap::default();
        let mut places: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
        let mut whole: FxHashSet<usize> = FxHashSet::default();
        for (at, inst) in entry.insts.iter().enumerate() {
            let source = inst.args.first().and_then(|arg| of.get(arg)).copied();
            let row = source.and_then(|param| Some((param, rows::read(entry, inst, known)?)));
            if let Some((param, row)) = row {
                read.insert(inst.results[0], (param, row));
                places.entry(param).and_modify(|(_, last)| *last = at).or_insert((at, at));
            } else if let Some(param) = source.filter(|_| is_elementwise(cx, entry, inst)) {
                of.insert(inst.results[0], param);
            } else {
                whole.extend(inst.args.iter().filter_map(|arg| of.get(arg)));
            }
        }
        whole.extend(entry.results.iter().filter_map(|result| of.get(&result.value)));
        places.retain(|param, _| !whole.contains(param));
        of.retain(|_, param| places.contains_key(param));
        read.retain(|_, (param, _)| places.contains_key(param));
        Self { of, read, places }
    }

    /// The parameter and the row that an instruction reads.
    pub(super) fn read(&self, inst: &Inst) -> Option<(usize, usize)> {
        self.read.get(inst.results.first()?).copied()
    }

    /// Whether an instruction makes something of all rows, which nothing but readers of rows read.
    pub(super) fn is_of_all(&self, inst: &Inst) -> bool {
        inst.results.iter().any(|result| self.of.contains_key(result))
    }

    /// The instructions that make a value of its parameter.
    pub(super) fn chain<'f>(entry: &'f Function, value: Value) -> Vec<&'f Inst> {
        let next = |inst: &&Inst| entry.def(inst.args[0]);
        let mut chain: Vec<&Inst> = std::iter::successors(entry.def(value), next).collect();
        chain.reverse();
        chain
    }

    /// The weights by the loop that reads them: those of as many rows whose readers are among each other.
    pub(super) fn loops(&self, entry: &Function) -> Vec<OfLoop> {
        let mut params: Vec<usize> = self.places.keys().copied().collect();
        params.sort_unstable_by_key(|param| (self.places[param], *param));
        let mut loops: Vec<OfLoop> = Vec::new();
        for param in params {
            let (first, last) = self.places[&param];
            let rows = entry.ty(entry.params[param].value).shape()[0];
            match loops.iter_mut().rev().find(|own| own.rows == rows && first <= own.last) {
                Some(own) => {
                    own.params.push(param);
                    own.last = own.last.max(last);
                }
                None => loops.push(OfLoop { rows, params: vec![param], last }),
            }
        }
        loops.iter_mut().for_each(|own| own.params.sort_unstable());
        loops
    }
}

/// Whether each element of the only result of an instruction is a function of that of its only operand.
fn is_elementwise(cx: InferCx<'_>, entry: &Function, inst: &Inst) -> bool {
    let ([arg], [result]) = (inst.args.as_slice(), inst.results.as_slice()) else { return false };
    let (args, results): ([&TensorType; 1], [TensorType; 1]) = ([entry.ty(*arg)], [entry.ty(*result).clone()]);
    let def = inst.op.def();
    inst.op.callee().is_none()
        && def.effect(&cx).movable
        && def.dims(&args, &results) == FactorMap::elementwise(&args, &results)
}
