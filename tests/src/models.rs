//! Built-in models once more, in Rust: what `models/*.hal` say, function by function.

mod attention;
mod gpt2;
mod llama;

pub use gpt2::Gpt2;
pub use llama::Llama;
