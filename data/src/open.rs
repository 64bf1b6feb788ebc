//! Data sets from configurations.

use crate::config::{DataConfig, SourceConfig};
use crate::counted::Counted;
use crate::dataset::Dataset;
use crate::encoder::Encoder;
use crate::examples::Examples;
use crate::files::Root;
use crate::formats::OpenExamples;
use crate::input::Input;
use crate::layout::Layout;
use crate::mixture::Mixture;
use crate::packed::Packed;
use crate::part::Part;
use crate::random::hash;
use crate::reader::Reader;
use crate::statistics::{self, Statistics};
use crate::{fingerprint, source};
use halite_disk::Disk;
use halite_support::{Diagnostic, Result, codes};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The default of `buffer`: about so many tokens, and at least so many rows.
const BUFFER: usize = 1 << 22;
const ROWS: usize = 64;

/// Opens the data that a configuration names. Paths are seen from `base`; each row is `width` tokens, of which a model predicts all
/// but the first; the seed decides the order of files and rows.
///
/// # Errors
/// When a value is out of its range, a pattern matches no file, or a file or tokenizer cannot be read.
pub fn open(config: &DataConfig, base: &Path, width: usize, seed: u64) -> Result<Mixture> {
    open_on(config, Root { base, disk: &Disk::default() }, width, seed)
}

/// As [`open`].
pub(crate) fn open_on(config: &DataConfig, root: Root<'_>, width: usize, seed: u64) -> Result<Mixture> {
    let encoder = Arc::new(Encoder::open(config, root.base)?);
    let mut parts: Vec<(String, f64, Box<dyn Dataset>)> = Vec::with_capacity(config.sources.len());
    for (number, (source, layout)) in config.sources.iter().zip(layouts(config, width, seed)?).enumerate() {
        let identity = identity(config, source, root, &layout, &encoder).map_err(|error| keyed(error, number))?;
        let reader = open_reader(config, source, root, layout.seed, &encoder).map_err(|error| keyed(error, number))?;
        let packed = Packed::new(reader, encoder.clone(), layout, identity);
        parts.push((source.name.clone(), source.weight, Box::new(packed)));
    }
    Ok(Mixture::new(parts))
}

/// The number of examples that a source holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExampleCount {
    /// The name of the source, empty where it has none.
    pub source: String,
    /// Its files.
    pub files: usize,
    /// Examples in them, of the part that is used.
    pub examples: u64,
}

/// Counts the examples of each source, in files that have the inputs of a model.
///
/// # Errors
/// As [`open_examples`].
pub fn count_examples(config: &DataConfig, base: &Path, inputs: &[Input]) -> Result<Vec<ExampleCount>> {
    check_sources(config)?;
    let root = Root { base, disk: &Disk::default() };
    let of_source = |source: &SourceConfig| {
        let count = || {
            let part = source.part.as_deref().map_or(Ok(Part::ALL), Part::parse)?;
            let files = root.find(&source.files)?;
            let examples = Examples::open(opener(source)?, &files, part, inputs, None, BTreeMap::new())?.count();
            Ok(ExampleCount { source: source.name.clone(), files: files.len(), examples })
        };
        count().map_err(|error| named(error, source))
    };
    config.sources.iter().map(of_source).collect()
}

/// As [`open`], of sources that hold examples with these inputs of a model.
///
/// # Errors
/// As [`open`], and when a file lacks an input, or has it in another type or shape.
pub fn open_examples(config: &DataConfig, base: &Path, inputs: &[Input], seed: u64) -> Result<Mixture> {
    check_sources(config)?;
    let root = Root { base, disk: &Disk::default() };
    let mut parts: Vec<(String, f64, Box<dyn Dataset>)> = Vec::with_capacity(config.sources.len());
    for (number, source) in (0..).zip(&config.sources) {
        let open = || {
            let part = source.part.as_deref().map_or(Ok(Part::ALL), Part::parse)?;
            let files = root.find(&source.files)?;
            let seed = config.shuffle.then(|| hash(&[seed, number]));
            let identity = [
                ("files", fingerprint::of(&files)?),
                ("part", source.part.clone().unwrap_or_else(|| "all".to_owned())),
                ("order", order(seed)),
            ];
            let identity = identity.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            Examples::open(opener(source)?, &files, part, inputs, seed, identity)
        };
        let examples = open().map_err(|error| keyed(named(error, source), number as usize))?;
        parts.push((source.name.clone(), source.weight, Box::new(examples)));
    }
    Ok(Mixture::new(parts))
}

/// The function that opens the files of a source of examples.
fn opener(source: &SourceConfig) -> Result<OpenExamples> {
    source.opens_examples().ok_or_else(|| {
        let names: Vec<String> = source.files.iter().map(|file| format!("`{file}`")).collect();
        let error = Diagnostic::error(codes::DATA, format!("{} holds no examples", names.join(", ")));
        error.help("give files with examples, or state their `format`")
    })
}

/// Returns the warning about the marks of documents, before these are read.
///
/// # Errors
/// When the tokenizer cannot be read, or does not tell which token ends documents.
pub fn check_marks(config: &DataConfig, base: &Path) -> Result<Option<Diagnostic>> {
    Ok(Encoder::open(config, base)?.warning().cloned())
}

/// The order of rows, in words.
fn order(seed: Option<u64>) -> String {
    seed.map_or_else(|| "as it is".to_owned(), |seed| format!("shuffled by {seed}"))
}

