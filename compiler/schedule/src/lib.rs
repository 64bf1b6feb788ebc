//! Schedules of an update over the stages of a pipeline: what each stage runs, sends and receives, and in which order.
//!
//! A model is cut into parts that follow one another; a stage holds one of them, or several [chunks](Pipeline::chunks). Each kind of
//! schedule says in which order a stage runs its parts ([`ScheduleKind`], a file each). What is sent is placed for all kinds alike, as the
//! [`Transport`] wants it.
//!
//! ```
//! use halite_schedule::{Costs, Pipeline, Schedule, ScheduleKind, Transport};
//!
//! let pipeline = Pipeline::new(2, 1, 4)?;
//! let schedule = Schedule::new(ScheduleKind::OneForwardOneBackward, pipeline, Transport::Buffered)?;
//! let runs: Vec<String> = schedule.runs(1).map(|run| run.to_string()).collect();
//! assert_eq!(runs, ["1F0", "1B0", "1F1", "1B1", "1F2", "1B2", "1F3", "1B3"]);
//! // Forward, input and weights cost 1 each: of 15 units, a stage waits 3.
//! let timeline = schedule.simulate(&Costs::equal(&pipeline))?;
//! assert_eq!((timeline.end(), timeline.idle(0)), (15, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod check;
mod error;
mod kind;
mod kinds;
mod pipeline;
mod schedule;
mod simulate;
mod transfers;

pub use action::{Action, Crossing, Run, Task, Transfer};
pub use error::ScheduleError;
pub use kind::Kind;
pub use kinds::ScheduleKind;
pub use pipeline::{Pipeline, PipelineError};
pub use schedule::Schedule;
pub use simulate::{Costs, Span, Timeline, Transport};
