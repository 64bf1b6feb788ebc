//! Stages of a pipeline.

use super::locate;
use crate::source::Source;
use halite_support::{Diagnostic, Result, codes};

/// Refuses a recipe of which programs of stages would have to be made: there are none yet.
///
/// # Errors
/// When the recipe has several stages, at its key.
pub fn check_stages(source: &Source) -> Result<()> {
    let stages = source.recipe.stages();
    if stages == 1 {
        return Ok(());
    }
    let message = format!("a pipeline of {stages} stages is not compiled yet");
    let help = "set `parallel.pipeline = 1`, and shard the model by `parallel.tensor`; one stage alone compiles with fewer `layers`";
    let error = Diagnostic::error(codes::NOT_SUPPORTED, message).key("parallel.pipeline").help(help);
    Err(locate(source, error.note("`halite inspect --schedule` shows what its stages would do")))
}
