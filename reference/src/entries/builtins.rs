//! The builtins of the language.

use crate::entry::{Entry, Kind};
use crate::markdown::fenced;
use halite_lang::reference::{BuiltinDoc, builtins};
use halite_support::doc::first_sentence;

pub(crate) fn entries() -> Vec<Entry> {
    builtins().map(entry).collect()
}

fn entry(builtin: BuiltinDoc) -> Entry {
    let form = format!("It is called as `{}`.", builtin.signature);
    let example = fenced("hal", builtin.example);
    let frame = "Here `x` and `y` are `f32[2, 3]`, `ids` is `s32[2]`; after `//` stands the type of what a line makes:";
    let body = format!("{}\n\n{form}\n\n{frame}\n\n{example}", builtin.about);
    Entry::new(Kind::Builtin, builtin.name, first_sentence(builtin.about), body)
        .with_aliases(builtin.aliases.iter().copied())
}
