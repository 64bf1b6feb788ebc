//! The state that a run starts from.

use super::checkpoint::{self, Checkpoint, Newest};
use super::record::{self, KEY, Record, Resumption};
use super::rollback::Rollback;
use super::state::Updates;
use super::{Observer, RunFiles, Start, TrainOptions};
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{Bundle, check_state};
use halite_data::Dataset;
use halite_support::{ChangedLine, Diagnostic, Diagnostics, Result, codes};
use std::path::Path;

impl Start {
    /// The seed of the run that this resumes, if it resumes one whose state records its seed.
    ///
    /// # Errors
    /// When its state cannot be read.
    pub fn seed(&self, output: &RunFiles) -> Result<Option<u64>> {
        let state = match self {
            Self::State(path) => Some(Checkpoint::state_at(path)?.0),
            Self::Newest => output.checkpoints().newest().checkpoint.map(|checkpoint| checkpoint.state),
            Self::Seed | Self::Weights(_) => None,
        };
        let record = state.map(|state| Record::read(&state)).transpose()?.flatten();
        Ok(record.and_then(|record| record.seed()))
    }
}

/// The start of a run.
pub(super) struct Started {
    /// The state.
    pub(super) tensors: Tensors,
    /// The earlier rollbacks of the run.
    pub(super) rollbacks: Vec<Rollback>,
}

impl Started {
    /// The start of a run that begins with these tensors.
    fn anew(tensors: Tensors) -> Self {
        Self { tensors, rollbacks: Vec::new() }
    }
}

/// The state that a run starts from. The data go on at its position.
///
/// # Errors
/// When it cannot be read, does not fit, or comes from another run.
pub(super) fn started(
    bundle: &Bundle,
    output: &RunFiles,
    (record, data): (&Record, &mut dyn Dataset),
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> std::result::Result<Started, Diagnostics> {
    let state = match &options.start {
        Start::Seed => None,
        Start::Weights(path) => {
            let made = || halite_bundle::init::state_from_checkpoint(&bundle.manifest, path);
            return options.cancel.within(made).map(Started::anew);
        }
        Start::State(path) => {
            let (state, passed_over) = Checkpoint::state_at(path)?;
            tell(&passed_over, observer);
            Some(state)
        }
        Start::Newest => {
            let Newest { checkpoint, passed_over } = output.checkpoints().newest();
            tell(&passed_over, observer);
            checkpoint.map(|checkpoint| checkpoint.state)
        }
    };
    match state {
        Some(state) => resumed(bundle, &state, (record, data), options, observer),
        None => options.cancel.within(|| halite_bundle::init::initial_state(bundle, options.seed)).map(Started::anew),
    }
}

/// Warns of checkpoints that are not whole.
fn tell(broken: &[Diagnostic], observer: &mut dyn Observer) {
    for error in broken {
        observer.warned(
            &Diagnostic::warning(error.code(), error.message().to_owned())
                .note("it is passed over, and goes when the run is beyond it"),
        );
    }
}

/// Checks that a run that starts after an update does not replace later checkpoints in its folder.
///
/// # Errors
/// When there are checkpoints of later updates.
pub(super) fn check_kept(output: &RunFiles, start: u64) -> Result<()> {
    let checkpoints = output.checkpoints();
    match checkpoints.updates().into_iter().rev().find(|&update| update > start && checkpoints.has(update)) {
        None => Ok(()),
        Some(update) => {
            let message = format!(
                "the run starts after update {start}, and its folder has the checkpoint `{}`",
                checkpoints.folder(update).display()
            );
            Err(Diagnostic::error(codes::RUN_KEPT, message)
                .help("go on from the newest checkpoint by naming no other start, or choose another folder with `-o`"))
        }
    }
}

/// The state to resume from, once it is clear that it comes from this run. The data go on at its position.
///
/// # Errors
/// As [`started`].
pub(super) fn resumed(
    bundle: &Bundle,
    path: &Path,
    (record, data): (&Record, &mut dyn Dataset),
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> std::result::Result<Started, Diagnostics> {
    let (tensors, text) = tensors::read_marked(path, KEY)?;
    let text = checkpoint::text_of(path)?.or(text);
    let old = text.map(|text| Record::parse(&text, path)).transpose()?;
    let run = RunFiles::at(path).or_else(|| RunFiles::at(path.parent()?));
    let model = run.and_then(|run| run.model());
    let resumption = Resumption {
        state: path,
        old: old.as_ref(),
        new: record,
        changed: model.zip(options.model.as_ref()).and_then(|(old, new)| ChangedLine::first(&old, new, "//")),
        is_found: matches!(options.start, Start::Newest),
        allow: options.allow_changes,
    };
    // Tensors of another run need not fit, and say less of what differs.
    let differs = resumption.check()?;
    check_state(&bundle.manifest, &tensors)?;
    let step = Updates::of(&bundle.manifest, &tensors).attempted;
    let unknown = if old.is_none() { record::unknown(path, step) } else { None };
    differs.iter().chain(&unknown).for_each(|warning| observer.warned(warning));
    // Positions in other data mean nothing here.
    if let Some(old) = old.as_ref().filter(|old| old.has_data_of(record)) {
        data.seek(&old.position)?;
    }
    observer.resumed(path, step);
    Ok(Started { tensors, rollbacks: old.map(|old| old.rollbacks).unwrap_or_default() })
}
