//! What every update rule shares: scaling by a scalar of the graph, and writing a weight.

use super::{Terms, Weight};
use crate::transform::slots::{M, MASTER, V};
use halite_ir::{Builder, Value};
use halite_support::{Name, Result};
use halite_tensor::StateSpec;

/// A scalar value of the graph as a tensor of the type of `like`.
pub(super) fn spread(b: &mut Builder<'_>, scalar: Value, like: Value) -> Result<Value> {
    let scalar = b.convert(scalar, b.dtype(like))?;
    let shape = b.shape(like).clone();
    b.broadcast_in_dim(scalar, &[], shape)
}

/// A tensor times a scalar value of the graph.
pub(super) fn scaled(b: &mut Builder<'_>, x: Value, scalar: Value) -> Result<Value> {
    let factor = spread(b, scalar, x)?;
    b.multiply(x, factor)
}

/// Updates each weight by what `step` says is to be subtracted from it, decay aside, given its gradient in the type of
/// arithmetic; `step` replaces the moments. Replacements of weights, then slot by slot, each with the name of its parameter.
pub(super) fn updates(
    b: &mut Builder<'_>,
    terms: &Terms,
    weights: &[Weight],
    step: impl Fn(&mut Builder<'_>, &Weight, Value, &mut Replacements) -> Result<Value>,
) -> Result<Vec<(Name, Value)>> {
    let mut all = Replacements::default();
    for weight in weights {
        let outer = b.enter_scope(weight.scope.clone());
        let gradient = b.convert(weight.gradient, terms.dtype)?;
        let step = step(b, weight, gradient, &mut all)?;
        all.weight(b, weight, step, terms.rate)?;
        b.set_loc(outer);
    }
    Ok(all.in_order())
}

/// What replaces the state, kind by kind.
#[derive(Default)]
pub(super) struct Replacements {
    /// The kind of state, `None` for weights; the place among all weights; the parameter and what replaces it.
    all: Vec<(Option<&'static str>, usize, Name, Value)>,
}

impl Replacements {
    /// `w' = w - (step + rate * decay * w)`: the weight after a step, with decoupled weight decay. Where there is a wider
    /// copy it is the one that is updated, and the weight is that rounded.
    ///
    /// The decay is added to the step before it is subtracted: `w * (1 - rate * decay)` would round to `w` at warm-up
    /// rates.
    fn weight(&mut self, b: &mut Builder<'_>, weight: &Weight, mut step: Value, rate: Value) -> Result<()> {
        let old = b.convert(weight.master.unwrap_or(weight.value), b.dtype(step))?;
        if weight.decay != 0.0 {
            let rate = b.multiply_scalar(rate, weight.decay)?;
            let decay = scaled(b, old, rate)?;
            step = b.add(step, decay)?;
        }
        let new = b.subtract(old, step)?;
        if let Some(master) = weight.master {
            self.put(b, Some(MASTER), weight, master, new)?;
        }
        self.put(b, None, weight, weight.value, new)
    }

    /// Replaces a slot of the weight or, without one, the weight itself: takes `new` apart and rounds the parts to the
    /// type of `old`.
    pub(super) fn put(
        &mut self,
        b: &mut Builder<'_>,
        kind: Option<&'static str>,
        weight: &Weight,
        old: Value,
        new: Value,
    ) -> Result<()> {
        let mut end = 0;
        for part in &weight.parts {
            let start = end;
            end += part.size;
            let own = if weight.parts.len() == 1 { new } else { b.slice_dim(new, 0, start, end)? };
            let own = b.convert(own, b.dtype(old))?;
            let name =
                kind.map_or_else(|| part.name.clone(), |kind| StateSpec::new(kind).of(part.name.clone()).param_name());
            self.all.push((kind, part.order, name, own));
        }
        Ok(())
    }

    /// Weights first, then slot by slot, each with the name of its parameter.
    fn in_order(mut self) -> Vec<(Name, Value)> {
        let place = |kind: Option<&str>| [None, Some(M), Some(V), Some(MASTER)].iter().position(|own| *own == kind);
        self.all.sort_by_key(|&(kind, order, ..)| (place(kind), order));
        self.all.into_iter().map(|(_, _, name, value)| (name, value)).collect()
    }
}
