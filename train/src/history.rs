//! The metrics of a run, update by update.

use crate::amount::{Amount, HeldOutCount};
use crate::metrics::Metrics;
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The metrics of one update.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepRecord {
    /// Number of completed updates, this one included.
    pub step: u64,
    /// Tokens or examples seen so far.
    #[serde(flatten)]
    pub seen: Amount,
    /// The metrics that the training step reports, by name; `loss` is among them.
    #[serde(flatten, with = "numbers")]
    pub metrics: IndexMap<String, f64>,
}

/// Numbers by name in JSON, which has none that is not finite: these are `null`, and read back as NaN.
mod numbers {
    use indexmap::IndexMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(numbers: &IndexMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
        let finite = |(name, number): (&String, &f64)| (name.clone(), number.is_finite().then_some(*number));
        numbers.iter().map(finite).collect::<IndexMap<_, _>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IndexMap<String, f64>, D::Error> {
        let numbers = IndexMap::<String, Option<f64>>::deserialize(deserializer)?;
        Ok(numbers.into_iter().map(|(name, number)| (name, number.unwrap_or(f64::NAN))).collect())
    }
}

/// As [`numbers`], with `held_out_` before their names.
mod held_out_numbers {
    use super::numbers;
    use indexmap::IndexMap;
    use serde::{Deserializer, Serializer};

    const HELD_OUT: &str = "held_out_";

    pub(super) fn serialize<S: Serializer>(metrics: &IndexMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
        let named: IndexMap<_, _> = metrics.iter().map(|(name, value)| (format!("{HELD_OUT}{name}"), *value)).collect();
        numbers::serialize(&named, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IndexMap<String, f64>, D::Error> {
        let named = numbers::deserialize(deserializer)?;
        let own = |(name, value): (String, f64)| Some((name.strip_prefix(HELD_OUT)?.to_owned(), value));
        Ok(named.into_iter().filter_map(own).collect())
    }
}

impl StepRecord {
    /// The mean loss of the batch; NaN when the step does not report it.
    pub fn loss(&self) -> f64 {
        self.metrics.get("loss").copied().unwrap_or(f64::NAN)
    }

    /// Whether the loss and the norm of the gradient are numbers.
    pub fn is_finite(&self) -> bool {
        let is_number = |name: &str| self.metrics.get(name).is_none_or(|number| number.is_finite());
        self.loss().is_finite() && is_number("grad_norm")
    }
}

/// The loss on held-out data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EvalRecord {
    /// Number of completed updates.
    pub step: u64,
    /// The name of the held-out data; it may be empty where there is only one data set.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub data: String,
    /// Mean loss.
    pub held_out_loss: f64,
    /// The number of elements that it is the mean over.
    #[serde(flatten)]
    pub counted: HeldOutCount,
    /// The metrics of the model; in JSON `held_out_` stands before their names.
    #[serde(flatten, with = "held_out_numbers")]
    pub metrics: IndexMap<String, f64>,
}

impl EvalRecord {
    /// A record of the summed metrics of an evaluation's batches, for data that are counted as `amount` is.
    ///
    /// # Errors
    /// When the loss counts nothing.
    pub fn new(step: u64, data: String, sums: &Metrics, amount: Amount) -> Result<Self> {
        let counted = HeldOutCount::of(amount, sums.counted()?);
        Ok(Self { step, data, held_out_loss: sums.mean_loss(), counted, metrics: sums.of_model() })
    }
}

/// All metrics of a run. They do not depend on time, so equal runs have equal histories.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct History {
    /// Updates in order.
    pub steps: Vec<StepRecord>,
    /// Evaluations in order.
    pub evals: Vec<EvalRecord>,
}

impl History {
    /// As JSON lines, sorted by step, evaluations after the update of their step.
    pub fn to_json_lines(&self) -> String {
        self.lines_from(0, 0)
    }

    /// The same without the first updates and evaluations.
    pub(super) fn lines_from(&self, updates: usize, evaluations: usize) -> String {
        let line = |value: serde_json::Result<String>| value.expect("records are numbers under text keys") + "\n";
        let steps =
            self.steps.iter().skip(updates).map(|record| ((record.step, 0), line(serde_json::to_string(record))));
        let evals =
            self.evals.iter().skip(evaluations).map(|record| ((record.step, 1), line(serde_json::to_string(record))));
        let mut lines: Vec<_> = steps.chain(evals).collect();
        lines.sort_by_key(|(order, _)| *order);
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// Reads JSON lines back, `path` being where they come from. A last line that is cut off, as one is where a process was killed while it
    /// wrote, is left out.
    ///
    /// # Errors
    /// When a line is neither record.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let mut history = Self::default();
        let ended = text.rfind('\n').map_or(0, |end| end + 1);
        for (number, line) in text[..ended].lines().enumerate() {
            if let Ok(record) = serde_json::from_str(line) {
                history.evals.push(record);
                continue;
            }
            let record = serde_json::from_str(line).map_err(|error| {
                let message = format!("line {} of `{}` is no record of a run: {error}", number + 1, path.display());
                Diagnostic::error(codes::FILE, message).help("choose another folder with `-o`")
            })?;
            history.steps.push(record);
        }
        Ok(history)
    }

    /// Drops the records after a step.
    pub fn truncate(&mut self, step: u64) {
        self.steps.retain(|record| record.step <= step);
        self.evals.retain(|record| record.step <= step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_read_back() {
        let step = |step| StepRecord {
            step,
            seen: Amount::Tokens(step * 8),
            metrics: [("loss".to_owned(), 0.1f32.into()), ("grad_norm".to_owned(), 2.0)].into_iter().collect(),
        };
        let eval = |step| EvalRecord {
            step,
            data: String::new(),
            held_out_loss: 5.5,
            counted: HeldOutCount::Tokens(64),
            metrics: IndexMap::new(),
        };
        let mut history = History { steps: vec![step(1), step(2)], evals: vec![eval(0), eval(2)] };
        let text = history.to_json_lines();
        assert_eq!(text.lines().count(), 4);
        assert!(text.starts_with("{\"step\":0,\"held_out_loss\":5.5"));
        assert_eq!(History::parse(&text, Path::new("m")).unwrap(), history);
        assert_eq!(History::parse(&format!("{text}{{\"st"), Path::new("m")).unwrap(), history);
        assert!(History::parse("{}\n", Path::new("m")).is_err());
        history.truncate(1);
        assert_eq!((history.steps.len(), history.evals.len()), (1, 1));
    }
}
