//! A folder that Transformers loads.

use crate::context::Result;
use halite::Session;
use halite::export::config_json;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Bundle, shards};
use halite_data::{Marks, Tokenizer, open_tokenizer};
use halite_recipe::DataTable;
use halite_support::files::read_text;
use halite_support::{Diagnostic, codes};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The files beside the weights.
pub(super) struct Exported {
    config: String,
    /// The tokenizer, where the data of the recipe have one of Hugging Face.
    tokenizer: Option<OfTokenizer>,
    /// The warning that there is none.
    pub(super) warning: Option<Diagnostic>,
}

impl Exported {
    /// Those of a bundle, whose model has this text where it is no built-in one.
    ///
    /// # Errors
    /// When its model computes what no built-in one does, or the tokenizer of its data cannot be read.
    pub(super) fn of(session: &mut Session, bundle: &Bundle, text: Option<&str>) -> Result<Self> {
        let data = bundle.manifest.recipe.data.as_ref().filter(|data| data.tokenizer != "bytes");
        let tokenizer = data.map(OfTokenizer::of).transpose()?;
        let ids = tokenizer.iter().flat_map(|tokenizer| &tokenizer.ids);
        let of_config = ids.map(|(name, id)| (format!("{name}_token_id"), json!(id))).collect();
        let config = config_json(session, &bundle.manifest, text, of_config)?;
        let warning = tokenizer.is_none().then(|| {
            Diagnostic::warning(codes::HUGGING_FACE, "no tokenizer is written: the data have none of Hugging Face")
                .note("tokens that are bytes have no tokenizer in Transformers: each id is a byte")
                .help("name the tokenizer in the recipe: `data.tokenizer = \"tokenizer.json\"`")
        });
        Ok(Self { config, tokenizer, warning })
    }

    /// Writes the weights in shards of at most so many bytes, and the other files beside them; the weights or their index.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(super) fn write(&self, folder: &Path, weights: &Tensors, most: u64) -> Result<PathBuf> {
        shards::write(&folder.join("model.safetensors"), weights, most)?;
        let of_tokenizer = self
            .tokenizer
            .iter()
            .flat_map(|tokenizer| [("tokenizer.json", &tokenizer.text), ("tokenizer_config.json", &tokenizer.config)]);
        for (name, text) in std::iter::once(("config.json", &self.config)).chain(of_tokenizer) {
            halite_disk::write(&folder.join(name), text.as_bytes())?;
        }
        Ok(folder.to_owned())
    }
}

/// A tokenizer as Transformers reads it.
struct OfTokenizer {
    text: String,
    config: String,
    /// Its marks, with their ids.
    ids: Vec<(&'static str, i32)>,
}

impl OfTokenizer {
    /// That of the data of a recipe.
    fn of(data: &DataTable) -> Result<Self> {
        let text = read_text(Path::new(&data.tokenizer))?;
        let tokenizer = open_tokenizer(&data.tokenizer, Path::new("."))?;
        let marks = Marks::of(tokenizer.as_ref(), data.bos.as_deref(), data.eos.as_deref())?;
        let ids = [("bos", marks.bos), ("eos", marks.eos)].into_iter().filter_map(|(name, id)| Some((name, id?)));
        let ids: Vec<_> = ids.collect();
        Ok(Self { text, config: described(tokenizer.as_ref(), &ids)?, ids })
    }
}

/// The `tokenizer_config.json` of a tokenizer with these marks.
fn described(tokenizer: &dyn Tokenizer, marks: &[(&str, i32)]) -> Result<String> {
    let mut config = Map::new();
    config.insert("tokenizer_class".to_owned(), json!("PreTrainedTokenizerFast"));
    for (name, id) in marks {
        config.insert(format!("{name}_token"), json!(tokenizer.decode(&[*id])?));
    }
    let text = serde_json::to_string_pretty(&Value::Object(config));
    Ok(text.map_err(|error| Diagnostic::bug(error.to_string()))? + "\n")
}
