//! What the parts of an audit know of the entry.

use crate::framework::pass::PassCx;
use crate::transform::annotate_rounding::DITHER;
use crate::transform::trained::SCOPE;
use crate::transform::update::rules::UpdateRules;
use crate::transform::{accumulate, skip};
use halite_ir::{FuncResult, Function, InferCx, Inst, LocId, LocKind, Module, Op, Param, ParamRole, ResultRole, Value};
use halite_recipe::{Precision, Recipe};
use halite_support::Name;
use halite_tensor::DType;
use rustc_hash::FxHashMap;

/// The entry of a module, or another function with gradients, and what flows where in it.
pub(super) struct AuditCx<'a> {
    pub(super) module: &'a Module,
    pub(super) entry: &'a Function,
    pub(super) recipe: Option<&'a Recipe>,
    pub(super) rules: &'a UpdateRules,
    pub(super) infer: InferCx<'a>,
    /// For each value, whether it is computed from state of weights in floats: moments, master weights.
    updates: Vec<bool>,
    /// For each value, whether it is a scalar that the loss or its count is computed from: which of the two.
    objective: Vec<Option<&'static str>>,
    /// The values that replace parameters, by the name of the parameter.
    replacements: FxHashMap<&'a Name, Value>,
}

impl<'a> AuditCx<'a> {
    pub(super) fn new(module: &'a Module, entry: &'a Function, cx: &PassCx<'a>) -> Self {
        Self {
            module,
            entry,
            recipe: cx.recipe,
            rules: cx.rules,
            infer: InferCx { functions: &module.functions, registry: cx.registry },
            updates: updates(entry),
            objective: objective(entry),
            replacements: replacements(entry),
        }
    }

    pub(super) fn precision(&self) -> Option<&'a Precision> {
        self.recipe.map(|recipe| &recipe.precision)
    }

    pub(super) fn dtype(&self, value: Value) -> DType {
        self.entry.ty(value).dtype()
    }

    /// Whether an instruction computes something from state of weights in floats: moments, master weights.
    pub(super) fn is_update(&self, inst: &Inst) -> bool {
        inst.results.iter().any(|result| self.updates[result.index()])
    }

    /// `loss` or `count` when a value is a scalar that one of them is computed from.
    pub(super) fn objective(&self, value: Value) -> Option<&'static str> {
        self.objective[value.index()]
    }

    /// Whether an instruction was written by what makes the step of gradients.
    pub(super) fn is_of_optimizer(&self, loc: LocId) -> bool {
        let of_step = |name: &str| name == SCOPE || name == accumulate::SCOPE;
        matches!(self.module.locs.named(loc).last(), Some(LocKind::Scope(name)) if of_step(name))
    }

    /// Whether an instruction rounds stochastically by a helper that `annotate-rounding` made.
    pub(super) fn is_dither(&self, inst: &Inst) -> bool {
        matches!(&inst.op, Op::Call(call) if self.module.function(call.callee).name.starts_with(DITHER))
    }

    /// The weights and their types.
    pub(super) fn weights(&self) -> impl Iterator<Item = (&'a Param, DType)> {
        let is_weight = |param: &&Param| matches!(param.role, ParamRole::Weight(_));
        self.entry.params.iter().filter(is_weight).map(|param| (param, self.entry.ty(param.value).dtype()))
    }

    /// The weights that have state of a kind, and the type of that state.
    pub(super) fn state(&self, kind: &str) -> impl Iterator<Item = (&'a Param, DType)> {
        let weights: FxHashMap<&Name, &Param> = self.weights().map(|(param, _)| (&param.name, param)).collect();
        self.entry.params.iter().filter_map(move |param| match &param.role {
            ParamRole::State(spec) if spec.kind == *kind => {
                Some((*weights.get(spec.of.as_ref()?)?, self.entry.ty(param.value).dtype()))
            }
            _ => None,
        })
    }

    /// Whether the entry returns gradients, or what it makes of them.
    pub(super) fn has_gradients(&self) -> bool {
        let is_gradient = |result: &FuncResult| matches!(result.role, ResultRole::Gradient(_));
        self.entry.results.iter().any(is_gradient) || !self.replacements.is_empty()
    }

    /// What replaces the parameter of this name.
    pub(super) fn replacement(&self, name: &Name) -> Option<&'a Inst> {
        self.entry.def(*self.replacements.get(name)?)
    }
}

fn replacements(entry: &Function) -> FxHashMap<&Name, Value> {
    let replaced = entry.results.iter().filter_map(|result| match &result.role {
        ResultRole::State(name) => Some((name, skip::written(entry, result.value))),
        _ => None,
    });
    replaced.collect()
}

fn updates(entry: &Function) -> Vec<bool> {
    let mut reached = vec![false; entry.values.len()];
    for param in &entry.params {
        reached[param.value.index()] = param.role.weight_of().is_some() && entry.ty(param.value).dtype().is_float();
    }
    for inst in &entry.insts {
        if inst.args.iter().any(|arg| reached[arg.index()]) {
            inst.results.iter().for_each(|result| reached[result.index()] = true);
        }
    }
    reached
}

fn objective(entry: &Function) -> Vec<Option<&'static str>> {
    let mut reached = vec![None; entry.values.len()];
    for result in &entry.results {
        reached[result.value.index()] = match &result.role {
            ResultRole::Loss => Some("loss"),
            ResultRole::Count => Some("count"),
            ResultRole::Metric => ["loss", "count"].into_iter().find(|name| **name == *result.name),
            _ => continue,
        };
    }
    let is_scalar_float = |value: Value| entry.ty(value).rank() == 0 && entry.ty(value).dtype().is_float();
    for inst in entry.insts.iter().rev() {
        let Some(word) = inst.results.iter().find_map(|result| reached[result.index()]) else { continue };
        for &arg in inst.args.iter().filter(|arg| is_scalar_float(**arg)) {
            let is_constant = entry.def(arg).is_some_and(|def| matches!(def.op, Op::Constant(_)));
            if !is_constant && reached[arg.index()].is_none() {
                reached[arg.index()] = Some(word);
            }
        }
    }
    reached
}
