//! The loss and the number of elements that it sums over.

use super::mend::RecipeKey;
use super::report::{Evidence, Report};
use super::scene::Scene;
use halite_ir::Op;
use halite_support::codes;

/// Reports narrow scalars that the loss or its count is computed from. Above 256 `bf16` does not count by ones.
pub(super) fn check(scene: &Scene<'_>, report: &mut Report<'_>) {
    for inst in &scene.entry.insts {
        let compute = match &inst.op {
            Op::Composite(composite) => composite.attrs.compute(),
            _ => None,
        };
        for &result in &inst.results {
            let Some(what) = scene.objective(result) else { continue };
            let dtypes = [Some(scene.dtype(result)), compute];
            if let Some(dtype) = dtypes.into_iter().flatten().find(|dtype| dtype.is_narrow()) {
                let evidence = Evidence { code: codes::LOSS_NARROW, loc: inst.loc, what, op: inst.op.name(), dtype };
                report.add(evidence, RecipeKey::SENSITIVE, []);
            }
        }
    }
}
