//! Alarms of a run, while it goes on.
//!
//! Each alarm is raised once when its condition begins to hold, and again only after it ceased to. None changes the run.

mod data_stall;
mod gradient_rise;
mod loss_floor;
mod loss_gap;
mod window;

use super::{TimeRecord, Times};
use crate::{EvalRecord, History, StepRecord};
use data_stall::DataStall;
use gradient_rise::GradientRise;
use halite_recipe::MetricsOptions;
use halite_support::Diagnostic;
use loss_floor::LossFloor;
use loss_gap::LossGap;

/// An alarm after an update.
#[derive(Clone, PartialEq, Debug)]
pub struct Alarm {
    /// The update.
    pub step: u64,
    /// The condition, its extent and a remedy.
    pub warning: Diagnostic,
}

/// The alarms of a run.
#[derive(Debug)]
pub(crate) struct Alarms {
    gradient_rise: GradientRise,
    loss_floor: LossFloor,
    loss_gap: LossGap,
    data_stall: DataStall,
    raised: Vec<Alarm>,
}

impl Alarms {
    /// The alarms by the limits of a recipe.
    fn new(options: &MetricsOptions) -> Self {
        Self {
            gradient_rise: GradientRise::new(options.grad_norm_rise),
            loss_floor: LossFloor::new(options.loss_floor),
            loss_gap: LossGap::new(options.loss_gap),
            data_stall: DataStall::new(options.data_stall),
            raised: Vec::new(),
        }
    }

    /// The alarms of a run with this history and these times.
    pub(crate) fn of(options: &MetricsOptions, history: &History, times: &Times) -> Self {
        let mut alarms = Self::new(options);
        alarms.replay(history, times);
        alarms
    }

    /// The alarms that were raised so far.
    pub(crate) fn raised(&self) -> &[Alarm] {
        &self.raised
    }

    /// Goes through a history as if its records had just been reported.
    fn replay(&mut self, history: &History, times: &Times) {
        let (mut evals, mut times) = (history.evals.iter().peekable(), times.records().iter().peekable());
        let mut catch_up = |alarms: &mut Self, step: u64| {
            while let Some(record) = evals.next_if(|record| record.step < step) {
                alarms.evaluated(record);
            }
        };
        for record in &history.steps {
            catch_up(self, record.step);
            self.stepped(record);
            while let Some(time) = times.next_if(|time| time.step <= record.step) {
                self.timed(time);
            }
        }
        catch_up(self, u64::MAX);
    }

    /// The alarms that an update raises.
    pub(super) fn stepped(&mut self, record: &StepRecord) -> Vec<Diagnostic> {
        self.loss_gap.stepped(record);
        let found = [self.gradient_rise.stepped(record), self.loss_floor.stepped(record)];
        self.raise(record.step, found.into_iter().flatten().collect())
    }

    /// The alarms that an evaluation raises.
    pub(super) fn evaluated(&mut self, record: &EvalRecord) -> Vec<Diagnostic> {
        let gap = self.loss_gap.evaluated(record);
        self.raise(record.step, gap.into_iter().collect())
    }

    /// The alarms that the time of an update raises.
    pub(super) fn timed(&mut self, record: &TimeRecord) -> Vec<Diagnostic> {
        let stall = self.data_stall.timed(record);
        self.raise(record.step, stall.into_iter().collect())
    }

    fn raise(&mut self, step: u64, warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        self.raised.extend(warnings.iter().map(|warning| Alarm { step, warning: warning.clone() }));
        warnings
    }
}

/// A condition of which only the beginning is reported.
#[derive(Clone, Copy, Debug, Default)]
struct Episode {
    holds: bool,
}

impl Episode {
    /// Whether the condition begins to hold now.
    fn begins(&mut self, holds: bool) -> bool {
        !std::mem::replace(&mut self.holds, holds) && holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::{Amount, HeldOutCount};
    use indexmap::IndexMap;

    fn step(step: u64, loss: f64, grad_norm: f64) -> StepRecord {
        let metrics = [("loss", loss), ("grad_norm", grad_norm)];
        let metrics: IndexMap<String, f64> = metrics.map(|(name, value)| (name.to_owned(), value)).into();
        StepRecord { step, seen: Amount::Tokens(step), metrics }
    }

    /// A history in which the gradient rises at update 200 and the loss falls below the held-out loss at once after 300.
    fn history() -> History {
        let at = |number| step(number, if number > 300 { 1.0 } else { 3.0 }, if number > 200 { 5.0 } else { 1.0 });
        let eval = |step| EvalRecord {
            step,
            data: String::new(),
            held_out_loss: 3.0,
            counted: HeldOutCount::Tokens(1),
            metrics: [].into(),
        };
        History { steps: (1..=400).map(at).collect(), evals: (0..=4).map(|index| eval(index * 100)).collect() }
    }

    #[test]
    fn a_history_that_is_replayed_raises_what_it_raised_when_it_was_heard() {
        let (history, mut heard) = (history(), Alarms::new(&MetricsOptions::default()));
        let mut replayed = Alarms::new(&MetricsOptions::default());
        replayed.replay(&history, &Times::default());
        heard.evaluated(&history.evals[0]);
        for record in &history.steps {
            heard.stepped(record);
            if record.step % 100 == 0 {
                heard.evaluated(&history.evals[record.step as usize / 100]);
            }
        }
        assert_eq!(heard.raised(), replayed.raised());
        let steps: Vec<u64> = replayed.raised().iter().map(|alarm| alarm.step).collect();
        // At 250 half of the last 100 norms are risen.
        assert_eq!(steps, [250, 400]);
    }

    #[test]
    fn an_episode_is_told_once() {
        let mut episode = Episode::default();
        let told = [false, true, true, false, true].map(|holds| episode.begins(holds));
        assert_eq!(told, [false, true, false, false, true]);
    }

    #[test]
    fn limits_of_0_turn_alarms_off() {
        let off = MetricsOptions { grad_norm_rise: 0.0, loss_gap: 0.0, data_stall: 0.0, ..MetricsOptions::default() };
        let mut alarms = Alarms::new(&off);
        alarms.replay(&history(), &Times::default());
        for step in 1..200 {
            alarms.timed(&TimeRecord {
                step,
                seen: Amount::Tokens(1),
                data: 9.0,
                compute: 1.0,
                evaluation: 0.0,
                writing: 0.0,
                mfu: None,
            });
        }
        assert_eq!(alarms.raised(), []);
    }
}
