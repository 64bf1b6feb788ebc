//! The precision audit: where a module computes, sums or keeps numbers in fewer bits than training can bear.
//!
//! Each kind of finding has its file. An audit reads the module alone; the recipe only says how findings are fixed.

mod context;
mod demand;
mod fix;
mod flow;
mod gradients;
mod loss;
mod moments;
mod ops;
mod report;
pub(crate) mod result;
mod unscaled;
mod update;
mod weights;
mod words;

pub use ops::{PrecisionUse, precision_uses};
pub use result::{Audit, Checked};

use crate::framework::pass::PassCx;
use context::AuditCx;
use flow::flows;
use halite_ir::{FuncId, Module};
use halite_support::{Result, check_cancelled};
use halite_tensor::DType;
use report::Report;

/// Audits a module in any phase. Composites are read through what mixed precision says of them and through their
/// decompositions, so that a module has the same findings before and after they are expanded.
///
/// # Errors
/// When a composite cannot be decomposed.
pub fn audit(module: &Module, cx: &PassCx<'_>) -> Result<Audit> {
    let mut report = Report::new(module, cx.recipe.map(|recipe| &recipe.precision));
    let flows = flows(module);
    for index in 0..module.functions.len() {
        check_cancelled()?;
        let function = FuncId::new(index);
        let cx = AuditCx::new(module, function, &flows, cx);
        ops::check(&cx, &mut report)?;
        gradients::check(&cx, &mut report);
        loss::check(&cx, &mut report);
        update::check(&cx, &mut report);
        if index + 1 == module.functions.len() {
            unscaled::check(&cx, &mut report);
            weights::check(&cx, &mut report);
            moments::check(&cx, &mut report);
        }
    }
    Ok(report.finish())
}

/// The narrowest type for ops that lose their meaning at low precision, sums, gradients, the loss and updates.
const ENOUGH: DType = DType::F32;

/// The narrower one of two element types.
fn narrower(x: DType, y: DType) -> DType {
    if y.size() < x.size() { y } else { x }
}
