//! Texts of StableHLO: what is read is sound HLO, and what is written of that is read again.

use crate::judge::{Verdict, refused};
use crate::repository;
use crate::target::{TEXT, Target};
use halite_stablehlo::{Form, print, read};
use halite_support::{SourceFile, SourceMap};
use std::sync::Arc;

pub(crate) const TARGET: Target = Target { name: "mlir", share: 40, seeds, prepare: |_| Box::new(run), ..TEXT };

fn seeds() -> Vec<Vec<u8>> {
    let own = [repository::files("tests/jax/fixtures", ".mlir"), repository::files("compiler/stablehlo", ".mlir")];
    let whole = [repository::contents(&own.concat()), repository::case_files(".mlir")].concat();
    let single = whole.iter().flat_map(|text| functions(&String::from_utf8_lossy(text)));
    single.chain(whole.iter().cloned()).collect()
}

/// Each function of a text by itself, as the program.
fn functions(text: &str) -> Vec<Vec<u8>> {
    let parts = text.split("func.func ").skip(1).filter_map(|part| part.rsplit_once('}').map(|(body, _)| body));
    let short = parts.filter(|body| body.len() < 4000 && body.contains('@'));
    short.map(|body| format!("func.func {}}}\n", body.replacen("private ", "", 1)).into_bytes()).collect()
}

fn run(input: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let file = Arc::new(SourceFile::new("m.mlir", text));
    let mut sources = SourceMap::new();
    sources.insert(file.clone());
    let hlo = match read(&file) {
        Err(mistakes) => return refused(&mistakes, &sources),
        Ok(hlo) => hlo,
    };
    // What the writer has no form for, as loops, it refuses.
    let Ok(written) = print(&hlo, Form::Program { num_replicas: 1 }) else { return Ok(true) };
    match read(&SourceFile::new("again.mlir", &*written)) {
        Ok(_) => Ok(true),
        Err(mistakes) => Err(format!("what is written is not read: {}\n{written}", mistakes[0])),
    }
}
