//! What is done with the golden files of each folder.
//!
//! A suite of one's own says what text belongs into its files; finding, comparing and blessing them is the
//! [`Kit`](crate::Kit)'s.

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

/// What is done with the golden files of a folder.
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
    /// What is wrong that blessing cannot mend, for people.
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
