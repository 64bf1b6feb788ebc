//! What the folder of a run tells of it.

use super::watch::{Alarms, Seen, Times};
use super::{Alarm, Event, History, RunFiles, Sample, Silent, Startup, telemetry};
use halite_recipe::{MetricsOptions, Recipe};
use halite_support::Result;
use halite_support::files::read_text;

/// What a run measured, took and met, up to an update.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// What was measured.
    pub history: History,
    /// How long it took.
    pub times: Times,
    /// What looked wrong, in order.
    pub alarms: Vec<Alarm>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What processes took before their first updates, in order.
    pub startups: Vec<Startup>,
    /// Texts that the model went on with at the end.
    pub samples: Vec<Sample>,
}

impl Recorded {
    /// As a page shows it.
    pub fn seen(&self) -> Seen<'_> {
        let Self { history, times, alarms, events, startups, samples } = self;
        Seen { history, times, alarms, events, startups, samples, is_live: false }
    }
}

impl RunFiles {
    /// What the run measured up to an update; nothing where it has measured nothing yet.
    ///
    /// # Errors
    /// When a line of its metrics is no record of a run.
    pub fn measured(&self, update: u64) -> Result<History> {
        let path = self.metrics();
        if !path.is_file() {
            return Ok(History::default());
        }
        let mut history = History::parse(&read_text(&path)?, &path)?;
        history.truncate(update);
        Ok(history)
    }

    /// All that the folder tells of the run up to an update, alarms with the limits of its recipe. Lines of times and of events that cannot be
    /// read are left out, as a run leaves them out that goes on.
    ///
    /// # Errors
    /// As [`measured`](Self::measured).
    pub fn recorded(&self, options: &MetricsOptions, update: u64) -> Result<Recorded> {
        let history = self.measured(update)?;
        let (times, mut events) = (self.times(update, &mut Silent)?, self.past_events(update, &mut Silent)?);
        let alarms = Alarms::of(options, &history, &times).raised().to_vec();
        let mut startups: Vec<Startup> = telemetry::records(&self.startup(), &mut Silent);
        let mut samples: Vec<Sample> = telemetry::records(&self.samples(), &mut Silent);
        events.retain(|event| event.update() <= update);
        startups.retain(|startup| startup.update <= update);
        samples.retain(|sample| sample.step <= update);
        Ok(Recorded { history, times, alarms, events, startups, samples })
    }

    /// The beginning of the SHA-256 of the text of the model that a recipe of this run names, where that is a file's: it is kept beside the
    /// recipe.
    ///
    /// # Errors
    /// When the text cannot be read.
    pub fn model_sum(&self, recipe: &Recipe) -> Result<Option<String>> {
        let path = self.recipe().with_file_name(&recipe.model.name);
        if path.extension().is_none_or(|extension| extension != "hal") || !path.is_file() {
            return Ok(None);
        }
        Ok(Some(halite_bundle::sha256(read_text(&path)?.as_bytes()).chars().take(12).collect()))
    }
}
