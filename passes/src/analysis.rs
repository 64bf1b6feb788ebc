//! Analyses, which change nothing: causality, precision, replicas, initial values, unused names.

use crate::framework::pass::Pass;
use std::sync::Arc;

pub(crate) mod audit;
pub(crate) mod check_causality;
pub(crate) mod check_precision;
pub(crate) mod check_replicas;
pub(crate) mod unused;

/// The passes of this folder.
pub(crate) fn passes() -> Vec<Arc<dyn Pass>> {
    vec![
        Arc::new(check_causality::CheckCausality),
        Arc::new(check_precision::CheckPrecision),
        Arc::new(check_replicas::CheckReplicas),
    ]
}
