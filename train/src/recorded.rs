//! The records in the folder of a run.

use super::watch::{Alarms, Seen, Times};
use super::{Alarm, Event, History, RunFiles, Sample, Silent, Startup, telemetry};
use halite_recipe::{MetricsOptions, Recipe};
use halite_support::Result;
use halite_support::files::read_text;

/// The records of a run up to an update: metrics, times, alarms, events, startups and samples.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The metrics.
    pub history: History,
    /// The times of updates.
    pub times: Times,
    /// The alarms that were raised, in order.
    pub alarms: Vec<Alarm>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The startups of its processes, in order.
    pub startups: Vec<Startup>,
    /// Texts that the model generated at the end.
    pub samples: Vec<Sample>,
}

impl Recorded {
    /// The records in the form that a page takes.
    pub fn seen(&self) -> Seen<'_> {
        let Self { history, times, alarms, events, startups, samples } = self;
        Seen { history, times, alarms, events, startups, samples, is_live: false }
    }
}

impl RunFiles {
    /// The metrics of the run up to an update; empty where there are none yet.
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

    /// All records of the run up to an update. Alarms are those by the limits of its recipe. Lines of times and events that cannot be
    /// read are left out, as by a run that goes on.
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
