//! Programs for Neuron, read back from their bytes and run by their decompositions, against the unoptimized ones.

use halite::Session;
use halite_bundle::ModuleRole;
use halite_test_kit::xla;
use halite_verify::VerifyOptions;

fn verify((preset, settings): (&str, &[&str]), role: ModuleRole) {
    let mut session = Session::new();
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let mut source = session.load(preset, &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    source.recipe.target = "trn1".into();
    let options = VerifyOptions { role, ..VerifyOptions::default() };
    let report = halite_verify::verify(&session, &source, &options, xla::executor())
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    let wrong: Vec<_> = report.rows.iter().filter(|row| !row.passed()).collect();
    assert!(report.passed(), "{preset}: {wrong:?} {:?}", report.causality);
    assert!(report.causality.is_some(), "{preset}: its forward module shows values by position");
}

#[test]
fn hlat_7b() {
    verify(("llama-7b", &[]), ModuleRole::TRAIN_STEP);
}

#[test]
fn hlat_70b() {
    // The stages of a pipeline are held to one device by laws of their own.
    verify(("hlat-70b", &["parallel.pipeline=1"]), ModuleRole::TRAIN_STEP);
}
