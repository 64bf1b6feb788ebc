//! Gradients in `f16`: does anything keep the small ones?

use super::context::AuditCx;
use super::report::Report;
use halite_recipe::LossScale;
use halite_support::{Diagnostic, codes};
use halite_tensor::DType;

/// Reports that gradients are computed in `f16` of a loss that is not scaled. What is smaller than the least number of `f16` is then 0.
pub(super) fn check(cx: &AuditCx<'_>, report: &mut Report<'_>) {
    let Some(recipe) = cx.recipe else { return };
    if !recipe.precision.uses_f16() || recipe.scale_of_loss() != LossScale::NONE || !cx.has_gradients() {
        return;
    }
    let finding =
        Diagnostic::warning(codes::GRADIENT_UNSCALED, "gradients are computed in `f16` of a loss that is not scaled")
            .note("what is smaller than 6e-8 is 0 there, and gradients are that small long before training is over")
            .key("loss_scale")
            .help("remove `loss_scale = 1`, so that a scale is found as training goes, or compute in `bf16`");
    report.add_finding("gradients", DType::F16, &[], finding);
}
