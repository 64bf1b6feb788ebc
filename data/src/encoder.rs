//! Blocks as tokens, with the tokens that mark where documents begin and end.

use crate::config::DataConfig;
use crate::source::{Block, Content};
use crate::tokenizer::{self, Tokenizer};
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What tokenizers call the end of a document, the first that one knows.
const ENDS: [&str; 5] = ["</s>", "<|endoftext|>", "<|end_of_text|>", "<eos>", "<|end|>"];

/// What a configuration says for no token.
const NONE: &str = "none";

/// The most threads that are used unless the configuration says more.
const THREADS: usize = 4;

/// A tokenizer with the marks of documents.
pub(crate) struct Encoder {
    tokenizer: Box<dyn Tokenizer>,
    bos: Option<i32>,
    eos: Option<i32>,
    threads: usize,
}

impl Encoder {
    /// As the configuration says; a path is seen from `base`.
    pub(crate) fn open(config: &DataConfig, base: &Path) -> Result<Self> {
        let tokenizer = tokenizer::open(&config.tokenizer, base)?;
        let mark =
            |name: &Option<String>, key| name.as_ref().map_or(Ok(None), |name| mark(tokenizer.as_ref(), name, key));
        let (bos, eos) = (mark(&config.bos, "bos")?, mark(&config.eos, "eos")?);
        let default = || ENDS.iter().find_map(|end| tokenizer.id(end));
        let eos = if config.eos.is_none() { default() } else { eos };
        let most = || std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
        let threads = config.threads.unwrap_or_else(most).max(1);
        Ok(Self { tokenizer, bos, eos, threads })
    }

    /// The token after each document, if there is one.
    pub(crate) fn eos(&self) -> Option<i32> {
        self.eos
    }

    /// How many ids a model must know.
    pub(crate) fn vocabulary(&self) -> u64 {
        let marks = [self.bos, self.eos].into_iter().flatten().map(|id| id as u64 + 1);
        marks.fold(self.tokenizer.vocabulary(), u64::max)
    }

    /// What tells it from others: keys with values.
    pub(crate) fn identity(&self) -> [(&'static str, String); 3] {
        let mark = |id: Option<i32>| id.map_or_else(|| NONE.to_owned(), |id| id.to_string());
        [("tokenizer", self.tokenizer.identity()), ("bos", mark(self.bos)), ("eos", mark(self.eos))]
    }

    /// The tokens of blocks, in their order whatever the number of threads.
    pub(crate) fn encode(&self, blocks: &[&Block]) -> Result<Vec<Vec<i32>>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
            let own = numbers.take_while(|number| *number < blocks.len());
            own.map(|number| (number, self.tokens(blocks[number]))).collect::<Vec<_>>()
        };
        let threads = self.threads.min(blocks.len()).max(1);
        let mut all = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            all
        });
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, tokens)| tokens).collect()
    }

    /// The tokens of a block.
    fn tokens(&self, block: &Block) -> Result<Vec<i32>> {
        match &block.content {
            Content::Text(text) => {
                let mut tokens = self.tokenizer.encode(text)?;
                if let (Some(bos), false) = (self.bos, block.place.within) {
                    tokens.insert(0, bos);
                }
                if let (Some(eos), true) = (self.eos, block.last) {
                    tokens.push(eos);
                }
                Ok(tokens)
            }
        }
    }
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
            Err(Diagnostic::error(codes::DATA, message)
                .key(format!("data.{key}"))
                .help("write a token of the tokenizer as text, its id, or `none`"))
        }
    }
}
