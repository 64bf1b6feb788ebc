//! What every update rule shares: scaling by a scalar of the graph, and writing a weight.

use super::{Weight, slot_name};
use halite_ir::{Builder, Slot, Value};
use halite_support::{Name, Result};

/// A tensor times a scalar value of the graph.
pub(super) fn scaled(b: &mut Builder<'_>, x: Value, scalar: Value) -> Result<Value> {
    let scalar = b.convert(scalar, b.dtype(x))?;
    let shape = b.shape(x).clone();
    let factor = b.broadcast_in_dim(scalar, &[], shape)?;
    b.multiply(x, factor)
}

/// What replaces a weight and its wider copy.
pub(super) struct Written {
    pub(super) weight: Value,
    pub(super) master: Option<Value>,
}

/// `w' = w - (step + rate * decay * w)`: the weight after a step, with decoupled weight decay. Where there is a wider copy
/// it is the one that is updated, and the weight is that rounded.
///
/// The decay is added to the step before it is subtracted: `w * (1 - rate * decay)` would round to `w` at warm-up rates.
pub(super) fn written(b: &mut Builder<'_>, weight: &Weight, mut step: Value, rate: Value) -> Result<Written> {
    let old = b.convert(weight.master.unwrap_or(weight.value), b.dtype(step))?;
    if weight.decay != 0.0 {
        let rate = b.multiply_scalar(rate, weight.decay)?;
        let decay = scaled(b, old, rate)?;
        step = b.add(step, decay)?;
    }
    let new = b.subtract(old, step)?;
    let master = weight.master.map(|master| b.convert(new, b.dtype(master))).transpose()?;
    Ok(Written { weight: b.convert(new, b.dtype(weight.value))?, master })
}

/// What replaces the state, kind by kind.
#[derive(Default)]
pub(super) struct Replacements {
    weights: Vec<(Name, Value)>,
    slots: Vec<(Slot, Name, Value)>,
}

impl Replacements {
    pub(super) fn written(&mut self, weight: &Name, written: &Written) {
        self.weights.push((weight.clone(), written.weight));
        if let Some(master) = written.master {
            self.slot(Slot::Master, weight, master);
        }
    }

    pub(super) fn slot(&mut self, slot: Slot, weight: &Name, value: Value) {
        self.slots.push((slot, slot_name(slot, weight), value));
    }

    /// Weights first, then slot by slot, each with the name of its parameter.
    pub(super) fn in_order(self) -> Vec<(Name, Value)> {
        let mut all = self.weights;
        for slot in Slot::ALL {
            all.extend(self.slots.iter().filter(|own| own.0 == slot).map(|(_, name, value)| (name.clone(), *value)));
        }
        all
    }
}
