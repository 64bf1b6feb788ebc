//! Bundles of programs that run on ranks: what is written is read again, which says that all programs store each tensor alike.

use halite::Session;
use halite_bundle::Bundle;
use halite_tests::compiled::expect;
use halite_tests::meshes::{ALL_MODELS, Loaded, Ranks, settings};
use halite_tests::parallel::for_each;

/// Layouts of each kind.
const LAYOUTS: [Ranks; 4] = [
    Ranks::of(1, 2, true, 0, 2),
    Ranks::of(2, 2, true, 2, 2),
    Ranks::of(1, 2, true, 0, 2).fsdp(2),
    Ranks::of(2, 2, false, 3, 2),
];

/// With updates in two modules, forwards and evaluations beside them.
#[test]
fn programs_of_a_bundle_store_alike() {
    let cases: Vec<_> = ALL_MODELS.iter().flat_map(|&model| LAYOUTS.map(|ranks| (model, ranks))).collect();
    let failed = for_each(&cases, |&(model, ranks)| {
        let stated = settings(ranks, "fp64").into_iter().filter(|setting| !setting.starts_with("accumulate="));
        let two = ["accumulate.steps=2", "accumulate.form=\"two\""].map(str::to_owned);
        let Loaded { session, source } = Loaded::new(model, &stated.chain(two).collect::<Vec<_>>());
        let bundle = expect(session.compile(&source, &Default::default())).bundle;
        let read = Bundle::new(bundle.manifest, bundle.files, &Session::new().vocabulary);
        read.err().map(|error| format!("{} {ranks:?}: {error}", model.0))
    });
    let failed: Vec<String> = failed.into_iter().flatten().collect();
    assert!(failed.is_empty(), "{} of {} are not read\n{}", failed.len(), cases.len(), failed.join("\n"));
}
