//! Helpers that the tests share.

use crate::NeuronTarget;
use halite_recipe::Recipe;
use halite_support::SourceMap;
use halite_target::{Targets, Vocabulary};
use std::sync::Arc;

/// The preset `tiny` with settings, for `trn1` unless they name another generation.
pub(crate) fn tiny(settings: &[&str]) -> Recipe {
    let mut sources = SourceMap::new();
    let file = sources.add("tiny.toml", halite_models::preset("tiny").unwrap());
    let mut targets = Targets::default();
    targets.register(Arc::new(NeuronTarget)).unwrap();
    let settings: Vec<String> = ["target=trn1"].iter().chain(settings).map(|text| (*text).to_owned()).collect();
    halite_recipe::load(file, &settings, &Vocabulary::builtin(targets), &mut sources).unwrap().0
}
