//! What is done with the golden files of each folder.

mod causality;
mod grad;
mod launch;
mod legality;
mod lower;
mod metrics;
mod opt;
mod parse;
mod policy;
mod run;
mod verify;

use crate::harness::{Case, Outcome, Tools};
use std::fmt;
use std::sync::Arc;

/// What is done with the golden files of a folder.
pub trait Suite: fmt::Debug + Send + Sync {
    /// The name of the folder.
    fn name(&self) -> &str;

    /// Extensions of its files.
    fn extensions(&self) -> &[&str] {
        &["ir"]
    }

    /// Extension of the file that holds the expectation beside each test, if there is one.
    fn sibling(&self) -> Option<&str> {
        None
    }

    /// What the file should hold.
    ///
    /// # Errors
    /// When something is wrong that blessing cannot mend.
    fn run(&self, case: &Case, tools: &Tools) -> Result<Outcome, String>;
}

/// The built-in suites.
pub fn builtin() -> Vec<Arc<dyn Suite>> {
    vec![
        Arc::new(parse::Parse),
        Arc::new(verify::Verify),
        Arc::new(opt::Opt),
        Arc::new(grad::Grad),
        Arc::new(lower::Lower),
        Arc::new(run::Run),
        Arc::new(policy::Policies),
        Arc::new(legality::Legality),
        Arc::new(causality::Causality),
        Arc::new(metrics::Metrics),
        Arc::new(launch::Launch),
    ]
}
