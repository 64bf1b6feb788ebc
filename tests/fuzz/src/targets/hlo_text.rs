//! HLO texts: what is read is sound HLO, and what is printed of that is read as the same.

use crate::judge::{Verdict, refused};
use crate::repository;
use crate::target::{TEXT, Target};
use crate::targets::hlo;
use halite_hlo::text::{print_large_constants, read};
use halite_support::{SourceFile, SourceMap};
use std::sync::Arc;

pub(crate) const TARGET: Target = Target { name: "hlo-text", share: 40, seeds, prepare: |_| Box::new(run), ..TEXT };

/// What is printed of the modules of the target `hlo`, as far as it is short, and the texts of bad inputs and of XLA.
fn seeds() -> Vec<Vec<u8>> {
    let modules = hlo::seeds().into_iter().filter_map(|bytes| halite_hlo::decode(&bytes).ok());
    let printed = modules.map(|module| print_large_constants(&module).into_bytes());
    let short = printed.filter(|text| text.len() < 20_000);
    let whole = repository::contents(&repository::files("compiler/hlo/tests", ".txt"));
    short.chain(whole).chain(repository::case_files(".txt")).collect()
}

fn run(input: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let file = Arc::new(SourceFile::new("m.txt", text));
    let mut sources = SourceMap::new();
    sources.insert(file.clone());
    let hlo = match read(&file) {
        Err(mistakes) => return refused(&mistakes, &sources),
        Ok(hlo) => hlo,
    };
    let printed = print_large_constants(&hlo);
    match read(&SourceFile::new("again.txt", &*printed)) {
        // Elements of types that we lack are not kept, and printed as left out.
        Err(_) if printed.contains("constant({...})") => Ok(true),
        Err(mistakes) => Err(format!("what is printed is not read: {}\n{printed}", mistakes[0])),
        // Bytes are compared, because a NaN is not equal to itself.
        Ok(again) if again.encode() != hlo.encode() => {
            Err(format!("another module is read than was printed\n{printed}"))
        }
        Ok(_) => Ok(true),
    }
}
