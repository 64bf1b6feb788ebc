//! Training with the modules of a bundle on any executor.
//!
//! [`TrainStep`] is a compiled step with its state on devices, which training stacks call; [`LoadedModule`] any module.
//! [`train`] is a loop around it on [data](halite_data::Data): evaluation, what a run leaves behind. This crate needs bundles
//! and an executor, and no compiler.
//!
//! A bundle on a mesh runs on as many devices of one executor as the mesh has ranks, or in as many processes ([`Peers`]). What goes in
//! and comes out are whole tensors; how they lie on the ranks is the business of this crate alone, and one rank is a mesh without axes.
//!
//! A run is a function of the bundle, the data, the seed and the state it starts from; no clock and no thread count
//! enters it. A state says where in the data it is, so a run that is interrupted and resumed sees what an uninterrupted one does.

mod amount;
mod batch;
mod checkpoint;
mod divergence;
mod evaluate;
mod events;
mod execute;
mod failure;
mod feed;
mod files;
mod generate;
mod history;
mod holdings;
mod inference;
mod keys;
mod layout;
mod lines;
mod links;
mod metrics;
mod micro;
mod neff;
mod observer;
mod options;
mod passing;
mod peers;
mod placed;
mod programs;
mod recipe_data;
mod record;
mod recorded;
mod rollback;
mod rollbacks;
mod run;
mod sample;
mod samples;
mod saver;
mod scheduled;
mod stage;
mod start;
mod startup;
mod state;
mod step;
mod telemetry;
mod together;
mod transport;
mod update;
mod watch;
mod weights_at;
mod wires;
mod worker;

pub use amount::{Amount, HeldOutCount};
pub use batch::DeviceBatch;
pub use checkpoint::{Checkpoint, Checkpoints, Newest, is_due};
pub use evaluate::{Evaluated, Evaluator};
pub use events::Event;
pub use execute::{KernelChoice, LoadedModule};
pub use feed::Feed;
pub use files::RunFiles;
pub use generate::{Generator, Request, Sampling, Written, tokenizer};
pub use halite_runtime as runtime;
pub use history::{EvalRecord, History, StepRecord};
pub use inference::Inference;
pub use keys::differences;
pub use metrics::Metrics;
pub use observer::{Observer, Silent};
pub use options::{Draw, Page, Start, TrainOptions};
pub use passing::may_pass;
pub use peers::{Line, PeerOptions, Peers};
pub use programs::{Evaluation, Programs, check_data, check_tokenizer};
pub use recipe_data::{RecipeData, measured_data};
pub use record::Record;
pub use recorded::Recorded;
pub use rollback::Rollback;
pub use run::train;
pub use sample::Sample;
pub use startup::Startup;
pub use step::{Batch, TrainStep};
pub use update::Run;
pub use watch::{Alarm, Seen, TensorBoard, TimeRecord, Times};
pub use weights_at::WeightsAt;

#[cfg(test)]
mod tests;
