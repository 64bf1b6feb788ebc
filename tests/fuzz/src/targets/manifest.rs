//! Manifests of bundles: one that is taken is the same after it is written and read again.

use super::{put, put_below};
use crate::judge::{Verdict, refused};
use crate::target::{self, TEXT};
use crate::targets::recipe::surrounded;
use halite::Session;
use halite::compile::CompileOptions;
use halite::source::ModelInput;
use halite_bundle::{Bundle, MANIFEST, ModuleRole};
use halite_recipe::{ModelChoice, Optimizer, PrecisionName, Recipe};
use halite_support::SourceMap;
use std::path::Path;

pub(crate) const TARGET: target::Target = target::Target {
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

/// Small bundles for several targets, recipes and models, whole, with an update of two modules and with one module, each with
/// files of its own.
///
/// # Panics
/// When one cannot be compiled.
pub(super) fn bundles() -> Vec<Bundle> {
    let small =
        |name: &str| ModelChoice::new(name).with("layers", 1).with("hidden", 8).with("heads", 2).with("vocab", 16);
    let recipe = |model| Recipe::new(model, 1, 4, Optimizer::new("adamw", 1e-3));
    let [mut neuron, mut narrow, mut gpt2] = ["llama", "llama", "gpt2"].map(small).map(recipe);
    (neuron.target, neuron.dialect.on) = ("trn1".into(), vec!["*".to_owned()]);
    narrow.precision = PrecisionName::Bf16Sr.precision();
    gpt2.target = "trn2".into();
    let recipes = [recipe(small("llama")), neuron, narrow, gpt2];
    let whole = [ModuleRole::TRAIN_STEP, ModuleRole::FORWARD, ModuleRole::EVAL, ModuleRole::GRADS].to_vec();
    let two = vec![ModuleRole::GRAD_STEP, ModuleRole::UPDATE_STEP];
    let roles = [whole, two, vec![ModuleRole::FORWARD]];
    let all = recipes.into_iter().flat_map(|recipe| roles.clone().map(|roles| (recipe.clone(), roles)));
    all.enumerate().map(|(index, (recipe, roles))| bundle(index, recipe, roles)).collect()
}

/// A bundle whose files lie in a folder of this number.
fn bundle(index: usize, recipe: Recipe, roles: Vec<ModuleRole>) -> Bundle {
    let mut session = Session::new();
    let options = CompileOptions { roles, ..CompileOptions::default() };
    let source = session.source(recipe, ModelInput::Named);
    let compiled = source.and_then(|source| session.compile(&source, &options));
    let mut bundle = compiled.unwrap_or_else(|mistakes| panic!("bundle {index}: {mistakes:?}")).bundle;
    let moved = |name: &str| format!("{index}/{name}");
    bundle.files = bundle.files.iter().map(|(name, bytes)| (moved(name), bytes.clone())).collect();
    for module in &mut bundle.manifest.modules {
        module.file = moved(&module.file);
        module.decompositions.iter_mut().for_each(|decomposition| decomposition.file = moved(&decomposition.file));
    }
    bundle
}

fn run(input: &[u8], folder: &Path) -> Verdict {
    put(&folder.join(MANIFEST), input);
    let (vocabulary, sources) = (Session::new().vocabulary, SourceMap::new());
    let bundle = match Bundle::read(folder, &vocabulary) {
        Err(error) => return refused(&[error], &sources),
        Ok(bundle) => bundle,
    };
    let written = bundle.manifest_json();
    put(&folder.join(MANIFEST), written.as_bytes());
    if Bundle::read(folder, &vocabulary).as_ref() != Ok(&bundle) {
        return Err(format!("another bundle is read than was written\n{written}"));
    }
    for module in &bundle.manifest.modules {
        if let Err(error) = bundle.runnable_hlo(module) {
            refused(&[error], &sources)?;
        }
    }
    surrounded(&bundle.manifest.recipe, &sources).map(|()| true)
}
