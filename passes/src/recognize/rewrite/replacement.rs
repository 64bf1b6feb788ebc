//! The composite that a rule puts in the place of a match.

use super::bindings::{Bindings, MatchResult};
use super::view::{DimMap, MatchCx};
use halite_ir::{Attr, Value};

/// The attributes of the composite.
pub(crate) type Attributes = fn(&Bindings, &MatchCx<'_>) -> Vec<(&'static str, Attr)>;

/// A composite of what a pattern names.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    /// The name of the rule, in kebab case; unique in its pass.
    pub(super) rule: &'static str,
    pub(super) composite: &'static str,
    /// The operands of the composite, in its order.
    pub(super) operands: Vec<Operand>,
    pub(super) attributes: Attributes,
}

/// A tensor of a pattern that the composite reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) name: &'static str,
    /// Whether it has one element for each position of the root's last dimension, instead of the root's shape.
    pub(super) vector: bool,
}

impl Replacement {
    /// The values that the composite reads.
    pub(super) fn reads(&self, bindings: &Bindings) -> impl Iterator<Item = Value> {
        self.operands.iter().filter_map(|operand| operand.value(bindings))
    }
}

impl Operand {
    /// The value that is read.
    pub(super) fn value(&self, bindings: &Bindings) -> Option<Value> {
        let bound = bindings.tensor(self.name)?;
        Some(if self.vector { bound.base.value } else { bound.view.value })
    }

    pub(super) fn check(&self, bindings: &Bindings, cx: &MatchCx<'_>) -> MatchResult {
        let name = self.name;
        let bound = bindings.tensor(name).ok_or_else(|| format!("nothing is `{name}`"))?;
        if !self.vector {
            let shape = cx.function.ty(bound.view.value).shape();
            let fits = bound.view.dim_map == cx.aligned() && shape == cx.shape();
            return if fits { Ok(()) } else { Err(format!("`{name}` has not the shape of the result")) };
        }
        let last = cx.last().filter(|&last| cx.shape()[last] != 1);
        let places: DimMap = bound.base.dim_map.iter().copied().filter(Option::is_some).collect();
        let fits = places.iter().copied().eq(last.map(Some));
        if fits { Ok(()) } else { Err(format!("the {name} is not one vector along the last dimension")) }
    }
}
