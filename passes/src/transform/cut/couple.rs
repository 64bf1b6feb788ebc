//! A forward and its backward, and their calls.

use halite_ir::{Edge, FuncId, Function, Inst, Module, ResultRole, Value};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The source of a parameter of a backward.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Link {
    /// An argument of the forward.
    Arg(usize),
    /// A result of the forward.
    Result(usize),
    /// Anything else, such as a cotangent.
    Own,
}

/// A forward and a backward, and how the one hands to the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Couple {
    pub(super) forward: FuncId,
    pub(super) backward: FuncId,
    /// For each parameter of the backward.
    pub(super) links: Vec<Link>,
}

/// The positions of the two calls in a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) forward: usize,
    pub(super) backward: usize,
    /// Its place among those of a function.
    pub(super) ordinal: usize,
}

/// The couples that a function calls, with where.
pub(super) fn couples(module: &Module, function: &Function) -> IndexMap<Couple, Vec<Site>, FxBuildHasher> {
    let readers = readers(function);
    let mut couples: IndexMap<Couple, Vec<Site>, FxBuildHasher> = IndexMap::default();
    let mut ordinals = 0..;
    for (position, inst) in function.insts.iter().enumerate() {
        let Some(call) = inst.call() else { continue };
        let Some(backward) = backward(module, function, &readers, call) else { continue };
        let reader = &function.insts[backward];
        let Some(back) = reader.call() else { continue };
        let Some(ordinal) = ordinals.next() else { break };
        let couple = Couple { forward: call.callee, backward: back.callee, links: links(inst, reader) };
        couples.entry(couple).or_default().push(Site { forward: position, backward, ordinal });
    }
    couples
}

/// The one call that reads all residuals of a call, if it has any.
fn backward(
    module: &Module,
    function: &Function,
    readers: &FxHashMap<Value, Vec<Option<usize>>>,
    call: Edge<'_>,
) -> Option<usize> {
    let roles = &module.function(call.callee).results;
    let residuals = call.results.iter().zip(roles).filter(|(_, result)| result.role == ResultRole::Residual);
    let mut all = residuals.flat_map(|(value, _)| readers.get(value).into_iter().flatten());
    let first = (*all.next()?)?;
    let is_call = function.insts[first].call().is_some();
    (is_call && all.all(|reader| *reader == Some(first))).then_some(first)
}

/// For each value the instructions that read it, `None` for the function's results.
fn readers(function: &Function) -> FxHashMap<Value, Vec<Option<usize>>> {
    let mut readers: FxHashMap<Value, Vec<Option<usize>>> = FxHashMap::default();
    for (position, inst) in function.insts.iter().enumerate().filter(|(_, inst)| inst.call().is_some()) {
        inst.results.iter().for_each(|&result| _ = readers.insert(result, Vec::new()));
        for arg in &inst.args {
            readers.entry(*arg).or_default().push(Some(position));
        }
    }
    for (position, inst) in function.insts.iter().enumerate().filter(|(_, inst)| inst.call().is_none()) {
        inst.args.iter().for_each(|arg| _ = readers.get_mut(arg).map(|all| all.push(Some(position))));
    }
    for result in &function.results {
        if let Some(all) = readers.get_mut(&result.value) {
            all.push(None);
        }
    }
    readers
}

fn links(forward: &Inst, backward: &Inst) -> Vec<Link> {
    let link = |arg: &Value| {
        let result = forward.results.iter().position(|own| own == arg).map(Link::Result);
        let arg = || forward.args.iter().position(|own| own == arg).map(Link::Arg);
        result.or_else(arg).unwrap_or(Link::Own)
    };
    backward.args.iter().map(link).collect()
}
