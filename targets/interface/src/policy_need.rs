//! What a module would need under another recipe.

use halite_bundle::estimate::FitVerdict;
use halite_recipe::RecomputePolicy;

/// What a module would need under policies of recomputation that its recipe does not state.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyNeed {
    /// The module.
    pub module: String,
    /// The policies.
    pub policies: Vec<RecomputePolicy>,
    /// Device memory, in bytes.
    pub memory: u64,
    /// Whether that is there.
    pub verdict: FitVerdict,
    /// Floating-point operations of matmuls, over those of the recipe as it is.
    pub flops: f64,
}
