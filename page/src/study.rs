//! What a study of recipes measured, and a few numbers for each of them.

mod report;
mod summary;

pub use report::{GradientErrors, NumericsReport, RecipeReport, RunReport};
pub use summary::{RecipeSummary, median};
