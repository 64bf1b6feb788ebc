//! Texts as tokens that a model goes on with, and the other way round.

use super::{Generator, Request, Sampling};
use halite_bundle::Bundle;
use halite_data::{Marks, Tokenizer, known_ends};
use halite_recipe::DataTable;
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

impl Request {
    /// To go on with a text as the model of a bundle does: the prompt begins as documents do in training, unless it does already, a text
    /// ends before the token that ends documents, and ids that the tokenizer lacks are not drawn. No tokens are added yet, to the one
    /// sample of seed 0.
    ///
    /// # Errors
    /// When the bundle cannot generate, as [`Generator::vocabulary`], or the tokenizer is none of its model.
    pub fn of_text(prompt: &str, tokenizer: &dyn Tokenizer, bundle: &Bundle) -> Result<Self> {
        let vocabulary = Generator::vocabulary(bundle)?;
        check_vocabulary(tokenizer, vocabulary)?;
        let Marked { bos, ends } = Marked::of(tokenizer, bundle.manifest.recipe.data.as_ref())?;
        let mut prompt = tokenizer.encode(prompt)?;
        if let Some(bos) = bos.filter(|bos| prompt.first() != Some(bos)) {
            prompt.insert(0, bos);
        }
        let is_allowed = |id: i32| tokenizer.has(id) || ends.contains(&id);
        let allowed = Some((0..).take(vocabulary).map(is_allowed).collect());
        let sampling = Sampling { temperature: 1.0, top_p: 1.0 };
        Ok(Self { prompt, allowed, ends, tokens: 0, samples: 1, sampling, seed: 0 })
    }
}

/// The tokenizer of a name, else that of the data of a bundle's recipe, else bytes.
///
/// # Errors
/// When it cannot be read.
pub fn tokenizer(name: Option<&str>, bundle: &Bundle) -> Result<Box<dyn Tokenizer>> {
    let of_recipe = bundle.manifest.recipe.data.as_ref().map(|data| data.tokenizer.as_str());
    halite_data::open_tokenizer(name.or(of_recipe).unwrap_or("bytes"), Path::new("."))
}

/// Decodes tokens to text, which ends at the first of the texts `stop`.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    /// The tokenizer of the tokens.
    pub tokenizer: &'a dyn Tokenizer,
    /// Texts that end the generated text, and are not part of it.
    pub stop: &'a [String],
}

impl Written<'_> {
    /// The whole text of tokens. Special tokens are left out.
    ///
    /// # Errors
    /// When the tokenizer does not know them.
    pub fn whole(&self, tokens: &[i32]) -> Result<String> {
        let of_text: Vec<i32> = tokens.iter().copied().filter(|id| !self.tokenizer.is_special(*id)).collect();
        self.tokenizer.decode(&of_text)
    }

    /// Cuts a text at the first of the texts `stop`.
    pub fn cut<'t>(&self, text: &'t str) -> &'t str {
        let end = self.stop.iter().filter_map(|stop| text.find(stop.as_str())).min();
        &text[..end.unwrap_or(text.len())]
    }

    /// Whether the text of tokens has one of the texts `stop`.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn is_ended(&self, tokens: &[i32]) -> Result<bool> {
        if self.stop.is_empty() {
            return Ok(false);
        }
        let text = self.whole(tokens)?;
        Ok(self.cut(&text).len() < text.len())
    }

    /// The text of tokens up to its end.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn of(&self, tokens: &[i32]) -> Result<String> {
        Ok(self.cut(&self.whole(tokens)?).to_owned())
    }
}

/// The tokens that begin and end texts.
struct Marked {
    bos: Option<i32>,
    ends: Vec<i32>,
}

impl Marked {
    /// The tokens that begin and end documents in the data of a recipe. Without data, the end that the tokenizer states; else all known
    /// ends, as it is unknown which of them the model learned.
    fn of(tokenizer: &dyn Tokenizer, data: Option<&DataTable>) -> Result<Self> {
        let Some(data) = data else {
            let ends = match tokenizer.stated_end()?.and_then(|end| tokenizer.id(&end)) {
                Some(end) => vec![end],
                None => known_ends(tokenizer).into_iter().map(|(_, id)| id).collect(),
            };
            return Ok(Self { bos: None, ends });
        };
        let Marks { bos, eos, .. } = Marks::of(tokenizer, data.bos.as_deref(), data.eos.as_deref())?;
        Ok(Self { bos, ends: eos.into_iter().collect() })
    }
}

/// Refuses a tokenizer with ids that the model does not know.
fn check_vocabulary(tokenizer: &dyn Tokenizer, known: usize) -> Result<()> {
    let needed = tokenizer.vocabulary();
    if needed <= known as u64 {
        return Ok(());
    }
    let message = format!("the model knows {known} tokens, the tokenizer has {needed}");
    let error = Diagnostic::error(codes::VOCABULARY, message);
    Err(error.help(format!("give a model with `vocab` of at least {needed}")))
}
