//! `halite neuron`.

mod cache;
mod compile;
mod progress;
mod selftest;
mod units;

pub(super) use units::duration;

use crate::context::{Context, Output, Result};
use clap::Subcommand;
use halite_neuron::neuronx::Store;
use halite_support::{Diagnostic, codes};
use std::path::{Path, PathBuf};

/// Compile bundles with neuronx-cc, manage the store of NEFFs, and test a device.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  halite neuron compile build/hlat-7b
  halite neuron selftest
  halite neuron cache ls")]
pub(super) enum Neuron {
    Compile(compile::Compile),
    Selftest(Box<selftest::Selftest>),
    #[command(subcommand)]
    Cache(cache::Cache),
}

impl Neuron {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        match self {
            Self::Compile(command) => command.run(context),
            Self::Selftest(command) => command.run(context),
            Self::Cache(command) => command.run(),
        }
    }
}

/// The folder of the store: the one that is named, else the user's.
fn store_folder(named: Option<&Path>) -> halite_support::Result<PathBuf> {
    let folder = named.map(Path::to_owned).or_else(Store::default_folder);
    folder.ok_or_else(|| {
        Diagnostic::error(
            codes::NEFF_STORE,
            "there is no place for the store: neither `XDG_CACHE_HOME` nor `HOME` is set",
        )
        .help("name a folder with `--cache`")
    })
}
