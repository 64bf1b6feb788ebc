//! The function of a layer, and the entry that calls it.

use super::layer;
use super::stretches::{Place, Stretches};
use crate::closed::closed;
use halite_ir::{Def, FuncId, Function, InferCx, LocKind, Module, ParamRole, Registry, Rewriter, Value};
use halite_support::{Diagnostic, Name, Names, Result};
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeSet;

/// Adds the function of the layers of a list and the entry that calls it.
///
/// # Errors
/// A bug when instructions cannot be copied.
pub(super) fn write(
    module: &mut Module,
    registry: &Registry,
    entry: &Function,
    (list, found): (&Name, &Stretches),
) -> Result<()> {
    let closed = closed(InferCx { functions: &module.functions, registry }, entry);
    let layers = Layers { entry, list, found, given: given(entry, found), kinds: kinds(entry, found, &closed), closed };
    let mut callees: IndexMap<Vec<Value>, FuncId> = IndexMap::new();
    for layer in 0..found.weights.len() {
        let kind = layers.kind(layer);
        if !callees.contains_key(&kind) {
            let callee = layers.function(module, registry, &kind)?;
            callees.insert(kind, callee);
        }
    }
    let mut b = Rewriter::new(module, registry, entry);
    for inst in &entry.insts[..found.start] {
        b.copy(entry, inst)?;
    }
    for layer in 0..found.weights.len() {
        let args = layers.args(&b, layer)?;
        let scope = found.weights[layer].first().and_then(|&at| super::layer(entry, at));
        let outer = b.enter(LocKind::Scope(scope.map_or_else(|| list.clone(), |layer| layer.to_string().into())));
        let results = b.call(callees[&layers.kind(layer)], &args)?;
        b.set_loc(outer);
        let own = found.insts(entry, layer);
        for (&(at, number), &result) in layers.given.iter().zip(&results) {
            b.replace(own[at].results[usize::from(number)], result);
        }
    }
    for inst in &entry.insts[found.start + found.len * found.weights.len()..] {
        b.copy(entry, inst)?;
    }
    b.finish(entry).map(drop)
}

/// The layers of a list, as they stand in the entry.
struct Layers<'a> {
    entry: &'a Function,
    list: &'a Name,
    found: &'a Stretches,
    /// The values of a layer that something outside of it reads.
    given: IndexSet<Place>,
    /// Whether each value of the entry follows from constants alone.
    closed: Vec<bool>,
    /// Those of the values of its own that a layer reads which make it one of a kind: each kind has a function, which computes them.
    kinds: Vec<bool>,
}

