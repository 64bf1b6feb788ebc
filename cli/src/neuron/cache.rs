//! `halite neuron cache`.

use super::{store_folder, units};
use crate::context::{Output, Result};
use crate::table::{bytes, counted, table};
use clap::{Args, Subcommand};
use halite_neuron::neuronx::{GcRule, Kept, State, Store};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Show or clear the store of NEFFs.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  halite neuron cache ls
  halite neuron cache gc --keep 50GiB
  halite neuron cache gc --older 30d")]
pub(crate) enum Cache {
    /// Show what is in the store, and what failed compiles left; of each the longest unused first.
    #[command(
        after_help = "Examples:\n  halite neuron cache ls\n  halite neuron cache ls --cache /scratch/neff --json"
    )]
    Ls(StoreFolder),
    /// Remove what is not needed any more. What another process uses at the time is left alone.
    #[command(after_help = "Examples:\n  halite neuron cache gc --keep 50GiB\n  halite neuron cache gc --all")]
    Gc {
        #[command(flatten)]
        folder: StoreFolder,
        #[command(flatten)]
        rule: Rule,
    },
}

/// The store that a command works on.
#[derive(Args, Debug)]
pub(crate) struct StoreFolder {
    /// The folder of the store [default: halite/neff in the cache folder of the user].
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// The rule by which entries are removed.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct Rule {
    /// Remove what failed compiles left, then the longest unused, until no more than this is kept.
    #[arg(long, value_name = "SIZE", value_parser = units::bytes)]
    keep: Option<u64>,
    /// Remove what was not used for this long, e.g. `30d`.
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    older: Option<Duration>,
    /// Remove everything.
    #[arg(long)]
    all: bool,
}

impl Rule {
    fn rule(&self) -> GcRule {
        match (self.keep, self.older) {
            (Some(most), _) => GcRule::Keep(most),
            (None, Some(limit)) => GcRule::Older(limit),
            (None, None) => GcRule::All,
        }
    }
}

impl Cache {
    pub(super) fn run(self) -> Result<Output> {
        let store = |folder: &StoreFolder, open: fn(&Path) -> halite_support::Result<Store>| {
            store_folder(folder.cache.as_deref()).and_then(|path| open(&path))
        };
        match &self {
            Self::Ls(folder) => list(&store(folder, Store::look)?),
            Self::Gc { folder, rule } => gc(&store(folder, Store::open)?, rule.rule()),
        }
    }
}

fn list(store: &Store) -> Result<Output> {
    let all = store.list()?;
    let head = ["key", "module", "compiler", "flags", "size", "unused for"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(all.iter().map(row)).collect();
    let total = all.iter().map(|one| one.bytes).sum();
    let sum = format!("{} and {} in {}\n", counted(all.len(), "folder"), bytes(total), store.root().display());
    let json = json!({"store": store.root(), "bytes": total, "kept": all.iter().map(kept_json).collect::<Vec<_>>()});
    let text = if all.is_empty() { sum } else { table(&rows) + &sum };
    Ok(Output::new(text, json))
}

fn row(kept: &Kept) -> Vec<String> {
    let [module, compiler, flags] = match (kept.state, &kept.entry) {
        (_, Some(entry)) => {
            [format!("{}.{}", entry.model, entry.module), entry.compiler.clone(), entry.flag_hash.clone()]
        }
        (State::Working, None) => ["at work", "", ""].map(str::to_owned),
        (State::Failed, None) => ["of a failed compile", "", ""].map(str::to_owned),
        (State::Stored, None) => ["damaged", "", ""].map(str::to_owned),
    };
    let key = kept.key.chars().take(12).collect();
    vec![key, module, compiler, flags, bytes(kept.bytes), units::spoken(kept.age)]
}

fn kept_json(kept: &Kept) -> Value {
    let seconds = kept.age.as_secs();
    json!({"key": kept.key, "state": kept.state, "bytes": kept.bytes, "unused_seconds": seconds, "entry": kept.entry})
}

fn gc(store: &Store, rule: GcRule) -> Result<Output> {
    let removed = store.gc(rule)?;
    let mut text = format!("removed {}, {}\n", counted(removed.count, "folder"), bytes(removed.bytes));
    if removed.in_use > 0 {
        text.push_str(&format!("left {} that another process uses\n", counted(removed.in_use, "folder")));
    }
    let json = json!({"removed": removed.count, "bytes": removed.bytes, "in_use": removed.in_use});
    Ok(Output::new(text, json))
}
