//! Texts belong to no session: what one loads, every other compiles.

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::ModuleRole;
use halite_support::FileId;
use halite_tests::compiled::{expect, hlo};

/// Texts of the one session are no texts of the other, which has texts of its own.
#[test]
fn a_source_compiles_alike_in_every_session() {
    let (mut own, mut other) = (Session::new(), Session::new());
    other.sources.add("other.hal", "model other {}");
    let load = |setting: &str, session: &mut Session| {
        expect(session.load("tiny", &["layers=1".to_owned(), setting.to_owned()]))
    };
    let source = load("seq=32", &mut own);
    let [expected, found] =
        [&own, &other].map(|session| expect(session.compile(&source, &CompileOptions::default())).bundle);
    assert_eq!((hlo(&expected), &expected.manifest), (hlo(&found), &found.manifest));
    let step = found.module_with_role(&ModuleRole::TRAIN_STEP).expect("a training step");
    assert!(String::from_utf8_lossy(found.hlo(step).expect("a file")).contains("llama.hal"));

    let wrong = load("head=3", &mut own);
    let report = |session: &Session| {
        let errors = session.elaborate(&wrong).unwrap_err();
        errors
            .iter()
            .map(|error| halite_report::report(error, &session.sources, halite_report::Style::default()))
            .collect::<String>()
    };
    let (known, unknown) = (report(&own), report(&other));
    let message = known.lines().next().expect("a headline");
    assert!(known.contains("--set head=3") && unknown.contains(message), "{known}\n{unknown}");
    assert!(unknown.contains("in a text that is not at hand"), "{unknown}");

    let id = FileId::of("nowhere.ir", "");
    let errors = [
        other.parse_ir(id).unwrap_err(),
        halite_recipe::load(id, &[], &other.vocabulary, &mut other.sources).unwrap_err(),
    ];
    assert!(errors.iter().all(|errors| errors[0].message() == "the text is not among the sources at hand"));
}

/// Mistakes stand in the order of their texts, those of each setting, of the model, whatever a session read before; none
/// stands in the recipe, which nobody wrote.
#[test]
fn mistakes_in_several_texts_keep_their_order() {
    let settings: Vec<String> = (0..8).map(|number| format!("unknown{number}={number}")).collect();
    let model = "model wrong {\n  fn main(tokens: s32[batch, seq + 1]) {\n    return missing(tokens), 1.0\n  }\n}\n";
    let mut session = Session::new();
    for text in settings.iter().rev() {
        session.sources.add(format!("--set {text}"), text);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wrong.hal");
    std::fs::write(&path, model).expect("a file");
    let source = expect(session.load(path.to_str().expect("a path"), &settings));
    let found = [&session, &Session::new()].map(|session| {
        let errors = session.elaborate(&source).unwrap_err();
        let mut texts: Vec<_> = errors.iter().map(|error| error.primary().expect("a place").span.file).collect();
        texts.dedup();
        texts
    });
    let settings = settings.iter().map(|text| FileId::of(&format!("--set {text}"), text));
    let mut expected: Vec<FileId> = settings.collect();
    expected.push(FileId::of(path.to_str().expect("a path"), model));
    assert_eq!(found, [expected.clone(), expected]);
}
