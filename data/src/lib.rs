//! The data that a run trains on: sequences of tokens, by sources, tokenizers and packing; or examples of any kind, as they are in
//! files.
//!
//! [`open`] makes a [`Dataset`] of a [`DataConfig`]: an endless stream of rows that is a function of the files, the configuration and
//! the seed, and of nothing else. Files are read block by block (`shard`), tokenized (`encoder`), and packed a window at a time
//! (`pack`). The [`Position`] of a stream is the place where a window begins, the tokens that the one before carried over to it, by
//! reference, and the number of its rows that were given; to go on, the window is read again.

mod ahead;
mod config;
mod count;
mod counted;
mod dataset;
mod documents;
mod encoder;
mod example_file;
mod examples;
mod features;
mod files;
mod fingerprint;
mod formats;
mod input;
mod layout;
mod marks;
mod mixture;
mod open;
mod pack;
mod packed;
mod part;
mod random;
mod reader;
mod shard;
mod source;
mod statistics;
#[cfg(test)]
mod tests;
mod tokenizer;
mod window;
mod write;

pub use ahead::Ahead;
pub use config::{DataConfig, OnError, Packing, SourceConfig};
pub use count::count;
pub use counted::Counted;
pub use dataset::{Data, Dataset, HeldOut, Opened, Position, Rows, Skipped, Takes};
pub use documents::Documents;
pub use formats::text::FORMAT as TEXT;
pub use formats::{Format, meanings, words};
pub use input::Input;
pub use marks::{Marks, known_ends};
pub use mixture::Mixture;
pub use open::{ExampleCount, check_marks, count_examples, open, open_examples, statistics};
pub use statistics::Statistics;
pub use tokenizer::{BYTES, Tokenizer, open as open_tokenizer};
pub use write::write_tokens;
