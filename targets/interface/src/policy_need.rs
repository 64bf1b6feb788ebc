//! Resources that a module would need under another recipe.

use halite_bundle::estimate::FitVerdict;
use halite_recipe::RecomputePolicy;

/// Memory and FLOPs that a module would need under recomputation policies other than those of its recipe.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyNeed {
    /// The module.
    pub module: String,
    /// The policies.
    pub policies: Vec<RecomputePolicy>,
    /// Device memory, in bytes.
    pub memory: u64,
    /// Whether that fits.
    pub verdict: FitVerdict,
    /// Floating-point operations of matmuls, as a multiple of those under the recipe as it is.
    pub flops: f64,
}
