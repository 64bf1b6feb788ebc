//! Texts in the model language: what is elaborated verifies, prints and reads back.

use crate::judge::{Verdict, refused, said};
use crate::repository;
use crate::target::{TEXT, Target};
use crate::targets::ir::reads_back;
use halite_ir::{Registry, verify};
use halite_lang::{LibraryName, LibraryRef, Options, Texts, elaborate_texts};
use halite_support::{Diagnostic, Result, SourceFile, SourceMap, codes};
use std::sync::Arc;

pub(crate) const TARGET: Target = Target {
    name: "model",
    share: 40,
    seeds,
    prepare: |_| {
        let registry = Registry::builtin();
        Box::new(move |input| run(input, &registry))
    },
    ..TEXT
};

fn seeds() -> Vec<Vec<u8>> {
    let own = [repository::files("models", ".hal"), repository::files("tests", ".hal")].concat();
    [repository::contents(&own), repository::case_files(".hal")].concat()
}

/// A library that is built in; there are no files.
fn library(used: &LibraryRef) -> Result<Arc<SourceFile>> {
    let LibraryName::BuiltIn(name) = &used.name else { return Err(missing(used)) };
    let text = halite_models::library(name).ok_or_else(|| missing(used))?;
    Ok(Arc::new(SourceFile::new(format!("<{name}.hal>"), text)))
}

fn missing(used: &LibraryRef) -> Diagnostic {
    Diagnostic::error(codes::LIBRARY, "no such library").at(used.span, "here").help("name one that is built in")
}

fn run(input: &[u8], registry: &Registry) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let mut sources = SourceMap::new();
    let file = Arc::new(SourceFile::new("m.hal", text));
    sources.insert(file.clone());
    let texts = Texts::gather(file, |_, used| {
        let library = library(used)?;
        sources.insert(library.clone());
        Ok(library)
    });
    match texts.and_then(|texts| elaborate_texts(&texts, &Options::default(), registry)) {
        Err(mistakes) => refused(&mistakes, &sources),
        Ok(model) => {
            said(&model.warnings, &sources)?;
            verify(&model.module, registry)
                .map_err(|errors| format!("an elaborated model does not verify: {errors}"))?;
            reads_back(&model.module, registry).map(|()| true)
        }
    }
}
