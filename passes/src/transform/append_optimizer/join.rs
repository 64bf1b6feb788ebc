//! Vectors that are updated as one tensor.

use super::Weight;
use crate::transform::slots::SlotTypes;
use halite_ir::{Builder, Value};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::{SmallVec, smallvec};

/// The scope of what is computed for several vectors at once.
const SCOPE: &str = "vectors";

/// Puts vectors that are updated alike (norm weights, biases) end to end, so that a few instructions update all of them.
/// Their values stay their own: the state is what it is without this.
pub(super) fn join_vectors(b: &mut Builder<'_>, weights: Vec<Weight>) -> Result<Vec<Weight>> {
    let mut groups: Vec<(Option<Alike>, SmallVec<[Weight; 1]>)> = Vec::with_capacity(weights.len());
    for weight in weights {
        let alike = alike(b, &weight);
        match groups.iter_mut().find(|(of, _)| alike.is_some() && *of == alike) {
            Some((_, members)) => members.push(weight),
            None => groups.push((alike, smallvec![weight])),
        }
    }
    groups.into_iter().map(|(_, members)| join(b, members)).collect()
}

/// What vectors that are joined agree in: the decay and the element types of the weight, its gradient and its slots.
type Alike = (u64, [DType; 2], SlotTypes);

/// None for what is not a vector of its own.
fn alike(b: &Builder<'_>, weight: &Weight) -> Option<Alike> {
    let types = [b.dtype(weight.value), b.dtype(weight.gradient)];
    let joins = b.ty(weight.value).rank() == 1 && weight.packing.is_none();
    joins.then(|| (weight.decay.to_bits(), types, weight.types))
}

fn join(b: &mut Builder<'_>, mut members: SmallVec<[Weight; 1]>) -> Result<Weight> {
    if members.len() == 1 {
        return Ok(members.remove(0));
    }
    let outer = b.enter_scope(SCOPE);
    let mut end_to_end = |of: fn(&Weight) -> Option<Value>| {
        let values: Option<Vec<_>> = members.iter().map(of).collect();
        values.map(|values| b.concatenate(&values, 0)).transpose()
    };
    let value = end_to_end(|weight| Some(weight.value))?.unwrap_or(members[0].value);
    let gradient = end_to_end(|weight| Some(weight.gradient))?.unwrap_or(members[0].gradient);
    let (m, v) = (end_to_end(|weight| weight.m)?, end_to_end(|weight| weight.v)?);
    let master = end_to_end(|weight| weight.master)?;
    b.set_loc(outer);
    let Weight { decay, types, .. } = members[0];
    let parts = members.into_iter().flat_map(|weight| weight.parts).collect();
    Ok(Weight { scope: SCOPE.into(), parts, value, gradient, decay, types, packing: None, m, v, master })
}
