//! Comparisons.

use crate::op::Op;
use crate::site::Site;
use halite_support::Result;

/// The checker holds the direction to those there are. A comparison without a type is of the type of its operands.
pub(super) fn compare(site: &Site<'_>) -> Result<Op> {
    let inst = site.inst();
    let direction = format!("#stablehlo<comparison_direction {}>", inst.comparison_direction);
    let op = site.op()?.with("comparison_direction", direction);
    Ok(match inst.comparison_type.as_str() {
        "" => op,
        kind => op.with("compare_type", format!("#stablehlo<comparison_type {kind}>")),
    })
}
