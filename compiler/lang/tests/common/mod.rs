//! Models that use built-in libraries, and ones of a test.

use halite_ir::Registry;
use halite_lang::{Elaborated, LibraryName, Options, Texts, elaborate_texts};
use halite_support::{Diagnostic, Diagnostics, SourceFile, SourceMap, codes};
use std::sync::Arc;

/// Elaborates a text with built-in libraries and these files; the texts join the sources.
pub(crate) fn elaborate_with(
    name: &str,
    text: &str,
    files: &[(&str, &str)],
    options: &Options,
    sources: &mut SourceMap,
) -> Result<Elaborated, Diagnostics> {
    let mut registered = |name: String, text: &str| {
        let file = Arc::new(SourceFile::new(name, text));
        sources.insert(file.clone());
        file
    };
    let model = registered(name.to_owned(), text);
    let texts = Texts::gather(model, |_, used| {
        let text = match &used.name {
            LibraryName::BuiltIn(name) => halite_models::library(name),
            LibraryName::File(path) => files.iter().find(|(name, _)| *name == &**path).map(|(_, text)| *text),
        };
        let missing = || Diagnostic::error(codes::LIBRARY, "no such library").at(used.span, "here");
        text.map(|text| registered(used.name.to_string(), text)).ok_or_else(missing)
    })?;
    elaborate_texts(&texts, options, &Registry::builtin())
}
