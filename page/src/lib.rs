//! Reports of runs for people: a page of one, its curves, several beside one another, studies of recipes, and the memory of a core.
//!
//! The input is data: the measurements and times of a run, its recipe, estimates. The output is text, HTML and SVG: equal data give
//! equal bytes. Nothing here reads or writes files, prints, or opens devices.

mod compare;
mod html;
mod measured;
pub mod plot;
mod report;
pub mod study;

pub use compare::{Compared, Comparison};
pub use measured::{LATEST, beside_estimate, of_model, update_seconds};
pub use report::report;
