//! The parameters of a function by name.

use crate::syntax::{Function, Param};
use halite_tensor::Packing;
use rustc_hash::FxHashMap;

/// The parameters of a function by name, for looking up many of them.
#[derive(Clone, Debug)]
pub struct NamedParams<'a> {
    params: &'a [Param],
    places: FxHashMap<&'a str, usize>,
}

impl<'a> NamedParams<'a> {
    /// Those of a function.
    pub fn of(function: &'a Function) -> Self {
        let places = function.params.iter().enumerate().map(|(at, param)| (&*param.name, at)).collect();
        Self { params: &function.params, places }
    }

    /// The position of the one with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The one with this name.
    pub fn get(&self, name: &str) -> Option<&'a Param> {
        self.position(name).map(|at| &self.params[at])
    }

    /// The packing of a parameter that stores several tensors of the model: that of a weight, which its state shares.
    pub fn packing<'p>(&self, param: &'p Param) -> Option<&'p Packing>
    where
        'a: 'p,
    {
        let weight = param.role.weight_of().and_then(|of| self.get(of));
        weight.unwrap_or(param).packing().map(|packing| &**packing)
    }
}
