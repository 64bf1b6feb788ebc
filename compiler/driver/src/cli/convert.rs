//! `halite convert`.

use super::bars;
use super::context::{Context, Output, Result, one};
use super::table::{bytes, counted};
use clap::{Args, ValueEnum};
use halite::convert::{Form, form_of, to_model, to_stored};
use halite::{Bundle, tensors};
use serde_json::json;
use std::path::PathBuf;

/// Convert weights or state between the names of the model and what a bundle stores.
///
/// A bundle may store several weights of the model as one. `model` is what other programs read and write: every weight by
/// its own name, with moments and masters as `m.NAME`, `v.NAME` and `master.NAME`; `stored` is what `halite init`, `run` and
/// `train` write. Which way to go is clear from the names in the file. Element types and every bit stay as they are, in both
/// directions; text that a file carries beside its tensors is left out.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite convert build/tiny runs/tiny/state.safetensors -o model.safetensors
  halite convert build/tiny model.safetensors -o state.safetensors
  halite convert build/tiny model.safetensors --to stored -o state.safetensors")]
pub(super) struct Convert {
    /// The bundle's folder.
    bundle: PathBuf,
    /// The file to convert: all weights, alone or with other state.
    input: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The form to convert to [default: the one that the file does not have].
    #[arg(long, value_enum)]
    to: Option<To>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum To {
    Model,
    Stored,
}

impl From<To> for Form {
    fn from(to: To) -> Self {
        match to {
            To::Model => Form::Model,
            To::Stored => Form::Stored,
        }
    }
}

impl Convert {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let bundle = Bundle::read(&self.bundle).map_err(one)?;
        let spinner = bars::spinner(context, &format!("converting {}", self.input.display()));
        let tensors = tensors::read(&self.input).map_err(one)?;
        let to = match self.to {
            Some(to) => to.into(),
            None if form_of(&bundle.manifest, &tensors)? == Some(Form::Model) => Form::Stored,
            None => Form::Model,
        };
        let given = tensors.len();
        let converted = match to {
            Form::Model => to_model(&bundle.manifest, tensors)?,
            Form::Stored => to_stored(&bundle.manifest, tensors)?,
        };
        tensors::write(&self.output, &converted).map_err(one)?;
        spinner.finish_and_clear();
        let (place, count) = (self.output.display().to_string(), converted.len());
        let size: usize = converted.values().map(|tensor| tensor.bytes().len()).sum();
        let how = match to {
            Form::Model => "as the model names them",
            Form::Stored => "as the bundle stores them",
        };
        let text = format!("wrote {place}: {} {how}, {}, from {given}\n", counted(count, "tensor"), bytes(size as u64));
        Ok(Output::new(text, json!({"output": place, "to": to.name(), "tensors": count, "from": given, "bytes": size})))
    }
}
