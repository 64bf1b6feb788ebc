//! Update rules and shapes of schedules, a file each: what they keep for a weight, the arithmetic of an update as instructions, and the same in
//! plain `f64` for tests. The pass `update` makes a training step of them.

pub mod kinds;
mod rule;
mod rules;
mod shape;
mod shapes;

pub use rule::{BoundRule, Kind, RefWeight, Step, Terms, Time, UpdateRule, Weight, average, scaled, spread};
pub use rules::UpdateRules;
pub use shape::{BoundShape, ScheduleShape};
pub use shapes::ScheduleShapes;
