//! Time, memory and money of a layout, and the best one.
//!
//! - [`Bill`] is what an update of a compiled recipe takes on the machine of its target, by cause;
//! - [`Search`] looks for the best layout of a recipe on a number of instances: it makes the list of layouts ([`Layout`]), looks at
//!   shallow models to tell which can be best, and compiles those;
//! - [`calibrate`] compares the model with published figures ([`Row`]), those that its numbers were fitted to and those that it predicts;
//! - [`failures`] is what restarts cost on a long run.
//!
//! Times are arithmetic over the work of programs and tables of machines (`halite_estimate::time`). Nothing here runs a program.

mod bill;
mod bound;
mod calibrate;
pub mod failures;
mod layout;
mod ratio;
mod reference;
mod rows;
mod search;
mod shallow;
mod side_by_side;
mod table;

pub use bill::{Bill, Cost, Fits};
pub use bound::Least;
pub use calibrate::{Judged, calibrate};
pub use layout::{Layout, Space};
pub use ratio::{CostRatio, cost_ratios};
pub use reference::{ReferenceMachine, ReferenceTarget, reference_machines};
pub use rows::{Measure, Row, rows};
pub use search::{Considered, Found, Plan, Planned, Question, Search};
