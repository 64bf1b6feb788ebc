//! The function of a layer, and the entry that calls it.

use super::layer;
use super::stretches::{Place, Stretches};
use crate::closed::closed;
use halite_ir::{Def, FuncId, Function, InferCx, LocKind, Module, ParamRole, Registry, Rewriter, Value};
use halite_support::{Diagnostic, Name, Names, Result};
use indexmap::IndexSet;
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
    let given = given(entry, found);
    let closed = closed(InferCx { functions: &module.functions, registry }, entry);
    let callee = function(module, registry, entry, (list, found, &given), &closed)?;
    let mut b = Rewriter::new(module, registry, entry);
    for inst in &entry.insts[..found.start] {
        b.copy(entry, inst)?;
    }
    for layer in 0..found.weights.len() {
        let args = args(&b, entry, (found, layer), &closed)?;
        let outer = b.enter(LocKind::Scope(format!("{list}.{layer}").into()));
        let results = b.call(callee, &args)?;
        b.set_loc(outer);
        let first = found.insts(entry, layer);
        for (&(at, number), &result) in given.iter().zip(&results) {
            b.replace(first[at].results[usize::from(number)], result);
        }
    }
    for inst in &entry.insts[found.start + found.len * found.weights.len()..] {
        b.copy(entry, inst)?;
    }
    b.finish(entry).map(drop)
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

/// The function of a layer, made of the second: what the layer before hands on, its weights, and what all layers read.
fn function(
    module: &mut Module,
    registry: &Registry,
    entry: &Function,
    (list, found, given): (&Name, &Stretches, &IndexSet<Place>),
    closed: &[bool],
) -> Result<FuncId> {
    let name = list.rsplit('.').next().unwrap_or_default();
    let mut source = entry.clone();
    source.name = module.unused_name(name);
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
    for &value in found.shared.iter().filter(|value| !closed[value.index()]) {
        param(&mut b, "shared", value);
    }
    // What follows from constants alone is computed where it is read.
    let needed = needed(entry, found.shared.iter().copied().filter(|value| closed[value.index()]));
    needed.into_iter().try_for_each(|at| b.copy(entry, &entry.insts[at]))?;
    own.iter().try_for_each(|inst| b.copy(entry, inst))?;
    let results: Vec<Value> =
        given.iter().map(|&(at, number)| b.value(own[at].results[usize::from(number)])).collect::<Result<_>>()?;
    let mut b = b.into_builder();
    results.into_iter().for_each(|result| b.result(result));
    Ok(b.finish())
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

/// What a layer is called with.
fn args(
    b: &Rewriter<'_>,
    entry: &Function,
    (found, layer): (&Stretches, usize),
    closed: &[bool],
) -> Result<Vec<Value>> {
    let carried = found.carried.iter().map(|(&(at, number), &first)| match layer.checked_sub(1) {
        Some(before) => found.insts(entry, before)[at].results[usize::from(number)],
        None => first,
    });
    let weights = found.weights[layer].iter().map(|&at| entry.params[at].value);
    let shared = found.shared.iter().copied().filter(|value| !closed[value.index()]);
    let all = carried.chain(weights).chain(shared);
    let value = |value: Value| b.get(value).ok_or_else(|| Diagnostic::bug("a layer reads what is not there"));
    all.map(value).collect()
}
