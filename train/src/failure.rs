//! Recovery of a run whose executor fails.

use super::checkpoint::Checkpoint;
use super::events::Event;
use super::passing::may_pass_here;
use super::watch::Watch;
use super::{Observer, RunFiles, TrainOptions};
use halite_recipe::RecoveryOptions;
use halite_support::{Diagnostic, Diagnostics, Result, codes};

/// Checks that a run can recover in the way that its options ask for.
///
/// # Errors
/// When one of several processes is to go back: it cannot do so alone.
pub(super) fn check(options: &TrainOptions) -> Result<()> {
    let RecoveryOptions { restarts, rollbacks, .. } = options.recovery;
    let asked = [("restarts", restarts), ("rollbacks", rollbacks)].into_iter().find(|(_, count)| *count > 0);
    let Some((key, count)) = asked.filter(|_| options.peers.is_some()) else { return Ok(()) };
    let message = format!("`recovery.{key}` is {count}, and none of several processes can go back alone");
    Err(Diagnostic::error(codes::RECIPE_CLASH, message)
        .help(format!("set it to 0 (`--{key} 0`), and start all processes again where they end")))
}

/// The number of times that a run may still go back to its newest checkpoint.
pub(super) struct Restarts {
    allowed: u32,
    left: u32,
    /// The update that it last went back to.
    last: Option<u64>,
}

impl Restarts {
    /// The restarts of a run that has not failed yet.
    pub(super) fn new(options: &TrainOptions) -> Self {
        let allowed = options.recovery.restarts;
        Self { allowed, left: allowed, last: None }
    }

    /// The checkpoint to go on from after these errors, which is reported and written down; `None` where the run ends with them.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub(super) fn next(
        &mut self,
        output: &RunFiles,
        errors: &Diagnostics,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Checkpoint>> {
        if self.allowed == 0 || !errors.iter().all(|error| may_pass_here(error.code())) {
            return Ok(None);
        }
        let Some(checkpoint) = output.checkpoints().newest().checkpoint else { return Ok(None) };
        let update = checkpoint.update;
        // Whoever comes on may fail again.
        if self.last.is_some_and(|last| update > last) {
            self.left = self.allowed;
        }
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        (self.left, self.last) = (left, Some(update));
        let messages = errors.iter().map(|error| error.message().to_owned()).collect();
        output.add_event(watch, Event::Restart { update, left, errors: messages })?;
        for error in errors {
            let message = format!("the run goes back to update {update}: {}", error.message());
            watch.warned(&Diagnostic::warning(error.code(), message).note(format!("it may do so {left} times more")));
        }
        Ok(Some(checkpoint))
    }
}

/// The note on a run whose executor failed and whose state on the devices is lost: the state that was saved last, if any.
pub(super) fn kept(output: &RunFiles) -> String {
    let state = output.state();
    if state.is_file() {
        format!("the state that was saved last is whole: `--resume {}`", state.display())
    } else {
        "no state was saved before: `--checkpoint-every` does so while a run goes on".to_owned()
    }
}
