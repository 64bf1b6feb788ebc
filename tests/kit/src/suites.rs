//! Suites: the tests of the golden files of each folder.
//!
//! A suite decides which text belongs into its files. The [`Kit`](crate::Kit) finds, compares and blesses them.

mod causality;
mod grad;
mod lower;
mod opt;
mod parse;
mod policy;
mod run;
mod verify;

pub use lower::{Lowered, lowered};

use crate::kit::{Case, Outcome};
use halite::Session;
use std::fmt;
use std::sync::Arc;

/// The test of the golden files of a folder.
pub trait Suite: fmt::Debug + Send + Sync {
    /// The name of the folder.
    fn name(&self) -> &str;

    /// Extensions of its files, without the dot.
    fn extensions(&self) -> &[&str] {
        &["ir"]
    }

    /// The text that the file should hold beside what a person wrote, with what the session knows. It is called from
    /// several threads, for different files.
    ///
    /// # Errors
    /// A message for people about a fault that blessing cannot mend.
    fn run(&self, case: &Case, session: &Session) -> Result<Outcome, String>;
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
        Arc::new(causality::Causality),
    ]
}
