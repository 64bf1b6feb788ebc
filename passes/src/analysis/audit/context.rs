//! The context of an audit of one function.

use super::flow::Flow;
use crate::framework::pass::PassCx;
use crate::transform::skip;
use halite_ir::{FuncId, FuncResult, Function, InferCx, Inst, LocId, Module, Param, ParamRole, ResultRole, Value};
use halite_optim::UpdateRules;
use halite_recipe::{Precision, Recipe};
use halite_support::Name;
use halite_tensor::DType;
use rustc_hash::FxHashMap;

/// A function of a module, with the flow of its values.
pub(super) struct AuditCx<'a> {
    pub(super) module: &'a Module,
    pub(super) id: FuncId,
    pub(super) function: &'a Function,
    pub(super) recipe: Option<&'a Recipe>,
    pub(super) rules: &'a UpdateRules,
    pub(super) infer: InferCx<'a>,
    flow: &'a Flow,
    /// The values that replace parameters, by the name of the parameter.
    replacements: FxHashMap<&'a Name, Value>,
}

impl<'a> AuditCx<'a> {
    pub(super) fn new(module: &'a Module, id: FuncId, flows: &'a [Flow], cx: &PassCx<'a>) -> Self {
        let (function, flow) = (module.function(id), &flows[id.index()]);
        Self {
            module,
            id,
            function,
            recipe: cx.recipe,
            rules: cx.rules,
            infer: InferCx { functions: &module.functions, registry: cx.registry },
            flow,
            replacements: replacements(&module.functions, function),
        }
    }

    pub(super) fn precision(&self) -> Option<&'a Precision> {
        self.recipe.map(|recipe| &recipe.precision)
    }

    pub(super) fn dtype(&self, value: Value) -> DType {
        self.function.ty(value).dtype()
    }

    /// Whether an instruction computes something from state of weights in floats: moments, master weights.
    pub(super) fn is_update(&self, inst: &Inst) -> bool {
        inst.results.iter().any(|result| self.flow.updates[result.index()])
    }

    /// `loss` or `count` when a value is a scalar that one of them is computed from.
    pub(super) fn objective(&self, value: Value) -> Option<&'static str> {
        self.flow.objective[value.index()]
    }

    /// Whether an instruction was written by a pass that makes the step of gradients.
    pub(super) fn is_of_optimizer(&self, loc: LocId) -> bool {
        self.module.locs.part(loc).is_some()
    }

    /// Whether an instruction rounds stochastically by a helper that `annotate-rounding` made.
    pub(super) fn is_dither(&self, inst: &Inst) -> bool {
        inst.call().is_some_and(|edge| self.module.function(edge.callee).rounds)
    }

    /// The weights and their types.
    pub(super) fn weights(&self) -> impl Iterator<Item = (&'a Param, DType)> {
        let is_weight = |param: &&Param| matches!(param.role, ParamRole::Weight(_));
        self.function.params.iter().filter(is_weight).map(|param| (param, self.function.ty(param.value).dtype()))
    }

    /// The weights that have state of a kind, and the type of that state.
    pub(super) fn state(&self, kind: &str) -> impl Iterator<Item = (&'a Param, DType)> {
        let weights: FxHashMap<&Name, &Param> = self.weights().map(|(param, _)| (&param.name, param)).collect();
        self.function.params.iter().filter_map(move |param| match &param.role {
            ParamRole::State(spec) if spec.kind == *kind => {
                Some((*weights.get(spec.of.as_ref()?)?, self.function.ty(param.value).dtype()))
            }
            _ => None,
        })
    }

    /// Whether the function returns gradients, or replacements of parameters.
    pub(super) fn has_gradients(&self) -> bool {
        let is_gradient = |result: &FuncResult| matches!(result.role, ResultRole::Gradient(_));
        self.function.results.iter().any(is_gradient) || !self.replacements.is_empty()
    }

    /// The instruction whose result replaces the parameter of this name.
    pub(super) fn replacement(&self, name: &Name) -> Option<&'a Inst> {
        self.function.def(*self.replacements.get(name)?)
    }

    /// The instruction that computes the replacement of the parameter of this name, here or in a function that is called for it.
    pub(super) fn written_by(&self, name: &Name) -> Option<&'a Inst> {
        let (mut function, mut value) = (self.function, *self.replacements.get(name)?);
        let mut write = function.def(value)?;
        while let Some(edge) = write.call().filter(|_| !self.is_dither(write)) {
            let callee = self.module.function(edge.callee);
            let Some(inside) = edge.inside(callee, value) else { break };
            function = callee;
            value = skip::written(&self.module.functions, function, inside);
            let Some(inner) = function.def(value) else { break };
            write = inner;
        }
        Some(write)
    }
}

fn replacements<'a>(functions: &[Function], entry: &'a Function) -> FxHashMap<&'a Name, Value> {
    let replaced = entry.results.iter().filter_map(|result| match &result.role {
        ResultRole::State(name) => Some((name, skip::written(functions, entry, result.value))),
        _ => None,
    });
    replaced.collect()
}
