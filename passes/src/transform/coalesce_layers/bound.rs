//! The weights of the entry to which the parameters of functions are bound.

use super::uses::Uses;
use halite_ir::paths::nested;
use halite_ir::{Def, Function, Inst, LocTable, Module, ParamRole, Value};

/// The weights to which a parameter of a function is bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    /// No weight of the entry, or not at each call.
    Other,
    /// A weight at each call, which something else reads at some.
    Shared,
    /// At each call a weight that nothing else reads: their positions among the parameters of the entry, call by call.
    Own(Vec<usize>),
}

/// The calls of a function.
#[derive(Default, Debug)]
pub(super) struct Calls {
    /// The weights of each parameter.
    pub(super) params: Vec<Bound>,
    /// The scope of each call, where these are asked for.
    pub(super) scopes: Vec<String>,
}

/// The calls of each function, from the entry on. Calls of calls count as many times as they are made; a function of which a parameter
/// is a weight of its own at each is called at most once for each weight.
pub(super) fn calls(module: &Module, uses: &[Uses], with_scopes: bool) -> Vec<Calls> {
    let mut all: Vec<Option<Calls>> = module.functions.iter().map(|_| None).collect();
    if let (Some(entry), Some(own)) = (module.entry(), all.last_mut()) {
        let scopes = if with_scopes { vec![String::new()] } else { Vec::new() };
        *own = Some(Calls { params: entry_params(entry), scopes });
    }
    for index in (0..module.functions.len()).rev() {
        let (caller, function) = (all[index].take().unwrap_or_default(), &module.functions[index]);
        for inst in &function.insts {
            let Some(callee) = inst.op.callee() else { continue };
            let call = caller.call(function, inst, &uses[index], &module.locs);
            let known = all[callee.index()].take();
            all[callee.index()] = Some(match known {
                Some(known) => known.and(call),
                None => call,
            });
        }
        all[index] = Some(caller);
    }
    all.into_iter().map(Option::unwrap_or_default).collect()
}

fn entry_params(entry: &Function) -> Vec<Bound> {
    let params = entry.params.iter().enumerate();
    let bound = params.map(|(at, param)| match param.role {
        ParamRole::Weight(_) => Bound::Own(vec![at]),
        _ => Bound::Other,
    });
    bound.collect()
}

impl Calls {
    /// The calls that a function with these calls makes in turn by one instruction, call by call.
    fn call(&self, function: &Function, inst: &Inst, uses: &Uses, locs: &LocTable) -> Self {
        let is_call = inst.call().is_some() && !self.params.is_empty();
        let bound = |&arg: &Value| if is_call { self.bound(function, uses, arg) } else { Bound::Other };
        let params: Vec<Bound> = inst.args.iter().map(bound).collect();
        let mut call = Self { params, scopes: Vec::new() };
        if call.has_own() && !self.scopes.is_empty() {
            let scope = locs.scope(inst.loc);
            call.scopes = self.scopes.iter().map(|outer| nested(outer, scope.clone())).collect();
        }
        call
    }

    /// The weights to which an argument is bound.
    fn bound(&self, function: &Function, uses: &Uses, arg: Value) -> Bound {
        let Def::Param(at) = function.values[arg.index()].def else { return Bound::Other };
        match &self.params[at as usize] {
            Bound::Own(_) if !uses.is_read_once(arg) => Bound::Shared,
            bound => bound.clone(),
        }
    }

    /// These calls, then others.
    fn and(mut self, other: Self) -> Self {
        for (own, other) in self.params.iter_mut().zip(other.params) {
            match (own, other) {
                (Bound::Own(own), Bound::Own(more)) => own.extend(more),
                (own, other) if *own == Bound::Other || other == Bound::Other => *own = Bound::Other,
                (own, _) => *own = Bound::Shared,
            }
        }
        self.scopes.extend(other.scopes);
        if !self.has_own() {
            self.scopes.clear();
        }
        self
    }

    fn has_own(&self) -> bool {
        self.params.iter().any(|bound| matches!(bound, Bound::Own(_)))
    }

    /// The positions among the parameters of the entry of the weights that a parameter is, call by call.
    pub(super) fn own(&self, param: usize) -> &[usize] {
        match self.params.get(param) {
            Some(Bound::Own(weights)) => weights,
            _ => &[],
        }
    }
}
