//! Published architectures in the model language: each compiles for the CPU and for Trainium 2 and verifies, and models that
//! read forwards alone are proven to.

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_support::codes;
use halite_test_kit::xla;
use halite_tests::parallel::for_each;
use halite_verify::VerifyOptions;

/// Each with whether it reads in both directions.
const MODELS: [(&str, bool); 10] = [
    ("bert", true),
    ("deepseek_v2", false),
    ("gemma2", false),
    ("gpt_neox", false),
    ("mamba", false),
    ("mixtral", false),
    ("mpt", false),
    ("olmo2", false),
    ("resnet", true),
    ("vit", true),
];

fn load(session: &mut Session, model: &str, overrides: &[&str]) -> Source {
    let path = format!("{}/architectures/{model}.hal", env!("CARGO_MANIFEST_DIR"));
    let overrides: Vec<String> = overrides.iter().map(|&setting| setting.to_owned()).collect();
    session.load(&path, &overrides).unwrap_or_else(|errors| panic!("{model}: {errors:?}"))
}

#[test]
fn every_file_is_tried() {
    let folder = format!("{}/architectures", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<String> =
        files.map(|file| file.expect("it can be read").file_name().into_string().expect("it is text")).collect();
    files.sort();
    assert_eq!(files, MODELS.map(|(model, _)| format!("{model}.hal")));
}

#[test]
fn they_compile_for_both_targets() {
    for_each(&MODELS, |(model, _)| {
        for target in ["cpu", "trn2"] {
            let mut session = Session::new();
            let source = load(&mut session, model, &[&format!("target={target}")]);
            let compiled = session.compile(&source, &CompileOptions::default());
            let compiled = compiled.unwrap_or_else(|errors| panic!("{model} for {target}: {errors:?}"));
            // What is not known of the target's compiler is warned of at its line.
            let located =
                |warning: &halite_support::Diagnostic| warning.primary().is_some() || warning.code() != codes::DOUBTFUL;
            assert!(compiled.warnings.iter().all(located), "{model} for {target}: {:?}", compiled.warnings);
        }
    });
}

/// Three that have between them state-space layers, experts and convolutions. Values and gradients of all are held to JAX.
#[test]
fn some_verify() {
    verify(|model| SOME.contains(&model));
}

#[test]
#[ignore = "second tier: seven more models"]
fn the_others_verify() {
    verify(|model| !SOME.contains(&model));
}

const SOME: [&str; 3] = ["mamba", "mixtral", "resnet"];

fn verify(is_asked: impl Fn(&str) -> bool) {
    let models: Vec<_> = MODELS.into_iter().filter(|(model, _)| is_asked(model)).collect();
    for_each(&models, |&(model, both_directions)| {
        let mut session = Session::new();
        let source = load(&mut session, model, &[]);
        let report = halite_verify::verify(&session, &source, &VerifyOptions::default(), xla::executor());
        let report = report.unwrap_or_else(|errors| panic!("{model}: {errors:?}"));
        assert!(report.passed(), "{model}: {report:?}");
        assert_eq!(report.causality.is_none(), both_directions, "{model}: causality is judged of what reads forwards");
    });
}