impl Layers<'_> {
    /// The function of a layer, made of the second: its parameters are what the layer before hands on, the weights, what each layer reads
    /// another of, and what all layers read, but for what of these follows from constants alone, which it computes.
    fn function(&self, module: &mut Module, registry: &Registry, kind: &[Value]) -> Result<FuncId> {
        let Self { entry, found, .. } = *self;
        let mut source = entry.clone();
        source.name = module.unused_name(self.list.rsplit('.').next().unwrap_or_default());
        let mut b = Rewriter::without_params(module, registry, &source);
        let mut taken = Names::default();
        let (before, own) = (found.insts(entry, 0), found.insts(entry, 1));
        let mut param = |b: &mut Rewriter<'_>, name: &str, value: Value| {
            let new = b.param(taken.unused(name), entry.ty(value).clone(), ParamRole::Argument);
            b.replace(value, new);
        };
        for &(at, number) in found.carried.keys() {
            param(&mut b, "x", before[at].results[usize::from(number)]);
        }
        for &at in &found.weights[1] {
            let weight = &entry.params[at];
            let rest = layer(entry, at).and_then(|layer| layer.inside(&weight.name));
            param(&mut b, rest.unwrap_or(&weight.name), weight.value);
        }
        self.own(false).for_each(|values| param(&mut b, "own", values[1]));
        self.shared(false).for_each(|value| param(&mut b, "shared", value));
        for at in needed(entry, self.shared(true).chain(kind.iter().copied())) {
            b.copy(entry, &entry.insts[at])?;
        }
        for (values, &value) in self.own(true).zip(kind) {
            let value = b.value(value)?;
            b.replace(values[1], value);
        }
        own.iter().try_for_each(|inst| b.copy(entry, inst))?;
        let result = |&(at, number): &Place| b.value(own[at].results[usize::from(number)]);
        let results: Vec<Value> = self.given.iter().map(result).collect::<Result<_>>()?;
        let mut b = b.into_builder();
        results.into_iter().for_each(|result| b.result(result));
        Ok(b.finish())
    }

    /// The arguments of the call of a layer.
    fn args(&self, b: &Rewriter<'_>, layer: usize) -> Result<Vec<Value>> {
        let Self { entry, found, .. } = *self;
        let carried = found.carried.iter().map(|(&(at, number), &first)| match layer.checked_sub(1) {
            Some(before) => found.insts(entry, before)[at].results[usize::from(number)],
            None => first,
        });
        let weights = found.weights[layer].iter().map(|&at| entry.params[at].value);
        let value = |value: Value| b.get(value).ok_or_else(|| Diagnostic::bug("a layer reads what is not there"));
        let own = self.own(false).map(|values| values[layer]);
        carried.chain(weights).chain(own).chain(self.shared(false)).map(value).collect()
    }

    /// The values of its own that make a layer one of a kind.
    fn kind(&self, layer: usize) -> Vec<Value> {
        self.own(true).map(|values| values[layer]).collect()
    }

    /// The values that each layer reads another of, those that make kinds or the others.
    fn own(&self, kinds: bool) -> impl Iterator<Item = &Vec<Value>> {
        self.found.own.iter().zip(&self.kinds).filter(move |(_, own)| **own == kinds).map(|(values, _)| values)
    }

    /// The values that all layers read alike and that follow from constants alone, or the others.
    fn shared(&self, closed: bool) -> impl Iterator<Item = Value> + '_ {
        self.found.shared.iter().copied().filter(move |value| self.closed[value.index()] == closed)
    }
}

/// Of the values that each layer reads another of, those that make kinds of layers: arrays that follow from constants alone, such as masks,
/// where there are twice as many layers as kinds.
fn kinds(entry: &Function, found: &Stretches, closed: &[bool]) -> Vec<bool> {
    let is_array = |value: Value| closed[value.index()] && entry.ty(value).shape().rank() > 0;
    let kinds: Vec<bool> = found.own.iter().map(|values| values.iter().copied().all(is_array)).collect();
    let layers = found.weights.len();
    let of =
        |layer: usize| found.own.iter().zip(&kinds).filter(|(_, kind)| **kind).map(|(own, _)| own[layer]).collect();
    let count = (0..layers).map(of).collect::<IndexSet<Vec<Value>>>().len();
    if 2 * count <= layers { kinds } else { vec![false; kinds.len()] }
}

/// The values of a layer that something outside of it reads.
fn given(entry: &Function, found: &Stretches) -> IndexSet<Place> {
    let mut given: IndexSet<Place> = IndexSet::new();
    let mut read = |value: Value, by: Option<usize>| {
        if let Def::Inst(at, number) = entry.values[value.index()].def
            && let Some(layer) = found.layer_of(at as usize).filter(|&layer| by != Some(layer))
        {
            given.insert((at as usize - found.start - layer * found.len, number));
        }
    };
    for (at, inst) in entry.insts.iter().enumerate() {
        inst.args.iter().for_each(|&arg| read(arg, found.layer_of(at)));
    }
    entry.results.iter().for_each(|result| read(result.value, None));
    given.sort_unstable();
    given
}

/// The instructions that values follow from, in order.
fn needed(entry: &Function, values: impl Iterator<Item = Value>) -> BTreeSet<usize> {
    let (mut left, mut needed): (Vec<Value>, _) = (values.collect(), BTreeSet::new());
    while let Some(value) = left.pop() {
        if let Def::Inst(at, _) = entry.values[value.index()].def
            && needed.insert(at as usize)
        {
            left.extend(&entry.insts[at as usize].args);
        }
    }
    needed
}
