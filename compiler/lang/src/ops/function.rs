//! Functions of a model: written once for arguments of one kind, then called.

use super::{Sizes, Value};
use halite_ir::{Builder, Draft, FuncId, Function, Module, Registry, TensorType, Value as Tensor, Values};
use halite_support::{Name, Result};
use halite_tensor::Init;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Functions of fewer instructions are written in the place of their calls, where passes see them with what surrounds them.
const MIN_INSTS: usize = 16;

/// A weight as a model declares it.
#[derive(Clone, Debug)]
pub(crate) struct Weight {
    /// Its name below the scope of the call.
    pub(crate) name: Name,
    pub(crate) ty: TensorType,
    /// The size factors of its dimensions.
    pub(crate) sizes: Sizes,
    pub(crate) init: Init,
    /// Whether updates change it.
    pub(crate) is_trained: bool,
}

/// A weight that is declared while a function is written; `D` is the place of the declaration.
#[derive(Clone, Debug)]
pub(crate) struct Declared<D> {
    pub(crate) weight: Weight,
    pub(crate) at: D,
    /// The parameter that it is.
    pub(crate) value: Tensor,
}

/// A written function, as it is called. It takes the tensors among its arguments, then the values outside of it that it reads and its
/// weights, in the order of its parameters.
#[derive(Clone, Debug)]
pub(crate) enum Callee {
    /// Written in the place of each call.
    Small(Arc<Function>),
    /// Called.
    Function(FuncId),
}

impl Callee {
    /// Of a function whose instructions and parameters are there, with these results.
    pub(crate) fn new(b: &mut Builder<'_>, draft: Draft, results: &[Tensor]) -> Self {
        let calls = draft.function().insts.iter().any(|inst| inst.call().is_some());
        let function = draft.with_results(results);
        match function.function().insts.len() < MIN_INSTS && !calls {
            true => Self::Small(Arc::new(function.function().clone())),
            false => Self::Function(b.add_function(function)),
        }
    }

    /// Calls it. `others` are what follows the arguments, in any order, each with the parameter that it stands for.
    pub(crate) fn call(
        &self,
        b: &mut Builder<'_>,
        mut args: Vec<Tensor>,
        mut others: Vec<(Tensor, Tensor)>,
    ) -> Result<Values> {
        let site = b.loc();
        others.sort_by_key(|(param, _)| param.index());
        args.extend(others.into_iter().map(|(_, value)| value));
        match self {
            Self::Small(body) => b.copy_body(body, &args, |b, inst, args| b.emit_inlined(body, inst, args, site)),
            Self::Function(callee) => b.call(*callee, &args),
        }
    }
}

impl Value {
    /// The tensors in it, in order.
    pub(crate) fn tensors(&self, into: &mut Vec<Tensor>) {
        match self {
            Value::Tensor(tensor) => into.push(*tensor),
            Value::List(list) if list.tensors > 0 => list.items.iter().for_each(|item| item.tensors(into)),
            _ => {}
        }
    }

    /// The same with other tensors, taken in order; `None` when there are too few.
    pub(crate) fn with_tensors(&self, next: &mut impl FnMut() -> Option<Tensor>) -> Option<Self> {
        match self {
            Value::Tensor(_) => next().map(Value::Tensor),
            Value::List(list) if list.tensors > 0 => {
                let items: Option<Vec<_>> = list.items.iter().map(|item| item.with_tensors(next)).collect();
                Value::list(items?)
            }
            other => Some(other.clone()),
        }
    }

    /// The same with each of its tensors a parameter of the function being built, named after `name` unless that is taken.
    pub(crate) fn as_params(
        &self,
        name: &Name,
        types: &mut impl Iterator<Item = TensorType>,
        b: &mut Builder<'_>,
    ) -> Option<Self> {
        self.with_tensors(&mut || types.next().map(|ty| b.argument(name, ty)))
    }
}

/// Writes functions that are called from one place there, which leaves those that several calls share, and names these apart.
pub(crate) fn settle(module: &mut Module, registry: &Registry) -> Result<()> {
    let mut sites = vec![0usize; module.functions.len()];
    for inst in module.functions.iter().flat_map(|function| &function.insts) {
        if let Some(callee) = inst.op.callee() {
            sites[callee.index()] += 1;
        }
    }
    let once: Vec<bool> = sites.iter().map(|&sites| sites == 1).collect();
    let kept: Vec<bool> = once.iter().map(|once| !once).collect();
    if once.contains(&true) {
        halite_ir::inline_calls(module, registry, &once, &kept)?;
    }
    module.drop_unreached();
    name_apart(&mut module.functions);
    Ok(())
}

/// Of functions of one name the first keeps it, the others become `name.1`, `name.2` and so on: names of a model have no dots.
fn name_apart(functions: &mut [Function]) {
    let mut counts: FxHashMap<Name, usize> = FxHashMap::default();
    for function in functions {
        let count = counts.entry(function.name.clone()).or_default();
        if *count > 0 {
            function.name = format!("{}.{count}", function.name).into();
        }
        *count += 1;
    }
}
