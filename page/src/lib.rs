//! What people see of runs: a page of one, its curves, several beside one another, studies of recipes, and the memory of a core.
//!
//! What goes in is data: what a run measured and took, its recipe, estimates. What comes out are texts, HTML and SVG: equal data give equal
//! bytes. Nothing here reads or writes files, prints, or opens devices.

mod compare;
mod html;
mod measured;
pub mod plot;
mod report;
pub mod study;

pub use compare::{Compared, Comparison};
pub use measured::of_model;
pub use report::report;
