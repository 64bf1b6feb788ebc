//! The loss and the number of elements that it sums over.

use super::context::AuditCx;
use super::fix::RecipeKey;
use super::report::{Evidence, Report};
use halite_ir::Op;
use halite_support::codes;

/// Reports narrow scalars that the loss or its count is computed from. Above 256 `bf16` does not count by ones.
pub(super) fn check(cx: &AuditCx<'_>, report: &mut Report<'_>) {
    for inst in &cx.function.insts {
        let compute = match &inst.op {
            Op::Composite(composite) => composite.attrs.compute(),
            _ => None,
        };
        for &result in &inst.results {
            let Some(what) = cx.objective(result) else { continue };
            let dtypes = [Some(cx.dtype(result)), compute];
            if let Some(dtype) = dtypes.into_iter().flatten().find(|dtype| dtype.is_narrow()) {
                let evidence = Evidence { code: codes::LOSS_NARROW, loc: inst.loc, what, op: inst.op.name(), dtype };
                report.add(cx.id, evidence, RecipeKey::SENSITIVE, &[]);
            }
        }
    }
}
