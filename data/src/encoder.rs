//! Blocks as tokens, with the tokens that mark where documents begin and end.

use crate::config::{DataConfig, SourceConfig};
use crate::marks::{Marks, NONE};
use crate::shard::{Block, Content};
use crate::tokenizer::{self, Tokenizer};
use halite_support::{Diagnostic, Result};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most threads that are used unless the configuration says more.
const THREADS: usize = 4;

/// A tokenizer with the marks of documents.
pub(crate) struct Encoder {
    tokenizer: Box<dyn Tokenizer>,
    marks: Marks,
    threads: usize,
}

impl Encoder {
    /// Opens the tokenizer and marks of a configuration; a path is seen from `base`.
    pub(crate) fn open(config: &DataConfig, base: &Path) -> Result<Self> {
        let tokenizer = tokenizer::open(&config.tokenizer, base).map_err(|error| error.key("data.tokenizer"))?;
        let mut marks = Marks::of(tokenizer.as_ref(), config.bos.as_deref(), config.eos.as_deref())?;
        marks.warning.take_if(|_| config.sources.iter().all(SourceConfig::marks_ends));
        let most = || std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
        let threads = config.threads.unwrap_or_else(most).max(1);
        Ok(Self { tokenizer, marks, threads })
    }

    /// The token after each document, if there is one.
    pub(crate) fn eos(&self) -> Option<i32> {
        self.marks.eos
    }

    /// The warning about the marks, if there is one.
    pub(crate) fn warning(&self) -> Option<&Diagnostic> {
        self.marks.warning.as_ref()
    }

    /// The number of ids that a model must know.
    pub(crate) fn vocabulary(&self) -> u64 {
        let marks = [self.marks.bos, self.marks.eos].into_iter().flatten().map(|id| id as u64 + 1);
        marks.fold(self.tokenizer.vocabulary(), u64::max)
    }

    /// Keys with values that tell it from others.
    pub(crate) fn identity(&self) -> [(&'static str, String); 3] {
        let mark = |id: Option<i32>| id.map_or_else(|| NONE.to_owned(), |id| id.to_string());
        [("tokenizer", self.tokenizer.identity()), ("bos", mark(self.marks.bos)), ("eos", mark(self.marks.eos))]
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
                if let (Some(bos), false) = (self.marks.bos, block.place.within) {
                    tokens.insert(0, bos);
                }
                if let (Some(eos), true) = (self.marks.eos, block.last) {
                    tokens.push(eos);
                }
                Ok(tokens)
            }
            // Files of tokens hold the marks already.
            Content::Tokens(tokens) => Ok(tokens.clone()),
        }
    }
}
