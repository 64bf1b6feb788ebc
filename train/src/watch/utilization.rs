//! The utilization of the devices: the share of their peak rate that a run uses.

use halite_bundle::Manifest;
use halite_runtime::Executor;

/// The platform of a host. No target documents its peak.
const HOST: &str = "cpu";

/// The operations that the model asks for a token, and those that all ranks could do in a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Utilization {
    flops_per_token: f64,
    peak: f64,
}

impl Utilization {
    /// The utilization of a bundle on an executor; `None` where operations or peak are not known, or where the modules run on a host in
    /// place of their target.
    pub(crate) fn of(manifest: &Manifest, executor: &dyn Executor) -> Option<Self> {
        let is_host = executor.platform().eq_ignore_ascii_case(HOST);
        let peak = manifest.statistics.peak_flops.filter(|_| !is_host)?;
        let peak = peak as f64 * manifest.num_ranks() as f64;
        let flops_per_token = manifest.statistics.model_flops_per_token;
        (flops_per_token > 0).then_some(Self { flops_per_token: flops_per_token as f64, peak })
    }

    /// The share of the peak rate at so many tokens in a second.
    pub(super) fn at(self, tokens_per_second: f64) -> f64 {
        tokens_per_second * self.flops_per_token / self.peak
    }
}
