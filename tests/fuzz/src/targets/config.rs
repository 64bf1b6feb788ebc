//! `config.json` of Transformers.

use super::put;
use crate::judge::{Verdict, refused, said};
use crate::repository;
use crate::target::{TEXT, Target};
use halite::Session;
use std::path::{Path, PathBuf};

pub(crate) const TARGET: Target = Target {
    name: "config",
    share: 130,
    seeds,
    prepare: |folder| {
        let path = folder.join("config.json");
        Box::new(move |input| run(input, &path))
    },
    ..TEXT
};

fn seeds() -> Vec<Vec<u8>> {
    let own: Vec<PathBuf> = repository::files("tests/hugging_face", ".json");
    let own = own.into_iter().filter(|path| !path.ends_with("parameters.json")).collect::<Vec<_>>();
    [repository::contents(&own), repository::case_files("config.json")].concat()
}

fn run(input: &[u8], path: &Path) -> Verdict {
    put(path, input);
    let mut session = Session::new();
    match session.load(&path.to_string_lossy(), &[]) {
        Err(mistakes) => refused(&mistakes, &session.sources),
        Ok(source) => said(&source.warnings, &session.sources).map(|()| true),
    }
}
