//! Several sources, each with its share of the rows.

use crate::dataset::{Dataset, Position, Rows, Skipped};
use crate::shard::not_ours;
use halite_support::{Diagnostic, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows of several data sets in fixed shares: of any number of rows, each has its share to within one row.
pub struct Mixture {
    parts: Vec<Part>,
}

struct Part {
    name: String,
    /// Its share; those of all parts add up to 1.
    share: f64,
    dataset: Box<dyn Dataset>,
    given: u64,
}

/// The position of a part of a mixture.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartState {
    rows: u64,
    at: Position,
}

impl Mixture {
    /// Data sets by name, with positive weights; names differ.
    pub(crate) fn new(parts: Vec<(String, f64, Box<dyn Dataset>)>) -> Self {
        let total: f64 = parts.iter().map(|(_, weight, _)| weight).sum();
        let part = |(name, weight, dataset)| Part { name, share: weight / total, dataset, given: 0 };
        Self { parts: parts.into_iter().map(part).collect() }
    }

    /// Whose turn it is: of the parts that are behind enough, the one that must not wait longest. Nothing is ever a whole row
    /// ahead or behind (R. Tijdeman, The chairman assignment problem, Discrete Mathematics 32, 1980).
    fn turn(&self) -> usize {
        let slack = 1.0 / (2.0 * self.parts.len() as f64 - 2.0).max(1.0);
        let row = self.parts.iter().map(|part| part.given).sum::<u64>() as f64 + 1.0;
        let behind = |part: &Part| part.share * row - part.given as f64;
        let wait = |part: &Part| (1.0 - slack - behind(part)) / part.share;
        let order = |&one: &usize, &other: &usize| {
            let key = |part: &Part| (behind(part) < slack, wait(part));
            let (one, other) = (key(&self.parts[one]), key(&self.parts[other]));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        };
        (0..self.parts.len()).min_by(order).unwrap_or(0)
    }
}

impl Dataset for Mixture {
    fn next(&mut self, rows: usize) -> Result<Rows> {
        let before = self.position();
        let mut all: Option<Rows> = None;
        let mut rest = rows;
        while rest > 0 || all.is_none() {
            let part = self.turn();
            let part = &mut self.parts[part];
            match part.dataset.next(rest.min(1)) {
                Ok(row) => {
                    part.given += row.rows as u64;
                    rest -= row.rows;
                    match &mut all {
                        None => all = Some(row),
                        Some(all) => all.append(row),
                    }
                }
                Err(error) => {
                    if all.is_some() {
                        self.seek(&before)?;
                    }
                    return Err(error);
                }
            }
        }
        all.ok_or_else(|| Diagnostic::bug("a mixture has no parts"))
    }

    fn position(&self) -> Position {
        let state = |part: &Part| (part.name.clone(), PartState { rows: part.given, at: part.dataset.position() });
        Position(serde_json::json!(self.parts.iter().map(state).collect::<BTreeMap<_, _>>()))
    }

    fn seek(&mut self, position: &Position) -> Result<()> {
        let states = BTreeMap::<String, PartState>::deserialize(&position.0);
        let states = states.map_err(|error| not_ours(format!("the position is not one of this data ({error})")))?;
        let names: Vec<&String> = self.parts.iter().map(|part| &part.name).collect();
        if states.len() != names.len() || names.iter().any(|name| !states.contains_key(*name)) {
            let found = states.keys().map(String::as_str).collect::<Vec<_>>();
            let message = format!("the position is one of the sources {}", halite_support::nearest::list(&found));
            return Err(not_ours(message));
        }
        for part in &mut self.parts {
            let state = &states[&part.name];
            part.dataset.seek(&state.at).map_err(|error| error.context(format!("source `{}`", part.name)))?;
            part.given = state.rows;
        }
        Ok(())
    }

    fn epochs(&self) -> u64 {
        self.parts.iter().map(|part| part.dataset.epochs()).min().unwrap_or(0)
    }

    fn identity(&self) -> BTreeMap<String, String> {
        let of_part = |part: &Part| {
            let share = ("share".to_owned(), part.share.to_string());
            let keys = part.dataset.identity().into_iter().chain([share]);
            let own = if part.name.is_empty() { String::new() } else { format!("{}.", part.name) };
            keys.map(|(key, value)| (format!("{own}{key}"), value)).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    fn vocabulary(&self) -> u64 {
        self.parts.iter().map(|part| part.dataset.vocabulary()).max().unwrap_or(0)
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        self.parts.iter().flat_map(|part| part.dataset.warnings()).collect()
    }

    fn skipped(&self) -> Vec<Skipped> {
        self.parts.iter().flat_map(|part| part.dataset.skipped()).collect()
    }
}
