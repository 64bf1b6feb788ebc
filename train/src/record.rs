//! The record of a run that made a state. It is kept in the state's file, and a resumed run is checked against it.

use super::keys::flatten;
use super::layout::{changes, layout};
use super::rollback::Rollback;
use super::scheduled::scheduled;
use halite_bundle::{Bundle, sha256, tensors};
use halite_data::{Opened, Position};
use halite_support::{ChangedLine, Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The key under which the text of a record stands in a file of tensors.
pub(super) const KEY: &str = "halite.run";

/// The format of states that this build reads and writes. States of version 1 do not state it, and store together the tensors that
/// their bundle stores together; those of version 2 do not state their position in the data.
const VERSION: u32 = 3;

/// The parts of a recipe that decide what an update computes, beside the sequences that it takes; the model comes from the
/// manifest, with all its values.
const DECIDING: [&str; 6] = ["seq", "accumulate", "precision", "optimizer", "schedule", "target"];

/// The key of the seed in [`Record::made_by`].
const SEED: &str = "seed";

/// The record of the run that made a state, and its position in the data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// Format version of the state.
    pub version: u32,
    /// Completed updates.
    pub step: u64,
    /// SHA-256 of the model, as the manifest has it.
    pub model: String,
    /// SHA-256 of the HLO of the training step, without names and places in texts. Each layout has its own.
    pub program: String,
    /// The layout of the run over ranks: the keys of `parallel` with their values. A run may go on with another layout.
    pub layout: BTreeMap<String, String>,
    /// The position in the data.
    pub position: Position,
    /// The rollbacks of the run, with the batches that it skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rollbacks: Vec<Rollback>,
    /// Keys of the model, the recipe and the data with their values, such as `optimizer.adamw.lr` with `0.001`.
    pub made_by: BTreeMap<String, String>,
}

/// The SHA-256 of an update's module or, where several modules make an update, that of their SHA-256s in the order of the schedule.
fn program(bundle: &Bundle) -> Result<String> {
    let modules = scheduled(bundle)?.into_iter().map(|entry| Ok(sha256(&halite_hlo::canonical(bundle.hlo(entry)?))));
    let modules = modules.collect::<Result<Vec<String>>>()?;
    Ok(if let [only] = &modules[..] { only.clone() } else { sha256(modules.concat().as_bytes()) })
}

impl Record {
    /// The record of a run of a bundle at its start.
    ///
    /// # Errors
    /// When the bundle has no training step.
    pub(super) fn new(bundle: &Bundle, data: &Opened, seed: u64) -> Result<Self> {
        let manifest = &bundle.manifest;
        let json = |value: serde_json::Result<Value>| value.map_err(|error| Diagnostic::bug(error.to_string()));
        let mut made_by = BTreeMap::new();
        flatten("model", &json(serde_json::to_value(&manifest.model))?, &mut made_by);
        // These are in the recipe too, or compared by themselves.
        let elsewhere = ["model.config.batch", "model.config.seq", "model.sha256"];
        made_by.retain(|key, _| !elsewhere.contains(&key.as_str()));
        let sequences = manifest.recipe.sizes()?.global_batch;
        made_by.insert("parallel.global_batch".to_owned(), sequences.to_string());
        let recipe = json(serde_json::to_value(&manifest.recipe))?;
        for key in DECIDING {
            flatten(key, &recipe[key], &mut made_by);
        }
        made_by.insert(SEED.to_owned(), seed.to_string());
        made_by.extend(data.train.identity().into_iter().map(|(key, value)| (format!("data.{key}"), value)));
        let (model, layout) = (manifest.model.sha256.clone(), layout(&manifest.recipe)?);
        let (program, position) = (program(bundle)?, data.train.position());
        Ok(Self { version: VERSION, step: 0, model, program, layout, position, rollbacks: Vec::new(), made_by })
    }

