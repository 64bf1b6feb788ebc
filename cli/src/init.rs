//! `halite init`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::table::{bytes, grouped};
use clap::Args;
use halite_bundle::{init, tensors};
use serde_json::json;
use std::path::PathBuf;

/// Write the initial state of a bundle: weights, optimizer state, step counter.
///
/// The values depend on the seed and the names alone, not on the machine, its number of threads, the order of parameters or the
/// layout over ranks: a state has each tensor of the model, whatever a bundle stores together.
/// With `--weights` they come from a checkpoint instead of a seed, and the optimizer starts anew; weights of a wider type than
/// the bundle's are rounded to nearest.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite init build/tiny -o state.safetensors
  halite init build/tiny -o state.safetensors --seed 7
  halite init build/llama -o state.safetensors --weights Llama-3.1-8B")]
pub(super) struct Init {
    /// The bundle's folder.
    bundle: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE", default_value = "state.safetensors")]
    output: PathBuf,
    /// Seed of the initial weights [default: `train.seed` of the recipe].
    #[arg(long)]
    seed: Option<u64>,
    /// Take the weights from here instead of a seed: a safetensors file, a sharded checkpoint's index, or its folder.
    #[arg(long, value_name = "PATH", conflicts_with = "seed")]
    weights: Option<PathBuf>,
}

impl Init {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let bundle = context.session.read_bundle(&self.bundle)?;
        let seed = self.seed.unwrap_or(bundle.manifest.recipe.train.seed);
        let spinner = bars::spinner(context, "making the initial state");
        let (state, origin) = match &self.weights {
            Some(path) => {
                (init::state_from_checkpoint(&bundle.manifest, path)?, format!("weights of {}", path.display()))
            }
            None => (init::initial_state(&bundle, seed)?, format!("seed {seed}")),
        };
        tensors::write(&self.output, &state)?;
        spinner.finish_and_clear();
        let size: usize = state.values().map(|tensor| tensor.bytes().len()).sum();
        let place = self.output.display().to_string();
        let (count, size) = (state.len(), size as u64);
        let text = format!("wrote {place}: {} tensors, {}, {origin}\n", grouped(count as u64), bytes(size));
        let mut json = json!({"state": place, "tensors": count, "bytes": size});
        match &self.weights {
            Some(path) => json["weights"] = json!(path),
            None => json["seed"] = json!(seed),
        }
        Ok(Output::new(text, json))
    }
}
