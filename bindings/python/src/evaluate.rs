//! The loss of a model on data.

use crate::bundle::Bundle;
use crate::errors::{Reported, reported};
use crate::learned::Learned;
use crate::own::{Own, OwnData, Raised};
use crate::train::pairs;
use crate::{plugin, work};
use halite::bundle::ModuleRole;
use halite::support::SourceMap;
use halite_data::Data;
use halite_train::{Evaluated, Evaluator, Feed, measured_data};
use pyo3::prelude::*;
use std::path::PathBuf;

/// The evaluation on a data set: its name, the loss, the count that the loss is the mean over and its unit, the perplexity where the
/// unit is tokens, the metrics of the model.
type Measured = (String, f64, u64, &'static str, Option<f64>, Vec<(String, f64)>);

fn measured((place, evaluated): (String, Evaluated)) -> Measured {
    let perplexity = evaluated.perplexity();
    let Evaluated { loss, counted, metrics, .. } = &evaluated;
    (place, *loss, counted.number(), counted.unit(), perplexity, pairs(metrics))
}

/// Evaluates a bundle on files, on data of Python, or on what its recipe holds out, with at most so many batches of each. Returns the
/// warnings too.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    bundle: &Bundle,
    mut learned: Learned,
    data: Vec<PathBuf>,
    own: Option<Py<PyAny>>,
    batches: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<Measured>, Vec<Reported>)> {
    let given = learned.given()?;
    let raised = Raised::default();
    let found = work::told(py, progress, |work| {
        let (bundle, weights) = learned.of(bundle, given)?;
        bundle.modules_with_role(&ModuleRole::EVAL)?;
        let data = match own {
            None => measured_data(&bundle, &data, learned.tokenizer.as_deref())?,
            Some(object) => {
                let feed = Feed::of_batch(&bundle)?;
                let own = OwnData::of_feed(Own::new(work, object).with_raised(&raised), &feed, &raised);
                own.open(&feed.takes, 0)?.held_out
            }
        };
        let state = weights.read(&bundle)?;
        let executor = plugin::open_watched(learned.plugin.as_deref(), &bundle, work)?;
        let mut evaluator = Evaluator::load(executor, &bundle, state)?;
        let (found, warnings) = evaluator.evaluate_each(data, batches.unwrap_or(usize::MAX), &mut |_| ())?;
        Ok((found.into_iter().map(measured).collect(), reported(&warnings, &SourceMap::new())))
    });
    // What the data raised says more.
    match raised.take() {
        Some(error) if found.is_err() => Err(error),
        _ => found,
    }
}
