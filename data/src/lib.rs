//! What a run trains on, as sequences of tokens: sources, tokenizers, packing.

mod config;
mod dataset;

pub use config::{DataConfig, Documents, Format, OnError, Packing, SourceConfig};
pub use dataset::{Dataset, Position, Rows, Skipped};
