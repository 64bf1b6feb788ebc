//! From a configuration to a data set.

use crate::config::{DataConfig, SourceConfig};
use crate::dataset::Dataset;
use crate::encoder::Encoder;
use crate::mixture::Mixture;
use crate::packed::{Layout, Packed};
use crate::part::Part;
use crate::random::hash;
use crate::reader::Reader;
use crate::{files, fingerprint, source};
use halite_support::{Diagnostic, Result, codes};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// What `buffer` is by default: about so many tokens, and at least so many rows.
const BUFFER: usize = 1 << 22;
const ROWS: usize = 64;

/// Opens what a configuration names. Paths are seen from `base`; each row is `width` tokens, of which a model predicts all but
/// the first; the seed decides the order of files and rows.
///
/// # Errors
/// When a value is out of its range, a pattern matches no file, or a file or tokenizer cannot be read.
pub fn open(config: &DataConfig, base: &Path, width: usize, seed: u64) -> Result<Mixture> {
    check(config, width)?;
    let encoder = Arc::new(Encoder::open(config, base)?);
    let total: f64 = config.sources.iter().map(|source| source.weight).sum();
    let buffer = config.buffer.unwrap_or_else(|| BUFFER.max(ROWS * width));
    let mut parts: Vec<(String, f64, Box<dyn Dataset>)> = Vec::with_capacity(config.sources.len());
    for (number, source) in config.sources.iter().enumerate() {
        let share = source.weight / total;
        let layout = Layout {
            pack: config.pack,
            width,
            // Together the sources hold what one would.
            buffer: ((buffer as f64 * share) as usize).max(1),
            seed: config.shuffle.then(|| hash(&[seed, number as u64])),
        };
        let named = |error: Diagnostic| error.context(format!("source `{}`", source.name));
        let packed = open_source(config, source, base, layout, encoder.clone()).map_err(named)?;
        parts.push((source.name.clone(), source.weight, Box::new(packed)));
    }
    Ok(Mixture::new(parts))
}

fn open_source(
    config: &DataConfig,
    source: &SourceConfig,
    base: &Path,
    layout: Layout,
    encoder: Arc<Encoder>,
) -> Result<Packed> {
    let part = source.part.as_deref().map_or(Ok(Part::ALL), Part::parse)?;
    let paths = files::find(&source.files, base)?;
    let shards =
        paths.iter().map(|path| source::open(path, source, part, encoder.eos())).collect::<Result<Vec<_>>>()?;
    let mut identity = BTreeMap::from([
        ("files".to_owned(), fingerprint::of(&paths)?),
        ("part".to_owned(), source.part.clone().unwrap_or_else(|| "all".to_owned())),
        ("documents".to_owned(), format!("{:?}", source.documents).to_lowercase()),
        ("pack".to_owned(), format!("{:?}", layout.pack)),
        ("width".to_owned(), layout.width.to_string()),
        ("buffer".to_owned(), layout.buffer.to_string()),
        ("order".to_owned(), layout.seed.map_or_else(|| "as it is".to_owned(), |seed| format!("shuffled by {seed}"))),
        ("on_error".to_owned(), format!("{:?}", config.on_error)),
    ]);
    identity.extend(encoder.identity().map(|(key, value)| (key.to_owned(), value)));
    let reader = Reader::new(shards, config.on_error, layout.seed);
    Ok(Packed::new(reader, encoder, layout, identity))
}

/// Holds values to their ranges.
fn check(config: &DataConfig, width: usize) -> Result<()> {
    let wrong = |key: &str, message: String, help: &str| {
        Err(Diagnostic::error(codes::RECIPE_RANGE, message).key(format!("data.{key}")).help(help))
    };
    if width < 2 {
        return wrong("width", format!("a row has {width} tokens, expected at least 2"), "choose `seq` of at least 1");
    }
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