    /// The record in a file of tensors; `None` where another program wrote it, or `halite init`, `run` or `convert`.
    ///
    /// # Errors
    /// When the file cannot be read, or what stands there is no record of this version.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let (_, text) = tensors::read_marked(path, KEY)?;
        text.map(|text| Self::parse(&text, path)).transpose()
    }

    /// Reads a record that a file holds.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self> {
        let fault = |error: serde_json::Error| {
            let message = format!("what `{}` says of its run is no record: {error}", path.display());
            Diagnostic::error(codes::TENSOR_FILE, message)
                .help("resume from another state, or start from the weights with `--weights`")
        };
        let value: Value = serde_json::from_str(text).map_err(fault)?;
        let version = if value.is_object() { value.get("version").map_or(Some(1), Value::as_u64) } else { None };
        match version {
            Some(version) if version != u64::from(VERSION) => Err(of_another_version(path, version)),
            _ => serde_json::from_value(value).map_err(fault),
        }
    }

    /// The seed of the run.
    pub fn seed(&self) -> Option<u64> {
        self.made_by.get(SEED)?.parse().ok()
    }

    /// The same record after `step` updates, at a position in the data, with these rollbacks.
    pub(super) fn at(&self, step: u64, position: Position, rollbacks: &[Rollback]) -> Self {
        Self { step, position, rollbacks: rollbacks.to_vec(), ..self.clone() }
    }

    /// The record as text, as it is kept in a file.
    pub(super) fn to_text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| Diagnostic::bug(error.to_string()))
    }

    /// Whether another run draws the same data in the same order.
    pub(super) fn has_data_of(&self, other: &Self) -> bool {
        let is_of_data = |key: &str| key == SEED || key.starts_with("data.");
        let of_data = |record: &Self| {
            let keys = record.made_by.iter().filter(|(key, _)| is_of_data(key));
            keys.map(|(key, value)| (key.clone(), value.clone())).collect::<Vec<_>>()
        };
        of_data(self) == of_data(other)
    }

    /// The differences of another run, one sentence for each key, and the line of its model that changed, where that is known.
    pub(super) fn differences(&self, new: &Self, changed: Option<&ChangedLine>) -> Vec<String> {
        let keys: std::collections::BTreeSet<&String> = self.made_by.keys().chain(new.made_by.keys()).collect();
        let differ = keys.into_iter().filter_map(|key| match (self.made_by.get(key), new.made_by.get(key)) {
            (Some(old), Some(new)) if old != new => Some(format!("`{key}` was {old}, now it is {new}")),
            (Some(old), None) => Some(format!("`{key}` was {old}, now it is not set")),
            (None, Some(new)) => Some(format!("`{key}` was not set, now it is {new}")),
            _ => None,
        });
        let mut differences: Vec<String> = differ.collect();
        if self.model != new.model
            && let Some(line) = changed
        {
            differences.insert(0, format!("the model is another: {line}"));
        }
        if differences.is_empty() && self.model != new.model {
            differences.push(replaced("model", &self.model, &new.model, "its text or Halite is another"));
        }
        // The programs of two layouts are never one.
        if differences.is_empty() && self.layout == new.layout && self.program != new.program {
            let why = "the target or Halite is another, or a key of the recipe that says how it is compiled";
            differences.push(replaced("program", &self.program, &new.program, why));
        }
        differences
    }
}

/// The sentence on a thing whose SHA-256 has changed.
fn replaced(what: &str, old: &str, new: &str, why: &str) -> String {
    let short = |sum: &str| sum.chars().take(12).collect::<String>();
    format!("the {what} was {}, now it is {}: {why}", short(old), short(new))
}

fn of_another_version(path: &Path, version: u64) -> Diagnostic {
    let path = path.display();
    let message = format!("the state `{path}` has version {version}, this build reads version {VERSION}");
    let diagnostic = Diagnostic::error(codes::VERSION, message);
    if version > u64::from(VERSION) {
        return diagnostic.help("take the version of Halite that wrote it, or a newer one");
    }
    diagnostic.note("it stores together what its bundle did, or does not say where in the data it is").help(format!(
        "compile its recipe again, and write it anew with that bundle: `halite convert BUNDLE {path} -o NEW`; that no \
             longer says what made it, and is resumed with a warning"
    ))
}

/// A run that goes on from a state.
pub(super) struct Resumption<'a> {
    /// The path of the state.
    pub(super) state: &'a Path,
    /// The record of the run that made it, where that is known.
    pub(super) old: Option<&'a Record>,
    /// The record of the run that goes on.
    pub(super) new: &'a Record,
    /// The first line of the model that differs, where both texts are at hand.
    pub(super) changed: Option<ChangedLine>,
    /// Whether the state was found in the folder of the run, rather than named.
    pub(super) is_found: bool,
    /// Whether the state may be of another run.
    pub(super) allow: bool,
}

impl Resumption<'_> {
    /// Checks the run against the record of the state. Differences are refused, or only reported where they are allowed. A difference
    /// in the layout alone is reported.
    ///
    /// # Errors
    /// When there is a difference that is not allowed.
    pub(super) fn check(&self) -> Result<Option<Diagnostic>> {
        let Some(old) = self.old else { return Ok(None) };
        let (differences, moved) =
            (old.differences(self.new, self.changed.as_ref()), changes(&old.layout, &self.new.layout));
        let path = self.state.display();
        let on_another = moved.map(|changes| format!("the state `{path}` was saved on another layout: {changes}"));
        if differences.is_empty() {
            return Ok(on_another.map(|message| Diagnostic::warning(codes::OTHER_LAYOUT, message)));
        }
        let message = format!("the state `{path}` comes from another run");
        let told =
            |diagnostic: Diagnostic| differences.iter().fold(diagnostic, |told, difference| told.note(difference));
        if self.allow {
            let warning = told(Diagnostic::warning(codes::OTHER_RUN, message));
            return Ok(Some(on_another.into_iter().fold(warning, Diagnostic::note)));
        }
        let help = match self.is_found {
            true => {
                "start a new run in another folder with `-o`, give this one what it had, or say `--allow-changes` to go on with what is now"
            }
            false => "give the run what it had, or say `--allow-changes` to go on with what is now",
        };
        Err(told(Diagnostic::error(codes::OTHER_RUN, message)).help(help))
    }
}

/// A warning on a state without a record. There is none at update 0, where nothing is continued.
pub(super) fn unknown(state: &Path, step: u64) -> Option<Diagnostic> {
    let message = format!("the state `{}` does not say what made it", state.display());
    let note = format!("its recipe, seed and data are not compared; the data begin anew after update {step}");
    (step > 0).then(|| Diagnostic::warning(codes::OTHER_RUN, message).note(note))
}
