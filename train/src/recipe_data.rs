//! The data that a recipe names.

use super::Feed;
use halite_bundle::Bundle;
use halite_data::{
    BYTES, Data, DataConfig, Format, HeldOut, Mixture, OnError, Opened, Packing, SourceConfig, Takes, Tokenizer,
};
use halite_recipe::{DataSource, DataTable, Documents, Pack};
use halite_support::{Diagnostic, Result, codes};
use std::path::PathBuf;

/// The data of a recipe's `data` table, for a model that attends within documents or across them.
#[derive(Clone, PartialEq, Debug)]
pub struct RecipeData {
    base: PathBuf,
    train: DataConfig,
    /// Each data set as the only source of its own.
    held_out: Vec<DataConfig>,
}

impl RecipeData {
    /// The data of a table for a bundle, paths being seen from a folder.
    ///
    /// # Errors
    /// When the bundle lacks a training step on sequences, or sequences with padding are asked for that the model would train on; when
    /// there is no such format.
    pub fn new(bundle: &Bundle, table: DataTable, base: impl Into<PathBuf>) -> Result<Self> {
        let pack = match (table.pack, Feed::of_batch(bundle)?.takes_segments()) {
            (Some(Pack::BestFit), false) => {
                let message = "`data.pack` is `best_fit`, and the model attends across documents and trains on padding";
                return Err(Diagnostic::error(codes::RECIPE_RANGE, message)
                    .key("data.pack")
                    .help("compile with `--set packed=true`, or leave `pack` out"));
            }
            (Some(Pack::BestFit) | None, true) => Packing::BestFit,
            (Some(Pack::InOrder), _) | (None, false) => Packing::InOrder,
        };
        Self::packed(table, base, pack)
    }

    /// The data of a table, packed in a way that models of either kind are trained on, or that a model is known to take.
    ///
    /// # Errors
    /// When there is no such format.
    pub fn packed(table: DataTable, base: impl Into<PathBuf>, pack: Packing) -> Result<Self> {
        let train = Self::config(&table, sources("sources", &table.sources)?, (pack, table.shuffle));
        let held_out = sources("held_out", &table.held_out)?.into_iter();
        let held_out = held_out.map(|source| Self::config(&table, vec![source], (pack, false))).collect();
        Ok(Self { base: base.into(), train, held_out })
    }

    fn config(table: &DataTable, sources: Vec<SourceConfig>, (pack, shuffle): (Packing, bool)) -> DataConfig {
        let DataTable { tokenizer, bos, eos, buffer, threads, on_error, .. } = table;
        DataConfig {
            tokenizer: tokenizer.clone(),
            bos: bos.clone(),
            eos: eos.clone(),
            pack,
            shuffle,
            buffer: Some(*buffer as usize),
            threads: Some(*threads as usize).filter(|threads| *threads > 0),
            on_error: match on_error {
                halite_recipe::OnError::Stop => OnError::Stop,
                halite_recipe::OnError::Skip => OnError::Skip,
            },
            sources,
        }
    }

    fn open_one(&self, config: &DataConfig, takes: &Takes, seed: u64) -> Result<Mixture> {
        if config.has_examples()? {
            return halite_data::open_examples(config, &self.base, &takes.inputs, seed);
        }
        halite_data::open(config, &self.base, takes.width()?, seed)
    }

    /// The configuration of the training data.
    pub fn train_config(&self) -> &DataConfig {
        &self.train
    }

    /// The configurations of the held-out data, each data set as the only source of its own.
    pub fn held_out_configs(&self) -> &[DataConfig] {
        &self.held_out
    }

    /// Opens the held-out data, each data set at its first sequence, in the order of its files.
    ///
    /// # Errors
    /// When one cannot be opened.
    pub fn held_out(&self, takes: &Takes) -> Result<Vec<HeldOut>> {
        let open = |(number, config): (usize, &DataConfig)| {
            let opened = self.open_one(config, takes, 0).map_err(|error| of_held_out(error, number))?;
            let name = config.sources.iter().map(|source| source.name.clone()).collect();
            Ok(HeldOut { name, data: Box::new(opened) })
        };
        self.held_out.iter().enumerate().map(open).collect()
    }
}

/// An error of the only source of a data set, as one of the held-out data set at this position.
fn of_held_out(error: Diagnostic, number: usize) -> Diagnostic {
    let key = error.recipe_key().and_then(|key| key.strip_prefix("data.sources.0"));
    match key.map(|rest| format!("data.held_out.{number}{rest}")) {
        Some(key) => error.key(key),
        None => error,
    }
}

/// The data sets that the model of a bundle is evaluated on: these files of text or JSON lines, or else the held-out data of its
/// recipe. Their tokens are those of the tokenizer of this name, or else of the recipe's data, or else bytes.
///
/// # Errors
/// When there is none; when one cannot be opened, or has tokens that the model does not know.
pub fn measured_data(bundle: &Bundle, files: &[PathBuf], tokenizer: Option<&str>) -> Result<Vec<HeldOut>> {
    let feed = Feed::of_batch(bundle)?;
    let mut table = bundle.manifest.recipe.data.clone().unwrap_or_else(|| DataTable::of(Vec::new()));
    if let Some(tokenizer) = tokenizer {
        tokenizer.clone_into(&mut table.tokenizer);
    }
    if !files.is_empty() {
        let source = |path: &PathBuf| {
            let path = path.display().to_string();
            DataSource { name: path.clone(), ..DataSource::of(path) }
        };
        table.held_out = files.iter().map(source).collect();
    }
    if table.held_out.is_empty() {
        let error = Diagnostic::error(codes::USAGE, "no data to measure on");
        return Err(error.help("give files with `--data`, or hold data out in the recipe: `data.held_out`"));
    }
    let held_out = RecipeData::new(bundle, table, ".")?.held_out(&feed.takes)?;
    held_out.iter().try_for_each(|held_out| feed.check(held_out.data.as_ref()))?;
    Ok(held_out)
}

impl Data for RecipeData {
    fn open(&self, takes: &Takes, seed: u64) -> Result<Opened> {
        let train = Box::new(self.open_one(&self.train, takes, seed)?);
        Ok(Opened { train, held_out: self.held_out(takes)? })
    }

    fn tokenizer(&self) -> Result<Option<Box<dyn Tokenizer>>> {
        let config = &self.train;
        // Files of tokens do not say what made them, and a recipe that leaves the tokenizer out does not either.
        let is_unknown = config.sources.iter().any(SourceConfig::has_tokens) && config.tokenizer == BYTES;
        if is_unknown || config.has_examples()? {
            return Ok(None);
        }
        halite_data::open_tokenizer(&config.tokenizer, &self.base).map(Some)
    }
}

/// The sources under a key of the table.
fn sources(key: &str, sources: &[DataSource]) -> Result<Vec<SourceConfig>> {
    let one = |(number, stated): (usize, &DataSource)| {
        source(stated).map_err(|error| error.key(format!("data.{key}.{number}.format")))
    };
    sources.iter().enumerate().map(one).collect()
}

fn source(source: &DataSource) -> Result<SourceConfig> {
    Ok(SourceConfig {
        name: source.name.clone(),
        files: source.files.clone(),
        format: source.format.as_deref().map(Format::named).transpose()?,
        column: source.column.clone(),
        documents: match source.documents {
            Documents::File => halite_data::Documents::File,
            Documents::Line => halite_data::Documents::Line,
            Documents::Blank => halite_data::Documents::Blank,
        },
        part: source.part.as_ref().map(|part| part.to_string()),
        weight: source.weight,
    })
}
