//! `halite data pack`.

use super::progress::Progress;
use super::{Input, count};
use crate::context::{Context, Output, Result};
use clap::Args;
use halite_disk::Disk;
use std::path::{Path, PathBuf};

/// Tokenize what a recipe trains on, and write it for later runs.
///
/// The documents of all sources, one after another and each once, become an indexed data set of Megatron-LM: FILE.bin and
/// FILE.idx beside it. What is held out is not written.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  halite data pack recipe.toml -o tokens.bin")]
pub(crate) struct Pack {
    #[command(flatten)]
    input: Input,
    /// The file of tokens, which ends in `.bin`.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Pack {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let opened = self.input.open(context)?;
        let mut progress = Progress::new(context);
        let mut observe = |counted: &_| progress.show("train", counted);
        let written = halite_data::write_tokens(
            opened.data.train_config(),
            Path::new("."),
            &Disk::default(),
            &self.output,
            &mut observe,
        )?;
        progress.finish();
        Ok(count::output(&written.iter().map(|counted| ("train", counted)).collect::<Vec<_>>()))
    }
}
