//! `halite init`.

use super::bars;
use super::context::{Context, Output, Result, one};
use super::table::{bytes, grouped};
use clap::Args;
use halite::{Bundle, init, tensors};
use serde_json::json;
use std::path::PathBuf;

/// Write the initial state of a bundle: weights, optimizer state, step counter.
///
/// The values depend on the seed and the names alone, not on the machine, its number of threads or the order of parameters.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite init build/tiny -o state.safetensors
  halite init build/tiny -o state.safetensors --seed 7")]
pub(super) struct Init {
    /// The bundle's folder.
    bundle: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE", default_value = "state.safetensors")]
    output: PathBuf,
    /// Seed of the weights [default: that of the recipe].
    #[arg(long)]
    seed: Option<u64>,
}

impl Init {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let bundle = Bundle::read(&self.bundle).map_err(one)?;
        let seed = self.seed.unwrap_or(bundle.manifest.recipe.train.seed);
        let spinner = bars::spinner(context, "making the initial state");
        let state = init::initial_state(&bundle, seed);
        tensors::write(&self.output, &state).map_err(one)?;
        spinner.finish_and_clear();
        let size: usize = state.values().map(|tensor| tensor.bytes().len()).sum();
        let place = self.output.display().to_string();
        let (count, size) = (state.len(), size as u64);
        let text = format!("wrote {place}: {} tensors, {}, seed {seed}\n", grouped(count as u64), bytes(size));
        Ok(Output::new(text, json!({"state": place, "tensors": count, "bytes": size, "seed": seed})))
    }
}
