//! Saving the states of a run while it goes on.

mod parts;

use super::checkpoint::{Background, Due, Save};
use super::lines::Written;
use super::record::{KEY, Record};
use super::update::Run;
use super::watch::Watch;
use super::{Observer, RunFiles, TrainOptions, is_due};
use halite_support::files::cannot;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use std::time::Instant;

/// Saves the states of a run: one process beside its updates, several together, between two of them.
pub(super) struct Saver<'a> {
    output: &'a RunFiles,
    options: &'a TrainOptions,
    record: &'a Record,
    background: Background,
    due: Due,
    /// The update whose state was saved last, or is being saved.
    saved: Option<u64>,
    written: Written,
}

impl<'a> Saver<'a> {
    /// The saver of a run that begins now.
    pub(super) fn new(output: &'a RunFiles, options: &'a TrainOptions, record: &'a Record) -> Self {
        let due = Due::new(&options.checkpoint, Instant::now());
        Self {
            output,
            options,
            record,
            background: Background::default(),
            due,
            saved: None,
            written: Written::default(),
        }
    }

    /// Whether this process wants a checkpoint now, for other reasons than the number of updates.
    pub(super) fn is_asked(&self) -> bool {
        self.output.leads() && (self.due.is_over(Instant::now()) || self.output.is_wished())
    }

    /// Writes metrics and, where one is due after this update, begins a checkpoint. A failure to write is reported, and tried again
    /// when something is due next: it does not end the run early.
    ///
    /// # Errors
    /// When the state cannot be copied to the host; of several processes, also when theirs cannot be written.
    pub(super) fn updated(
        &mut self,
        run: &Run<'_>,
        is_evaluated: bool,
        watch: &mut Watch<'_>,
    ) -> std::result::Result<(), Diagnostics> {
        let (update, every) = (run.step.attempted(), self.options.checkpoint.every);
        if is_due(update, every) && update < self.options.steps {
            self.save(run, watch)?;
        }
        if is_evaluated && let Err(error) = self.write(run, watch) {
            watch.warned(&untold(&error));
        }
        Ok(())
    }

    /// Writes all records of the run.
    ///
    /// # Errors
    /// When something cannot be written.
    pub(super) fn write(&mut self, run: &Run<'_>, watch: &mut Watch<'_>) -> Result<()> {
        self.output.write(&mut self.written, run, self.options, watch)
    }

    /// Begins a checkpoint, once the one before is written.
    ///
    /// # Errors
    /// As [`updated`](Self::updated).
    pub(super) fn save(&mut self, run: &Run<'_>, watch: &mut Watch<'_>) -> std::result::Result<(), Diagnostics> {
        let update = run.step.attempted();
        if self.saved == Some(update) {
            return Ok(());
        }
        self.due.begun(Instant::now());
        if let Some(peers) = &self.options.peers {
            self.output.grant()?;
            self.output.write_metrics(&mut self.written, &run.history, watch.times())?;
            parts::save(run, peers, self.output, self.options, self.record)?;
            self.tell(Some((update, Ok(()))), watch);
        } else {
            let ended = self.background.wait();
            self.tell(ended, watch);
            // Metrics beyond a state are dropped when it is resumed, none are missing.
            if let Err(error) = self
                .output
                .grant()
                .and_then(|()| self.output.write_metrics(&mut self.written, &run.history, watch.times()))
            {
                watch.warned(&unsaved(update, &error));
                return Ok(());
            }
            let save = self.of(run)?;
            if let Err(error) = self.background.begin(save) {
                watch.warned(&unsaved(update, &cannot("write", self.output.folder(), &error)));
                return Ok(());
            }
        }
        self.saved = Some(update);
        Ok(())
    }

    /// Reports the outcome of a checkpoint whose writing has ended.
    pub(super) fn look(&mut self, watch: &mut Watch<'_>) {
        let ended = self.background.ended();
        self.tell(ended, watch);
    }

    /// Waits for a checkpoint that was begun, and reports its outcome.
    pub(super) fn wait(&mut self, watch: &mut Watch<'_>) {
        let ended = self.background.wait();
        self.tell(ended, watch);
    }

    /// Forgets what is saved and written, since the run went back: later updates are not saved yet, and the metrics after that update
    /// are to leave the files.
    pub(super) fn went_back(&mut self) {
        (self.saved, self.written) = (None, Written::default());
    }

    /// Saves the last state, unless it is saved already, and all records.
    ///
    /// # Errors
    /// When something cannot be written.
    pub(super) fn end(&mut self, run: &Run<'_>, watch: &mut Watch<'_>) -> std::result::Result<(), Diagnostics> {
        self.wait(watch);
        self.write(run, watch)?;
        if self.saved == Some(run.step.attempted()) {
            return Ok(());
        }
        match &self.options.peers {
            Some(peers) => parts::save(run, peers, self.output, self.options, self.record)?,
            None => self.of(run)?.write()?,
        }
        self.tell(Some((run.step.attempted(), Ok(()))), watch);
        Ok(())
    }

    /// The state of a run on the host, with all that is needed to save it.
    fn of(&self, run: &Run<'_>) -> std::result::Result<Save, Diagnostics> {
        let update = run.step.attempted();
        Ok(Save {
            run: self.output.folder().to_path_buf(),
            disk: self.output.disk().clone(),
            options: self.options.checkpoint,
            update,
            state: run.step.state()?,
            text: (KEY, self.record.at(update, run.position.clone(), &run.rollbacks).to_text()?),
        })
    }

    /// Reports the outcome of a checkpoint. One that could not be saved does not count as the last one.
    fn tell(&mut self, ended: Option<(u64, Result<()>)>, watch: &mut Watch<'_>) {
        match ended {
            Some((update, Ok(()))) => watch.saved(&self.output.checkpoints().folder(update), update),
            Some((update, Err(error))) => {
                self.saved = None;
                watch.warned(&unsaved(update, &error));
            }
            None => {}
        }
    }
}

/// The warning of a checkpoint that cannot be saved.
fn unsaved(update: u64, error: &Diagnostic) -> Diagnostic {
    let message = format!("the checkpoint after update {update} was not saved: {}", error.message());
    Diagnostic::warning(codes::FILE, message)
        .note("those before it are as they were, and the next one is tried when it is due")
}

/// The warning of metrics that cannot be written.
fn untold(error: &Diagnostic) -> Diagnostic {
    Diagnostic::warning(codes::FILE, format!("what was measured is not written yet: {}", error.message()))
}
