//! Training on bytes of text: data, the loop, what a run leaves behind.
//!
//! A run is a function of the bundle, the text, the seed and the state it starts from; no clock and no thread count
//! enters it. Which windows of text a step sees depends on the seed and the number of the step alone, so a run that is
//! interrupted and resumed sees what an uninterrupted one does.

mod data;
mod history;
mod metrics;
mod plot;
mod programs;
mod record;
mod run;
mod state;
mod step;
mod update;

pub use data::Corpus;
pub use history::{EvalRecord, History, StepRecord};
pub use metrics::Metrics;
pub use plot::plot;
pub(crate) use programs::Programs;
pub use programs::check_corpus;
pub use record::Record;
pub(crate) use run::is_due;
pub use run::{Observer, RunFiles, Silent, Start, TrainOptions, train};
pub use state::DeviceBatch;
pub use step::{Batch, TrainStep};
pub(crate) use update::Run;

#[cfg(test)]
mod tests;
