//! `halite convert`.

mod exported;

use crate::bars;
use crate::context::{Context, Output, Ready, Result};
use crate::table::{bytes, counted};
use clap::{Args, ValueEnum};
use exported::Exported;
use halite_bundle::convert::{Conversion, Form};
use halite_bundle::tensors::Tensors;
use halite_bundle::{shards, tensors};
use halite_support::{Diagnostic, codes};
use halite_tensor::DType;
use halite_train::{Checkpoint, RunFiles};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write weights or state as other programs have them, or as a bundle stores them.
///
/// INPUT is a run or a checkpoint, whose newest state is converted, or a bundle or what `halite compile` takes, with STATE.
///
/// With `--to hugging-face` a folder is written that Transformers loads: weights, `config.json` of a built-in model, and the tokenizer of
/// the data. States and checkpoints have every weight of the model by its own name, with moments and master weights as `m.NAME`, `v.NAME`
/// and `master.NAME`; `--to model` writes these names. `--to bundle` writes what the modules of the bundle take, which may store several
/// weights as one: for programs that feed modules by themselves. A checkpoint of Transformers is read as it is, in one file or in shards.
/// For a bundle, weights become the type that it stores where that loses nothing. Otherwise element types and every bit stay as they are, in
/// both directions; text that a file carries beside its tensors is left out.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite convert runs/tiny --to hugging-face -o exported
  halite convert runs/tiny --weights-only -o model.safetensors
  halite convert build/tiny state.safetensors --to bundle -o fed.safetensors
  halite convert build/tiny fed.safetensors -o state.safetensors
  halite convert build/llama state.safetensors --weights-only --dtype bf16 \\
    --shard-size 5GB -o out/model.safetensors")]
pub(super) struct Convert {
    /// Run, checkpoint, bundle, preset, recipe or model file.
    input: String,
    /// The weights or state to convert: a file with all weights, alone or with other state, a run, a checkpoint, or the folder or index of a sharded
    /// one [default: the state of INPUT, where it is a run or a checkpoint].
    state: Option<PathBuf>,
    /// The file to write, or the folder with `--to hugging-face`; with several shards, their names and that of the index are derived from it.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// Format of the output.
    #[arg(long, value_enum, default_value_t = To::Model)]
    to: To,
    /// Set a key of the recipe (`batch=4`, `optimizer.adamw.lr=1e-3`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
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
    /// A folder that Transformers loads, with the weights alone.
    HuggingFace,
}

impl To {
    fn form(self) -> Form {
        match self {
            Self::Model | Self::HuggingFace => Form::Model,
            Self::Bundle => Form::Stored,
        }
    }

    fn said(self) -> &'static str {
        match self {
            Self::Model => "as the model names them",
            Self::Bundle => "as the bundle stores them",
            Self::HuggingFace => "as Transformers loads them",
        }
    }
}

impl Convert {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let (_, Ready { bundle, warnings, model, state, weights, .. }) = context.ready(&self.input, &self.set)?;
        context.show(&warnings);
        let given = self.state.clone().or(state).or(weights).ok_or_else(|| {
            let error = Diagnostic::error(codes::USAGE, "no state is given to convert");
            error.help("give the folder of a run as INPUT, or a state behind it: `halite convert INPUT STATE -o PATH`")
        })?;
        self.refuse_shards()?;
        // Before anything is read or written.
        let folder = match self.to {
            To::HuggingFace => Some(Exported::of(&mut context.session, &bundle, model.as_deref())?),
            To::Model | To::Bundle => None,
        };
        let spinner = bars::spinner(context, &format!("converting {}", given.display()));
        let tensors = read(&given)?;
        let from = tensors.len();
        let form = self.to.form();
        let weights_only = self.weights_only || self.to == To::HuggingFace;
        let converted = Conversion { to: form, dtype: self.dtype, weights_only }.apply(&bundle.manifest, tensors)?;
        let most = self.shard_size.unwrap_or(u64::MAX);
        let place = match (&folder, form) {
            (Some(folder), _) => folder.write(&self.output, &converted, most)?,
            (None, Form::Model) => shards::write(&self.output, &converted, most)?,
            (None, Form::Stored) => tensors::write(&self.output, &converted).map(|()| self.output.clone())?,
        };
        spinner.finish_and_clear();
        let (place, count) = (place.display().to_string(), converted.len());
        let size: usize = converted.values().map(|tensor| tensor.bytes().len()).sum();
        let (how, tensors) = (self.to.said(), counted(count, "tensor"));
        let read = match form {
            _ if from == count => String::new(),
            Form::Model if weights_only && from > count => {
                format!("; of the {from} read, those of the optimizer are left out")
            }
            _ => format!("; {from} were read: a bundle stores some of them as one"),
        };
        let text = format!("wrote {place}: {tensors} {how}, {}{read}\n", bytes(size as u64));
        let json = json!({"output": place, "to": form.name(), "tensors": count, "from": from, "bytes": size});
        Ok(Output {
            warnings: folder.and_then(|folder| folder.warning).into_iter().collect(),
            ..Output::new(text, json)
        })
    }

    fn refuse_shards(&self) -> Result<()> {
        if self.to != To::Bundle || self.shard_size.is_none() {
            return Ok(());
        }
        let error = Diagnostic::error(codes::USAGE, "what a bundle stores is written to one file");
        Err(error.help("leave `--shard-size` out, or convert to `model`").into())
    }
}

/// The tensors that a path leads to: those of a run or of a checkpoint of one, or of a checkpoint of Transformers.
fn read(path: &Path) -> Result<Tensors> {
    let is_of_run = path.is_dir() && (RunFiles::at(path).is_some() || Checkpoint::open(path).is_ok());
    match is_of_run {
        true => Ok(tensors::read(&Checkpoint::state_at(path)?.0)?),
        false => shards::read(path),
    }
}
