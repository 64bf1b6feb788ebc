//! The shapes of schedules, a file each.

mod constant;
mod cosine;
mod fall;
mod inverse_sqrt;
mod linear;
mod piecewise_constant;
mod warmup_stable_decay;

use crate::shape::{BoundShape, ScheduleShape};
use halite_recipe::{Schedule, Section};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Name, Result, codes};
use std::sync::Arc;

/// The shapes of schedules that a session knows. A value owned by the session.
#[derive(Clone, Debug, Default)]
pub struct ScheduleShapes {
    shapes: Vec<Arc<dyn ScheduleShape>>,
}

impl ScheduleShapes {
    /// Those that Halite comes with.
    pub fn builtin() -> Self {
        let shapes: Vec<Arc<dyn ScheduleShape>> = vec![
            Arc::new(cosine::Cosine),
            Arc::new(constant::Constant),
            Arc::new(linear::Linear),
            Arc::new(inverse_sqrt::InverseSqrt),
            Arc::new(warmup_stable_decay::WarmupStableDecay),
            Arc::new(piecewise_constant::PiecewiseConstant),
        ];
        Self { shapes }
    }

    /// No shape.
    pub const fn none() -> Self {
        Self { shapes: Vec::new() }
    }

    /// Adds a shape. Recipes name it: an ASCII letter, then ASCII letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// When its name is not of that form, or another shape has it.
    pub fn register(&mut self, shape: Arc<dyn ScheduleShape>) -> Result<()> {
        let name = shape.section().name;
        Name::from(name).check("shape", "-_")?;
        if self.shapes.iter().any(|own| own.section().name == name) {
            return Err(Diagnostic::error(codes::DUPLICATE, format!("a shape named `{name}` exists already")));
        }
        self.shapes.push(shape);
        Ok(())
    }

    /// The names and settings of all shapes, in order of registration.
    pub fn sections(&self) -> Vec<&'static Section> {
        self.shapes.iter().map(|shape| shape.section()).collect()
    }

    /// The shape that a recipe names, with its settings.
    ///
    /// # Errors
    /// When there is none, or they are no settings of it.
    pub fn read(&self, schedule: &Schedule) -> Result<Box<dyn BoundShape>> {
        let found = self.shapes.iter().find(|own| own.section().name == schedule.shape);
        let names = || self.shapes.iter().map(|shape| shape.section().name).collect::<Vec<_>>();
        let unknown = || {
            Diagnostic::error(codes::RECIPE_RANGE, format!("there is no shape `{}`", schedule.shape))
                .key("schedule.shape")
                .help(suggestion(&schedule.shape, &names()))
        };
        found.ok_or_else(unknown)?.read(schedule)
    }
}
