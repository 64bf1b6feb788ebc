//! Rules that look at a tensor as a whole, on a weight that stores several.

use crate::transform::packed::{pack, unpack};
use halite_ir::{Builder, Value, Values};
use halite_optim::{Step, Weight};
use halite_support::{Diagnostic, Result};
use halite_tensor::Packing;

/// The step of a rule for each tensor of the model that a weight stores, stored as the weight is.
///
/// # Errors
/// Those of `step`.
pub(super) fn step_each(
    b: &mut Builder<'_>,
    packing: &Packing,
    weight: &Weight,
    step: impl Fn(&mut Builder<'_>, &Weight) -> Result<Step>,
) -> Result<Step> {
    let value = unpack(b, packing, weight.value)?;
    let gradient = unpack(b, packing, weight.gradient)?;
    let state = weight.state.iter().map(|&kept| unpack(b, packing, kept)).collect::<Result<Vec<_>>>()?;
    let mut steps = Vec::with_capacity(packing.parts.len());
    for (at, part) in packing.parts.iter().enumerate() {
        let state = state.iter().map(|kept| kept[at]).collect();
        let own =
            Weight { value: value[at], gradient: gradient[at], decay: weight.decay, output: weight.output, state };
        let outer = b.enter_scope(part.name.as_str());
        steps.push(step(b, &own)?);
        b.set_loc(outer);
    }
    let minus = pack(b, packing, &steps.iter().map(|step| step.minus).collect::<Values>())?;
    let packed = |kind: usize| {
        let kept = steps.iter().map(|step| step.state.get(kind).copied()).collect::<Option<Vec<Value>>>();
        pack(b, packing, &kept.ok_or_else(|| Diagnostic::bug("an update rule that leaves out what it keeps"))?)
    };
    let state = (0..weight.state.len()).map(packed).collect::<Result<Values>>()?;
    Ok(Step { minus, state })
}
