//! `halite convert`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::table::{bytes, counted};
use clap::{Args, ValueEnum};
use halite_bundle::convert::{Conversion, Form};
use halite_bundle::{shards, tensors};
use halite_support::{Diagnostic, codes};
use halite_tensor::DType;
use serde_json::json;
use std::path::PathBuf;

/// Convert weights or state to the names and files that other programs have, or to what a bundle stores.
///
/// States and checkpoints have every weight of the model by its own name, with moments and master weights as `m.NAME`, `v.NAME`
/// and `master.NAME`, and so has what this writes. With `--to bundle` it is what the modules of the bundle take, which may store
/// several weights as one: for programs that feed modules by themselves. Other commands do not read that; this one reads both,
/// told apart by their names. A checkpoint of Hugging Face's Transformers is read as it is, in one file or in shards; for a bundle,
/// weights become the type that it stores where that loses nothing. Otherwise element types and every bit stay as they are, in
/// both directions; text that a file carries beside its tensors is left out.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite convert build/tiny runs/tiny/state.safetensors --weights-only \\
    -o model.safetensors
  halite convert build/tiny state.safetensors --to bundle -o fed.safetensors
  halite convert build/tiny fed.safetensors -o state.safetensors
  halite convert build/llama Llama-2-7b --to bundle -o fed.safetensors
  halite convert build/llama state.safetensors --weights-only --dtype bf16 \\
    --shard-size 5GB -o out/model.safetensors")]
pub(super) struct Convert {
    /// The bundle's folder.
    bundle: PathBuf,
    /// What to convert: a file with all weights, alone or with other state, the index of a sharded checkpoint, or its folder.
    input: PathBuf,
    /// The file to write; with several shards, their names and that of the index are derived from it.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What to convert to.
    #[arg(long, value_enum, default_value_t = To::Model)]
    to: To,
    /// Round weights to this type, to nearest, ties to even [default: keep their types].
    #[arg(long, value_parser = float_type)]
    dtype: Option<DType>,
    /// Leave out the optimizer state: moments, master weights and counters.
    #[arg(long)]
    weights_only: bool,
    /// Write several files of at most this size, such as 5GB or 500MB, and an index beside them [default: one file].
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    shard_size: Option<u64>,
}

fn float_type(text: &str) -> std::result::Result<DType, String> {
    DType::parse(text).filter(|dtype| dtype.is_float()).ok_or_else(|| "expected bf16, f16, f32 or f64".to_owned())
}

/// A number of bytes with a decimal unit.
fn bytes_of(text: &str) -> std::result::Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err("expected a unit of B, KB, MB or GB".to_owned()),
    };
    let size = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(unit)).filter(|size| *size > 0);
    size.ok_or_else(|| "expected a size like 5GB".to_owned())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum To {
    /// Every weight by its own name, as other programs have it.
    Model,
    /// As the modules of the bundle take it, which may store several weights as one.
    Bundle,
}

impl From<To> for Form {
    fn from(to: To) -> Self {
        match to {
            To::Model => Form::Model,
            To::Bundle => Form::Stored,
        }
    }
}

impl Convert {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let bundle = context.session.read_bundle(&self.bundle)?;
        let spinner = bars::spinner(context, &format!("converting {}", self.input.display()));
        let tensors = shards::read(&self.input)?;
        let given = tensors.len();
        let to = self.to.into();
        self.refuse_shards(to)?;
        let conversion = Conversion { to, dtype: self.dtype, weights_only: self.weights_only };
        let converted = conversion.apply(&bundle.manifest, tensors)?;
        let place = match to {
            Form::Model => shards::write(&self.output, &converted, self.shard_size.unwrap_or(u64::MAX))?,
            Form::Stored => tensors::write(&self.output, &converted).map(|()| self.output.clone())?,
        };
        spinner.finish_and_clear();
        let (place, count) = (place.display().to_string(), converted.len());
        let size: usize = converted.values().map(|tensor| tensor.bytes().len()).sum();
        let how = match to {
            Form::Model => "as the model names them",
            Form::Stored => "as the bundle stores them",
        };
        let text = format!("wrote {place}: {} {how}, {}, from {given}\n", counted(count, "tensor"), bytes(size as u64));
        Ok(Output::new(text, json!({"output": place, "to": to.name(), "tensors": count, "from": given, "bytes": size})))
    }

    fn refuse_shards(&self, to: Form) -> Result<()> {
        if to == Form::Model || self.shard_size.is_none() {
            return Ok(());
        }
        let error = Diagnostic::error(codes::USAGE, "what a bundle stores is written to one file");
        Err(error.help("leave `--shard-size` out, or convert to `model`").into())
    }
}
