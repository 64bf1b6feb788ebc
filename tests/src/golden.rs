//! The golden files of Halite: suites for what only it has, presets and the targets of AWS Neuron, and models of what its passes
//! define.

mod launch;
mod legality;
mod metrics;

use crate::defined::StepModels;
use halite::Session;
use halite_test_kit::Kit;
use launch::Launch;
use legality::Legality;
use metrics::Metrics;
use std::sync::Arc;

/// The kit on the golden files of Halite.
pub fn kit() -> Kit {
    Kit::new(Session::new(), concat!(env!("CARGO_MANIFEST_DIR"), "/golden"))
        .suite(Arc::new(Legality))
        .suite(Arc::new(Metrics))
        .suite(Arc::new(Launch))
        .oracle(Arc::new(StepModels))
        .bless_command("cargo bless")
}
