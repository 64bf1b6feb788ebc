//! Weights whose rows alone are read.

use crate::rows::{self, Known};
use halite_ir::dims::FactorMap;
use halite_ir::ops::BroadcastInDim;
use halite_ir::{Function, InferCx, Inst, Op, Rewriter, TensorType, Value};
use halite_support::{Diagnostic, Result};
use halite_tensor::Shape;
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
            let mut sources = inst.args.iter().filter_map(|arg| of.get(arg)).copied();
            let Some(param) = sources.next() else { continue };
            if let Some(row) = rows::read(entry, inst, known) {
                read.insert(inst.results[0], (param, row));
                places.entry(param).and_modify(|(_, last)| *last = at).or_insert((at, at));
            } else if sources.next().is_none() && is_by_row(cx, entry, inst, &of) {
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

    /// Writes a row as what is made of all rows makes it: `value` is made of a parameter, of which `row` is a row.
    ///
    /// # Errors
    /// A bug when an instruction cannot be copied.
    pub(super) fn row(&self, b: &mut Rewriter<'_>, entry: &Function, value: Value, row: Value) -> Result<Value> {
        let of = |value: Value| entry.def(value).and_then(|inst| Some((inst, self.source(inst)?)));
        let mut chain: Vec<(&Inst, Value)> = std::iter::successors(of(value), |&(_, source)| of(source)).collect();
        chain.reverse();
        let mut made = row;
        for (inst, source) in chain {
            let args = inst.args.iter().map(|&arg| match entry.def(arg).filter(|_| arg != source) {
                Some(spread) => one_row(b, entry, spread),
                None => Ok(made),
            });
            let args = args.collect::<Result<Vec<Value>>>()?;
            made = b.emit_like(inst, &args)?[0];
        }
        Ok(made)
    }

    /// The operand of an instruction that is made of a parameter.
    fn source(&self, inst: &Inst) -> Option<Value> {
        inst.args.iter().copied().find(|arg| self.of.contains_key(arg))
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

/// Whether each row of the only result of an instruction is made of that of an operand in `of`, and of others that are the same in all rows.
fn is_by_row(cx: InferCx<'_>, entry: &Function, inst: &Inst, of: &FxHashMap<Value, usize>) -> bool {
    let [result] = inst.results.as_slice() else { return false };
    let args: Vec<&TensorType> = inst.args.iter().map(|&arg| entry.ty(arg)).collect();
    let results = [entry.ty(*result).clone()];
    let is_spread = |arg: &Value| of.contains_key(arg) || entry.def(*arg).is_some_and(|inst| spread(inst).is_some());
    inst.op.callee().is_none()
        && inst.args.iter().all(is_spread)
        && inst.op.def().effect(&cx).movable
        && inst.op.def().dims(&args, &results) == FactorMap::elementwise(&args, &results)
}

/// The instruction that repeats a value in all rows.
fn spread(inst: &Inst) -> Option<&BroadcastInDim> {
    match &inst.op {
        Op::BroadcastInDim(spread) if !spread.dims.contains(&0) => Some(spread),
        _ => None,
    }
}

/// Writes one row of a value that is the same in all.
fn one_row(b: &mut Rewriter<'_>, entry: &Function, inst: &Inst) -> Result<Value> {
    let Some(spread) = spread(inst) else { return Err(Diagnostic::bug("a row of a value whose rows differ")) };
    let rest = entry.ty(inst.results[0]).shape()[1..].iter().copied();
    let shape: Shape = std::iter::once(1).chain(rest).collect();
    let args = b.values(&inst.args)?;
    b.emit(BroadcastInDim { shape, dims: spread.dims.clone() }, &args)
}
