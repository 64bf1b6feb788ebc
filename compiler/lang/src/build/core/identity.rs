//! Identities of functions: calls of functions with one identity share a function.

use super::frame::Frame;
use halite_ir::{LocTable, Op, TensorType, Value as Id, Values};
use halite_support::Name;

/// All that functions have in common which are one: everything but the lines they are written on, the names of arguments, and
/// how weights start, which is their callers' to say.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Identity {
    name: Name,
    params: Vec<(Id, TensorType)>,
    /// The names of weights, below the scope of the call.
    weights: Vec<(Id, Name)>,
    /// Operations with their operands, in the scopes that they say they come from.
    insts: Vec<(Op, Values, String)>,
    results: Vec<Id>,
}

impl Identity {
    /// That of a function whose body was run.
    pub(super) fn new(frame: &Frame, results: &[Id], locs: &LocTable) -> Self {
        let function = frame.draft.function();
        let params = function.params.iter().map(|param| (param.value, function.ty(param.value).clone()));
        let insts = function.insts.iter().map(|inst| (inst.op.clone(), inst.args.clone(), locs.path(inst.loc)));
        Self {
            name: function.name.clone(),
            params: params.collect(),
            weights: frame.weights.iter().map(|weight| (weight.value, weight.weight.name.clone())).collect(),
            insts: insts.collect(),
            results: results.to_vec(),
        }
    }
}
