//! Observation of a run while it trains: times, alarms, TensorBoard's files, a page.

mod alarms;
mod clock;
mod tensorboard;
mod times;
mod utilization;

pub use alarms::Alarm;
pub(crate) use alarms::Alarms;
pub(crate) use clock::Part;
pub use tensorboard::TensorBoard;
pub use times::{TimeRecord, Times};
pub(crate) use utilization::Utilization;

use super::{Amount, EvalRecord, Event, History, Observer, Sample, Startup, StepRecord};
use clock::Clock;
use halite_recipe::MetricsOptions;
use halite_support::{Diagnostic, Result};
use std::path::Path;

/// All that a page about a run shows.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The metrics.
    pub history: &'a History,
    /// The times of updates.
    pub times: &'a Times,
    /// The alarms that were raised, in order.
    pub alarms: &'a [Alarm],
    /// The events, in order.
    pub events: &'a [Event],
    /// The startups of its processes, in order.
    pub startups: &'a [Startup],
    /// Texts that the model generated at its end.
    pub samples: &'a [Sample],
    /// Whether the run is watched while it trains, so that its page is written again and reloads itself.
    pub is_live: bool,
}

/// The observer that times a run and passes it on to the observer of the caller and to those of the recipe.
pub(crate) struct Watch<'a> {
    observers: Vec<Box<dyn Observer + 'a>>,
    options: MetricsOptions,
    alarms: Alarms,
    events: Vec<Event>,
    startups: Vec<Startup>,
    samples: Vec<Sample>,
    clock: Clock,
    times: Times,
    /// `None` where the peak rate of the devices is not known.
    utilization: Option<Utilization>,
}

impl<'a> Watch<'a> {
    /// The observer of a run that goes on after this history, these times, events and startups.
    pub(crate) fn new(
        observers: Vec<Box<dyn Observer + 'a>>,
        options: &MetricsOptions,
        history: &History,
        times: Times,
        events: Vec<Event>,
        startups: Vec<Startup>,
    ) -> Self {
        let alarms = Alarms::of(options, history, &times);
        Self {
            observers,
            options: *options,
            alarms,
            events,
            startups,
            samples: Vec::new(),
            clock: Clock::default(),
            times,
            utilization: None,
        }
    }

    /// The same observer, with the utilization of the devices.
    pub(crate) fn on(self, utilization: Option<Utilization>) -> Self {
        Self { utilization, ..self }
    }

    /// Adds the time since the last call to this part of the run.
    pub(crate) fn spent(&mut self, part: Part) {
        self.clock.spent(part);
    }

    /// An update on `seen` data ended: all observers receive its times, with those of all since the previous update.
    pub(crate) fn completed(&mut self, step: u64, seen: Amount) {
        let record = self.clock.record(step, seen);
        let mfu = self.utilization.map(|utilization| utilization.at(record.rate()));
        self.timed(&TimeRecord { mfu, ..record });
    }

    /// The run goes back to an update, with the history up to it. Later updates are made again.
    ///
    /// # Errors
    /// When what was heard cannot be written.
    pub(crate) fn go_back(&mut self, step: u64, history: &History) -> Result<()> {
        self.written()?;
        self.times.truncate(step);
        self.alarms = Alarms::of(&self.options, history, &self.times);
        self.started(step);
        Ok(())
    }

    /// Adds an event, a rollback only once, and returns all events.
    pub(crate) fn happened(&mut self, event: Event) -> &[Event] {
        // A run that was killed between writing that it goes back and doing so comes to the same again.
        if !matches!(event, Event::Rollback { .. }) || !self.events.contains(&event) {
            self.events.push(event);
        }
        &self.events
    }

    /// Adds the startup of a process that is ready for its first update, and returns all startups.
    pub(crate) fn begun(&mut self, startup: Startup) -> &[Startup] {
        self.startups.push(startup);
        &self.startups
    }

    /// Keeps the texts that the model generated.
    pub(crate) fn sampled(&mut self, samples: Vec<Sample>) {
        self.samples = samples;
    }

    /// The times of updates.
    pub(crate) fn times(&self) -> &Times {
        &self.times
    }

    /// All that a page shows, with this history.
    pub(crate) fn seen<'s>(&'s self, history: &'s History) -> Seen<'s> {
        Seen {
            history,
            times: &self.times,
            alarms: self.alarms.raised(),
            events: &self.events,
            startups: &self.startups,
            samples: &self.samples,
            is_live: true,
        }
    }

    fn raise(&mut self, warnings: Vec<Diagnostic>) {
        warnings.iter().for_each(|warning| self.observers.warned(warning));
    }
}

impl Observer for Watch<'_> {
    fn resumed(&mut self, state: &Path, step: u64) {
        self.observers.resumed(state, step);
    }

    fn started(&mut self, step: u64) {
        self.observers.started(step);
        self.clock = Clock::default();
    }

    fn stepped(&mut self, record: &StepRecord) {
        self.observers.stepped(record);
        let warnings = self.alarms.stepped(record);
        self.raise(warnings);
    }

    fn read_all(&mut self, epochs: u64) {
        self.observers.read_all(epochs);
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        self.observers.evaluated(record);
        let warnings = self.alarms.evaluated(record);
        self.raise(warnings);
    }

    fn timed(&mut self, record: &TimeRecord) {
        self.times.push(*record);
        self.observers.timed(record);
        let warnings = self.alarms.timed(record);
        self.raise(warnings);
    }

    fn saved(&mut self, checkpoint: &Path, step: u64) {
        self.observers.saved(checkpoint, step);
    }

    fn warned(&mut self, warning: &Diagnostic) {
        self.observers.warned(warning);
    }

    fn written(&mut self) -> Result<()> {
        self.observers.written()
    }
}
