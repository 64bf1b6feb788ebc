//! The `use` that a text lacks.

use crate::ast::{LibraryName, Model, Use};
use crate::options::KnownLibrary;

/// The help where a text calls a function that it does not list and a known library has: the `use` to write.
pub(super) fn listing(name: &str, model: &Model, known: &[KnownLibrary]) -> Option<String> {
    let library = known.iter().find(|library| library.functions.iter().any(|function| function == name))?;
    let is_of = |used: &&Use| matches!(&used.library.name, LibraryName::BuiltIn(own) if **own == *library.name);
    let listed = model.uses.iter().find(is_of);
    let names = listed.iter().flat_map(|used| used.names.iter().map(|name| &*name.name)).chain([name]);
    let line = format!("use {}: {}", library.name, names.collect::<Vec<_>>().join(", "));
    Some(match listed {
        Some(_) => format!("it is in the library `{}`: add it to what the text lists, `{line}`", library.name),
        None => format!("it is in the library `{}`: write `{line}` above `model`", library.name),
    })
}
