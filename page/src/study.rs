//! The measurements of a study of recipes, and a few numbers for each of them.

mod report;
mod summary;

pub use report::{GradientErrors, NumericsReport, RecipeReport, RunReport};
pub use summary::{RecipeSummary, median};
