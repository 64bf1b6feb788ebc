//! The functions of built-in libraries.

use crate::entry::{Entry, Kind};
use crate::markdown::fenced;
use halite_lang::reference::{FunctionDoc, function_docs};
use halite_support::doc::first_sentence;

pub(crate) fn entries() -> Vec<Entry> {
    let libraries = halite_models::libraries().iter();
    libraries
        .flat_map(|(library, text)| function_docs(text).into_iter().map(|function| entry(library, function)))
        .collect()
}

fn entry(library: &str, function: FunctionDoc<'_>) -> Entry {
    let FunctionDoc { name, about, signature, text } = function;
    let form = format!("After `use {library}: {name}` it is called as `{signature}`:");
    let body = format!("{about}\n\n{form}\n\n{}", fenced("hal", &text));
    Entry::new(Kind::Block, name, first_sentence(&about), body)
}
