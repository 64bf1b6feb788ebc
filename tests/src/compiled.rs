//! Compilations in tests that must succeed, and their parts.

use halite::compile::{CompileOptions, CompiledModule};
use halite::{Bundle, Session};
use halite_bundle::convert::to_stored;
use halite_bundle::tensors::Tensors;
use halite_bundle::{ModuleRole, init};
use halite_support::Diagnostics;

/// The value, which must be there.
///
/// # Panics
/// With what stands in its way.
pub fn expect<T>(result: Result<T, Diagnostics>) -> T {
    result.unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The initial state of a seed as a bundle stores it, which is what modules take.
///
/// # Panics
/// When the manifest is unsound.
pub fn stored_state(bundle: &Bundle, seed: u64) -> Tensors {
    expect(to_stored(&bundle.manifest, expect(init::initial_state(bundle, seed))))
}

/// The HLO of each module of a bundle, by the module's name.
///
/// # Panics
/// When the bundle lacks a file of its own.
pub fn hlo(bundle: &Bundle) -> Vec<(&str, &[u8])> {
    bundle.manifest.modules.iter().map(|module| (module.name.as_str(), bundle.hlo(module).expect("a file"))).collect()
}

/// The module for a role of a model of the folder `models`, with what passes said of their decisions.
///
/// # Panics
/// With what stands in its way.
pub fn module(model: &str, role: &ModuleRole, settings: &[String]) -> CompiledModule {
    let mut session = Session::new();
    let input = format!("{}/../models/{model}.hal", env!("CARGO_MANIFEST_DIR"));
    let source = expect(session.load(&input, settings));
    let built = expect(session.elaborate(&source)).module;
    let pipeline = session.pipeline(role).unwrap_or_else(|error| panic!("{error}"));
    let options = CompileOptions { explain: true, ..CompileOptions::default() };
    let compiled = session.compile_role(&built, &source.recipe, role, &pipeline, &options);
    compiled.unwrap_or_else(|error| panic!("{model}: {error}"))
}
