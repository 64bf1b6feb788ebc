//! Stages of a pipeline.

use halite_recipe::Recipe;
use halite_support::{Diagnostic, Result, codes};

/// # Errors
/// When a recipe has several stages: there are no programs of stages yet.
pub(super) fn check(recipe: &Recipe) -> Result<()> {
    let stages = recipe.stages();
    if stages == 1 {
        return Ok(());
    }
    let message = format!("a pipeline of {stages} stages is not compiled yet");
    let help = "set `parallel.pipeline = 1`, and shard the model by `parallel.tensor`; one stage alone compiles with fewer `layers`";
    let error = Diagnostic::error(codes::NOT_SUPPORTED, message).key("parallel.pipeline").help(help);
    Err(error.note("`halite inspect --schedule` shows what its stages would do"))
}
