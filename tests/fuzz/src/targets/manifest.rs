//! Manifests of bundles: one that is taken is the same after it is written and read again.

use super::{put, put_below};
use crate::judge::{Verdict, refused};
use crate::target::{TEXT, Target};
use crate::targets::recipe::surrounded;
use halite::bundle::{Bundle, MANIFEST};
use halite::compile::CompileOptions;
use halite::{Session, source};
use halite_support::SourceMap;
use std::path::Path;

pub(crate) const TARGET: Target = Target {
    name: "manifest",
    share: 60,
    seeds: || bundles().iter().map(|bundle| bundle.manifest_json().into_bytes()).collect(),
    prepare: |folder| {
        // A manifest without its files is soon refused, so those of all seeds are there.
        for (name, bytes) in bundles().iter().flat_map(|bundle| &bundle.files) {
            put_below(&folder.join(name), bytes);
        }
        let folder = folder.to_path_buf();
        Box::new(move |input| run(input, &folder))
    },
    ..TEXT
};

/// Small bundles for several targets, recipes and models, each with files of its own.
pub(super) fn bundles() -> Vec<Bundle> {
    let common = ["layers=1", "batch=1", "seq=4"];
    let own: [&[&str]; 4] = [
        &["hidden=8", "ffn=8", "heads=2", "vocab=16"],
        &["hidden=8", "ffn=8", "heads=2", "vocab=16", "target=trn1", "dialect.on=[\"*\"]"],
        &["hidden=8", "ffn=8", "heads=2", "vocab=16", "precision=\"fp32\""],
        &["hidden=8", "heads=2", "vocab=16", "model.name=\"gpt2\"", "model.config={}", "target=trn2"],
    ];
    let mut session = Session::new();
    let bundle = |(index, own): (usize, &&[&str])| {
        let overrides: Vec<String> = own.iter().chain(&common).map(|text| (*text).to_owned()).collect();
        let source = source::load("tiny", &overrides, &mut session.sources).ok()?;
        let mut bundle = session.compile(&source, &CompileOptions::default()).ok()?.bundle;
        for module in &mut bundle.manifest.modules {
            let files = std::iter::once(&mut module.file).chain(module.twins.iter_mut().map(|twin| &mut twin.file));
            for file in files {
                let bytes = bundle.files.shift_remove(file)?;
                *file = format!("{index}/{file}");
                bundle.files.insert(file.clone(), bytes);
            }
        }
        Some(bundle)
    };
    own.iter().enumerate().filter_map(bundle).collect()
}

fn run(input: &[u8], folder: &Path) -> Verdict {
    put(&folder.join(MANIFEST), input);
    let sources = SourceMap::new();
    let bundle = match Bundle::read(folder) {
        Err(error) => return refused(&[error], &sources),
        Ok(bundle) => bundle,
    };
    let written = bundle.manifest_json();
    put(&folder.join(MANIFEST), written.as_bytes());
    if Bundle::read(folder).as_ref() != Ok(&bundle) {
        return Err(format!("another bundle is read than was written\n{written}"));
    }
    for module in &bundle.manifest.modules {
        if let Err(error) = bundle.runnable_hlo(module) {
            refused(&[error], &sources)?;
        }
    }
    surrounded(&bundle.manifest.recipe, &sources).map(|()| true)
}