/// Reads and packs each source once, and returns its statistics. With a number of `rows`, no more of a source is read than it takes to
/// fill about so many, and no more is packed together. `observe` gets the counts so far.
///
/// # Errors
/// As [`open`], and when a document cannot be read.
pub fn statistics(
    config: &DataConfig,
    base: &Path,
    width: usize,
    rows: Option<u64>,
    observe: &mut dyn FnMut(&Counted),
) -> Result<Vec<Statistics>> {
    let root = Root { base, disk: &Disk::default() };
    let encoder = Encoder::open(config, base)?;
    let sources = config.sources.iter().zip(layouts(config, width, 0)?);
    let most = rows.unwrap_or(u64::MAX);
    let enough = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(width);
    let of_source = |(source, mut layout): (&SourceConfig, Layout)| {
        let reader = open_reader(config, source, root, layout.seed, &encoder)?;
        layout.buffer = layout.buffer.min(enough);
        let found = statistics::of(&source.name, reader, &encoder, &layout, most, observe);
        found.map_err(|error| named(error, source))
    };
    sources.map(of_source).collect()
}

/// The layout of each source. Together they hold as much as one would.
fn layouts(config: &DataConfig, width: usize, seed: u64) -> Result<Vec<Layout>> {
    check(config, width)?;
    let total: f64 = config.sources.iter().map(|source| source.weight).sum();
    let buffer = config.buffer.unwrap_or_else(|| BUFFER.max(ROWS * width)) as f64;
    let layout = |(number, source): (u64, &SourceConfig)| {
        let buffer = ((buffer * source.weight / total) as usize).max(1);
        Layout { pack: config.pack, width, buffer, seed: config.shuffle.then(|| hash(&[seed, number])) }
    };
    Ok((0..).zip(&config.sources).map(layout).collect())
}

/// The files of a source, whose order is drawn from the seed.
pub(crate) fn open_reader(
    config: &DataConfig,
    source: &SourceConfig,
    root: Root<'_>,
    seed: Option<u64>,
    encoder: &Encoder,
) -> Result<Reader> {
    let open = || {
        let part = source.part.as_deref().map_or(Ok(Part::ALL), Part::parse)?;
        let paths = root.find_with_content(&source.files)?;
        let shards = paths.iter().map(|path| source::open(path, source, part, encoder)).collect::<Result<Vec<_>>>()?;
        Ok(Reader::new(shards, config.on_error, seed))
    };
    open().map_err(|error| named(error, source))
}

pub(crate) fn named(error: Diagnostic, source: &SourceConfig) -> Diagnostic {
    if source.name.is_empty() { error } else { error.context(format!("source `{}`", source.name)) }
}

/// An error of the source at this position, about its files where it says nothing else.
fn keyed(error: Diagnostic, number: usize) -> Diagnostic {
    if error.recipe_key().is_some() { error } else { error.key(format!("data.sources.{number}.files")) }
}

fn identity(
    config: &DataConfig,
    source: &SourceConfig,
    root: Root<'_>,
    layout: &Layout,
    encoder: &Encoder,
) -> Result<BTreeMap<String, String>> {
    let paths = root.find(&source.files).map_err(|error| named(error, source))?;
    let own = [
        ("files", fingerprint::of(&paths)?),
        ("part", source.part.clone().unwrap_or_else(|| "all".to_owned())),
        ("column", source.column.clone()),
        ("documents", name(source.documents)),
        ("pack", name(config.pack)),
        ("width", layout.width.to_string()),
        ("buffer", layout.buffer.to_string()),
        ("order", order(layout.seed)),
        ("on_error", name(config.on_error)),
    ];
    Ok(own.into_iter().chain(encoder.identity()).map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The word of a value in recipes.
fn name(value: impl serde::Serialize) -> String {
    serde_json::json!(value).as_str().unwrap_or_default().to_owned()
}

/// A value out of its range.
fn wrong(key: &str, message: String, help: &str) -> Result<()> {
    Err(Diagnostic::error(codes::RECIPE_RANGE, message).key(format!("data.{key}")).help(help))
}

/// Holds values to their ranges.
fn check(config: &DataConfig, width: usize) -> Result<()> {
    if width < 2 {
        return wrong("width", format!("a row has {width} tokens, expected at least 2"), "choose `seq` of at least 1");
    }
    check_sources(config)
}

fn check_sources(config: &DataConfig) -> Result<()> {
    if config.sources.is_empty() {
        return wrong("sources", "there is no source of data".to_owned(), "name at least one source");
    }
    if config.buffer == Some(0) || config.threads == Some(0) {
        let key = if config.buffer == Some(0) { "buffer" } else { "threads" };
        return wrong(key, format!("`{key}` is 0, expected at least 1"), "write at least 1, or leave it out");
    }
    let mut names = BTreeSet::new();
    for (number, source) in config.sources.iter().enumerate() {
        let key = |key: &str| format!("sources.{number}.{key}");
        if !(source.weight > 0.0 && source.weight.is_finite()) {
            let message = format!("source `{}` has the weight {}", source.name, source.weight);
            return wrong(&key("weight"), message, "write a positive number");
        }
        if !names.insert(&source.name) {
            let message = format!("two sources are named `{}`", source.name);
            return wrong(&key("name"), message, "give each source a name of its own");
        }
    }
    Ok(())
}
