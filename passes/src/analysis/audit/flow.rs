//! The flow of values across calls: values that updates compute, and values that the objective is computed from.

use halite_ir::{Function, Module, Op, ResultRole, Value};

/// The flow of values in one function, over all of its calls.
pub(super) struct Flow {
    /// For each value, whether it is computed from state of weights in floats: moments, master weights.
    pub(super) updates: Vec<bool>,
    /// For each value, whether it is a scalar that the loss or its count is computed from: which of the two.
    pub(super) objective: Vec<Option<&'static str>>,
}

/// The flow in each function of a module. Callers come after callees and are visited first.
pub(super) fn flows(module: &Module) -> Vec<Flow> {
    let mut flows: Vec<Flow> = module.functions.iter().map(Flow::seeds).collect();
    for (index, function) in module.functions.iter().enumerate().rev() {
        let (callees, rest) = flows.split_at_mut(index);
        let mut caller = Caller { module, function, own: &mut rest[0], callees };
        caller.updates();
        caller.objective();
    }
    flows
}

impl Flow {
    /// The flow that parameters and results state themselves.
    fn seeds(function: &Function) -> Self {
        let (mut updates, mut objective) = (vec![false; function.values.len()], vec![None; function.values.len()]);
        for param in &function.params {
            updates[param.value.index()] =
                param.role.weight_of().is_some() && function.ty(param.value).dtype().is_float();
        }
        for result in &function.results {
            let word = match &result.role {
                ResultRole::Loss => Some("loss"),
                ResultRole::Count => Some("count"),
                ResultRole::Sum | ResultRole::Over(_) => Some("metric"),
                ResultRole::Metric => ["loss", "count"].into_iter().find(|name| **name == *result.name),
                _ => continue,
            };
            objective[result.value.index()] = word;
        }
        Self { updates, objective }
    }
}

/// A function whose callers are known, and what it calls.
struct Caller<'a> {
    module: &'a Module,
    function: &'a Function,
    own: &'a mut Flow,
    callees: &'a mut [Flow],
}

impl Caller<'_> {
    fn updates(&mut self) {
        for inst in &self.function.insts {
            if !inst.args.iter().any(|arg| self.own.updates[arg.index()]) {
                continue;
            }
            inst.results.iter().for_each(|result| self.own.updates[result.index()] = true);
            for edge in inst.calls() {
                let params = edge.params(self.module.function(edge.callee));
                for (param, _) in params.filter(|(_, arg)| self.own.updates[arg.index()]) {
                    self.callees[edge.callee.index()].updates[param.index()] = true;
                }
            }
        }
    }

    fn objective(&mut self) {
        let is_scalar_float = |value: Value| {
            let ty = self.function.ty(value);
            ty.rank() == 0 && ty.dtype().is_float()
        };
        for inst in self.function.insts.iter().rev() {
            let Some(word) = inst.results.iter().find_map(|result| self.own.objective[result.index()]) else {
                continue;
            };
            for &arg in inst.args.iter().filter(|arg| is_scalar_float(**arg)) {
                let is_constant = self.function.def(arg).is_some_and(|def| matches!(def.op, Op::Constant(_)));
                if !is_constant && self.own.objective[arg.index()].is_none() {
                    self.own.objective[arg.index()] = Some(word);
                }
            }
            // What rounds does so for whoever calls it.
            for edge in inst.calls().filter(|edge| !self.module.function(edge.callee).rounds) {
                for (inner, outer) in edge.returns(self.module.function(edge.callee)) {
                    let known = &mut self.callees[edge.callee.index()].objective[inner.index()];
                    *known = known.or(self.own.objective[outer.index()]);
                }
            }
        }
    }
}
