//! Replacements of state.

use crate::transform::trained::Set;
use halite_ir::{Builder, Value};
use halite_optim::Kind;
use halite_support::{Name, Result};
use halite_tensor::{DType, StateSpec};

/// The replacements of state, kind by kind.
pub(super) struct Replacements {
    /// Kinds in the order of their parameters.
    kinds: Vec<Kind>,
    /// The place of the kind, 0 for weights; that of the weight; the parameter and its replacement.
    all: Vec<(usize, usize, Name, Value)>,
}

impl Replacements {
    pub(super) fn new(kinds: &[Kind]) -> Self {
        Self { kinds: kinds.to_vec(), all: Vec::new() }
    }

    /// Replaces the state of a kind of each member of a set or, without a kind, the weights themselves: takes `new` apart and
    /// rounds the parts to `dtype`.
    pub(super) fn put(
        &mut self,
        b: &mut Builder<'_>,
        kind: Option<Kind>,
        set: &Set,
        dtype: DType,
        new: Value,
    ) -> Result<()> {
        let place = kind.map_or(0, |kind| 1 + self.kinds.iter().take_while(|own| **own != kind).count());
        let mut end = 0;
        for weight in set {
            let start = end;
            end += b.shape(weight.value).num_elements();
            let own = if set.len() == 1 { new } else { b.slice_dim(new, 0, start, end)? };
            let own = b.convert(own, dtype)?;
            let name = match kind {
                None => weight.name.clone(),
                Some(kind) => StateSpec::new(kind).of(weight.name.clone()).param_name(),
            };
            self.all.push((place, weight.order, name, own));
        }
        Ok(())
    }

    /// Has a weight, by its place among all, replaced by a value.
    pub(super) fn keep(&mut self, order: usize, name: Name, value: Value) {
        self.all.push((0, order, name, value));
    }

    /// Weights first, then kind by kind, each with the name of its parameter.
    pub(super) fn in_order(mut self) -> impl Iterator<Item = (Name, Value)> {
        self.all.sort_by_key(|&(kind, order, ..)| (kind, order));
        self.all.into_iter().map(|(_, _, name, value)| (name, value))
    }
}
