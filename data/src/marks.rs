//! The tokens that mark where documents begin and end.

use crate::tokenizer::Tokenizer;
use halite_support::nearest::list;
use halite_support::{Diagnostic, Result, codes};

/// The names that tokenizers have for the token that ends a document, or a turn where these are the documents.
const ENDS: [&str; 13] = [
    "</s>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<eos>",
    "<|eos|>",
    "[EOS]",
    "<EOS_TOKEN>",
    "<｜end▁of▁sentence｜>",
    "<|end_of_sentence|>",
    "<|end|>",
    "<|im_end|>",
    "<|eot_id|>",
    "[SEP]",
];

/// The word of a configuration for no token.
pub(crate) const NONE: &str = "none";

/// The tokens that stand before and after each document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marks {
    /// The token before each document, if there is one.
    pub bos: Option<i32>,
    /// The token after each document, if there is one.
    pub eos: Option<i32>,
    /// The warning where no token is stated to end documents, and none is known to.
    pub warning: Option<Diagnostic>,
}

impl Marks {
    /// The marks that a configuration names by text or id. Where it names no end, that is the one that the configuration of the
    /// tokenizer states, else the special token that is known as one.
    ///
    /// # Errors
    /// When a name is that of no token, the configuration of the tokenizer cannot be read, or several of its special tokens are known
    /// as ends.
    pub fn of(tokenizer: &dyn Tokenizer, bos: Option<&str>, eos: Option<&str>) -> Result<Self> {
        let named = |name: Option<&str>, key| name.map_or(Ok(None), |name| mark(tokenizer, name, key));
        let bos = named(bos, "bos")?;
        if eos.is_some() {
            return Ok(Self { bos, eos: named(eos, "eos")?, warning: None });
        }
        let eos = own_end(tokenizer)?;
        let is_missed = eos.is_none() && tokenizer.is_marked();
        Ok(Self { bos, eos, warning: is_missed.then(|| unmarked(tokenizer)) })
    }
}

/// The special tokens that are known as ends of documents, with their ids.
pub fn known_ends(tokenizer: &dyn Tokenizer) -> Vec<(&'static str, i32)> {
    let special = |end: &'static str| Some((end, tokenizer.id(end).filter(|id| tokenizer.is_special(*id))?));
    ENDS.into_iter().filter_map(special).collect()
}

/// The token that ends documents, as far as the tokenizer tells.
fn own_end(tokenizer: &dyn Tokenizer) -> Result<Option<i32>> {
    if let Some(stated) = tokenizer.stated_end()? {
        let id = tokenizer.id(&stated);
        return id.map(Some).ok_or_else(|| {
            let message = format!("the `tokenizer_config.json` beside the tokenizer says that `{stated}` ends texts, which is no token of it");
            eos_needed(message)
        });
    }
    match known_ends(tokenizer)[..] {
        [] => Ok(None),
        [(_, id)] => Ok(Some(id)),
        ref several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| *name).collect();
            let message = format!("the tokenizer does not say which token ends documents: it has {}", list(&names));
            Err(eos_needed(message).note("there is no `tokenizer_config.json` beside it that states an `eos_token`"))
        }
    }
}

/// The error of a tokenizer whose end of documents has to be named.
fn eos_needed(message: String) -> Diagnostic {
    let error = Diagnostic::error(codes::TOKENIZER, message).key("data.eos");
    error.help("name the token that ends documents: `data.eos = \"..\"`, or `\"none\"` for none")
}

/// The warning that documents are not told apart.
fn unmarked(tokenizer: &dyn Tokenizer) -> Diagnostic {
    let message =
        "documents run into each other: no token of the tokenizer is known to end them, and `data.eos` is left out";
    let warning = Diagnostic::warning(codes::TOKENIZER, message).key("data.eos");
    let warning = match ENDS.into_iter().find(|end| tokenizer.id(end).is_some()) {
        Some(end) => warning.note(format!("`{end}` is a token of it, but no special one: it may be part of texts")),
        None => warning,
    };
    warning.help("name the token that ends documents: `data.eos = \"..\"`, or `\"none\"` where that is what you want")
}

/// The id that a configuration names by its text or its number.
fn mark(tokenizer: &dyn Tokenizer, name: &str, key: &str) -> Result<Option<i32>> {
    if name == NONE {
        return Ok(None);
    }
    // A number is an id, also where a token is written so.
    let number = || name.parse::<i32>().ok().filter(|id| *id >= 0);
    match number().or_else(|| tokenizer.id(name)) {
        Some(id) => Ok(Some(id)),
        None => {
            let message = format!("`{key}` is `{name}`, which is no token of the tokenizer");
            Err(Diagnostic::error(codes::TOKENIZER, message)
                .key(format!("data.{key}"))
                .help("write a token of the tokenizer as text, its id, or `none`"))
        }
    }
}
