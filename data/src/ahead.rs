//! Batches that are made while others are trained on.

use crate::dataset::{Dataset, Position, Rows, Skipped};
use halite_support::{Diagnostic, Result};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

/// A data set whose next batches are made by a thread of their own. Its position counts the rows that were given, not those that were
/// read.
pub struct Ahead {
    /// Rows of a batch.
    rows: usize,
    /// The most batches that wait to be given.
    most: usize,
    maker: Maker,
    position: Position,
    epochs: u64,
    skipped: Vec<Skipped>,
    identity: BTreeMap<String, String>,
    vocabulary: u64,
    warnings: Vec<Diagnostic>,
}

/// The holder of the data set.
enum Maker {
    /// Nobody is at work on it.
    Idle(Box<dyn Dataset>),
    Thread(Worker),
    /// It was lost in a panic.
    Lost(Diagnostic),
}

struct Worker {
    batches: Receiver<Result<Batch>>,
    thread: JoinHandle<Box<dyn Dataset>>,
}

struct Batch {
    rows: Rows,
    /// The position of the data set after it.
    position: Position,
    epochs: u64,
    skipped: Vec<Skipped>,
}

impl Ahead {
    /// Makes batches of so many rows of a data set, at most `most` of them ahead.
    pub fn new(dataset: Box<dyn Dataset>, rows: usize, most: usize) -> Self {
        let (position, epochs, skipped) = (dataset.position(), dataset.epochs(), dataset.skipped());
        let (identity, vocabulary, warnings) = (dataset.identity(), dataset.vocabulary(), dataset.warnings());
        Self { rows, most, maker: Maker::Idle(dataset), position, epochs, skipped, identity, vocabulary, warnings }
    }

    /// Ends the thread and takes the data set, which is where it has read to.
    fn stop(&mut self) -> Result<Box<dyn Dataset>> {
        match std::mem::replace(&mut self.maker, Maker::Lost(Diagnostic::bug("a data set was lost"))) {
            Maker::Idle(dataset) => Ok(dataset),
            Maker::Thread(worker) => worker.end().inspect_err(|error| self.maker = Maker::Lost(error.clone())),
            Maker::Lost(error) => {
                self.maker = Maker::Lost(error.clone());
                Err(error)
            }
        }
    }

    /// The next batch of the thread, which is started where there is none.
    fn batch(&mut self) -> Result<Batch> {
        if !matches!(self.maker, Maker::Thread(_)) {
            let dataset = self.stop()?;
            self.maker = Maker::Thread(Worker::start(dataset, self.rows, self.most)?);
        }
        let Maker::Thread(worker) = &self.maker else { return Err(Diagnostic::bug("no thread makes batches")) };
        match worker.batches.recv() {
            Ok(batch) => batch,
            // Only a panic ends the thread while it is listened to.
            Err(_) => Err(self.stop().err().unwrap_or_else(|| Diagnostic::bug("a thread that makes batches ended"))),
        }
    }
}

impl Worker {
    fn start(mut dataset: Box<dyn Dataset>, rows: usize, most: usize) -> Result<Self> {
        let (sender, batches) = sync_channel(most.saturating_sub(1));
        let work = move || {
            loop {
                let batch = dataset.next(rows);
                let batch = batch.map(|rows| Batch {
                    rows,
                    position: dataset.position(),
                    epochs: dataset.epochs(),
                    skipped: dataset.skipped(),
                });
                if sender.send(batch).is_err() {
                    return dataset;
                }
            }
        };
        let thread = std::thread::Builder::new().name("halite-data".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Diagnostic::bug(format!("no thread can be started: {error}")))?;
        Ok(Self { batches, thread })
    }

    fn end(self) -> Result<Box<dyn Dataset>> {
        drop(self.batches);
        self.thread.join().map_err(|panic| Diagnostic::bug(format!("reading data panicked: {}", text_of(&*panic))))
    }
}

/// The message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

impl Dataset for Ahead {
    /// Batches of another number of rows are made from then on; those that wait are made again.
    fn next(&mut self, rows: usize) -> Result<Rows> {
        if rows != self.rows {
            let position = self.position.clone();
            self.seek(&position)?;
            self.rows = rows;
        }
        let batch = self.batch()?;
        (self.position, self.epochs, self.skipped) = (batch.position, batch.epochs, batch.skipped);
        Ok(batch.rows)
    }

    fn position(&self) -> Position {
        self.position.clone()
    }

    fn seek(&mut self, position: &Position) -> Result<()> {
        let mut dataset = self.stop()?;
        let result = dataset.seek(position);
        (self.position, self.epochs, self.skipped) = (dataset.position(), dataset.epochs(), dataset.skipped());
        self.maker = Maker::Idle(dataset);
        result
    }

    fn epochs(&self) -> u64 {
        self.epochs
    }

    fn identity(&self) -> BTreeMap<String, String> {
        self.identity.clone()
    }

    fn vocabulary(&self) -> u64 {
        self.vocabulary
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.clone()
    }

    fn skipped(&self) -> Vec<Skipped> {
        self.skipped.clone()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // The result of the thread is not needed any more.
        let _ = self.stop();
    }
}
