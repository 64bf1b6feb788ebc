//! Names of batches, weights, outputs and metrics: each stands for one thing, and for none that the training step has.

use super::Place;
use halite_ir::{LOSS_SCALE, METRICS};
use halite_support::{Diagnostic, Name, codes};
use halite_tensor::STEP;
use indexmap::IndexMap;

/// The kinds of state that optimizers keep for each weight.
const STATE: [&str; 3] = ["m", "v", "master"];

/// Metrics that a run records beside those of a model.
const OF_RUNS: [&str; 3] = [LOSS_SCALE, "tokens", "perplexity"];

/// The prefix of metrics of held-out data.
const HELD_OUT: &str = "held_out_";

/// The kind of thing that a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Named {
    Batch,
    Weight,
    Output,
    Metric,
}

impl Named {
    fn word(self) -> &'static str {
        match self {
            Named::Batch => "batch",
            Named::Weight => "parameter",
            Named::Output => "output",
            Named::Metric => "metric",
        }
    }

    fn article(self) -> &'static str {
        if self == Named::Output { "an" } else { "a" }
    }
}

/// The names that a model has given, with where each was declared.
#[derive(Clone, Debug)]
pub(crate) struct Names<D>(IndexMap<Name, (Named, D)>);

impl<D: Clone> Names<D> {
    pub(crate) fn new() -> Self {
        Self(IndexMap::new())
    }

    /// Takes a name, that of a weight with its scopes, for what is declared at `at`.
    ///
    /// # Errors
    /// When another declaration has it, which comes with the error, or the training step needs it.
    pub(crate) fn claim(
        &mut self,
        name: &Name,
        named: Named,
        at: D,
        place: Place<'_>,
    ) -> Result<(), (Diagnostic, Option<D>)> {
        if let Some((other, first)) = self.0.get(name) {
            return Err((taken(name, named, *other, place), Some(first.clone())));
        }
        if METRICS.contains(&&**name) || *name == STEP || named == Named::Metric && is_of_runs(name) {
            return Err((reserved(name, named, place), None));
        }
        if let Some((weight, parameter, first)) = self.state_clash(name, named) {
            let error = state_taken(&weight, &parameter);
            return Err((place.mark(error, format!("this is `{name}`")), Some(first)));
        }
        self.0.insert(name.clone(), (named, at));
        Ok(())
    }

    /// A weight, and a parameter that is named as the optimizer's state for it is, where `name` is one of the two; with
    /// where the other one was declared.
    fn state_clash(&self, name: &Name, named: Named) -> Option<(Name, Name, D)> {
        if named != Named::Weight {
            return None;
        }
        let first = |other: &str| match self.0.get(other) {
            Some((Named::Weight, first)) => Some(first.clone()),
            _ => None,
        };
        STATE.into_iter().find_map(|kind| {
            let state = format!("{kind}.{name}");
            if let Some(first) = first(&state) {
                return Some((name.clone(), state.into(), first));
            }
            let weight = name.strip_prefix(kind)?.strip_prefix('.')?;
            Some((weight.into(), name.clone(), first(weight)?))
        })
    }
}

/// A name that something else has already.
fn taken(name: &str, named: Named, other: Named, place: Place<'_>) -> Diagnostic {
    let (message, help) = match (named, other) {
        (Named::Weight, Named::Weight) => (
            format!("parameter `{name}` is declared twice"),
            "run each declaration in a scope of its own: `f(x) as name`, or `as name.{i}` in a loop",
        ),
        (Named::Batch, Named::Batch) => (format!("`{name}` is defined twice"), "rename one of the two"),
        (Named::Output | Named::Metric, Named::Output | Named::Metric) => {
            (format!("there is a result named `{name}` already"), "choose another name")
        }
        _ => {
            let message = format!("{} `{name}` has the name of {} {}", named.word(), other.article(), other.word());
            (message, rename(named))
        }
    };
    place.mark(Diagnostic::error(codes::DUPLICATE, message), "again here").help(help)
}

fn is_of_runs(name: &str) -> bool {
    OF_RUNS.contains(&name) || name.starts_with(HELD_OUT)
}

/// A name of the training step's own.
fn reserved(name: &str, named: Named, place: Place<'_>) -> Diagnostic {
    let (article, word) = (named.article(), named.word());
    let message = format!("the training step needs the name `{name}`, which {article} {word} has");
    let of_runs = OF_RUNS.iter().filter(|_| named == Named::Metric);
    let own: Vec<_> = METRICS.iter().chain(of_runs).map(|metric| format!("`{metric}`")).collect();
    let note = format!("the names of its own are {} and `{}`", own.join(", "), STEP);
    let note = if named == Named::Metric { note + ", and those that begin with `held_out_`" } else { note };
    place.mark(Diagnostic::error(codes::DUPLICATE, message), "here").note(note).help(rename(named))
}

/// A parameter that is named as the optimizer's state for another one is.
fn state_taken(weight: &str, parameter: &str) -> Diagnostic {
    let message = format!("the optimizer's state for `{weight}` has the name of parameter `{parameter}`");
    let error = Diagnostic::error(codes::DUPLICATE, message);
    error
        .note("it is named `m.<weight>`, `v.<weight>` and `master.<weight>`")
        .help("rename the parameter, or its scope")
}

fn rename(named: Named) -> &'static str {
    match named {
        Named::Weight => "rename the parameter, or declare it in a scope",
        Named::Batch => "rename the batch",
        Named::Output => "give the output another name",
        Named::Metric => "give the metric another name",
    }
}
