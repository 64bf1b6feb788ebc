//! Work that is stopped ends at the next look, whichever that is, with that alone to say.

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::ModuleRole;
use halite_support::{CancelToken, codes};
use halite_tests::compiled::expect;
use halite_tests::parallel::for_each;

/// Looks at which work is stopped one by one; of those after, some.
const EACH: u64 = 32;
/// The number of the later looks that are tried.
const SOME: u64 = 24;

/// Steps of one layer, on a mesh and for Neuron too.
const STEPS: [&[&str]; 3] = [
    &[],
    &["batch=4", "parallel.data=2", "parallel.tensor=2", "parallel.sequence=true", "parallel.zero=1"],
    &["batch=4", "parallel.data=2", "parallel.tensor=2", "target=trn2", "precision=bf16-sr"],
];

#[test]
fn work_that_is_stopped_says_that_alone() {
    for_each(&STEPS, |settings| {
        let mut session = Session::new();
        let sizes = ["layers=1", "hidden=16", "ffn=24", "heads=2", "kv_heads=2", "vocab=32", "seq=8"];
        let sizes: Vec<String> = sizes.iter().chain(*settings).map(ToString::to_string).collect();
        let source = expect(session.load("tiny", &sizes));
        let compile = |token: &CancelToken| {
            let mut options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
            (options.emit_hlo_text, options.emit_stablehlo) = (true, true);
            options.runner.watch.cancel = token.clone();
            session.compile(&source, &options).map(|compiled| compiled.bundle.files)
        };
        let all = CancelToken::after(u64::MAX);
        let files = expect(compile(&all));
        let looks = u64::MAX - all.looks_left().expect("it counts");
        assert!(looks > 1000, "{settings:?}: {looks}");
        let later = (0..SOME).map(|part| EACH + part * (looks - EACH) / SOME);
        for at in (0..EACH).chain(later).chain(looks - 8..looks) {
            let errors = compile(&CancelToken::after(at)).expect_err("it was stopped");
            let codes: Vec<_> = errors.iter().map(|error| error.code()).collect();
            assert_eq!(codes, [codes::CANCELLED], "{settings:?}, stopped at {at} of {looks}: {errors:?}");
        }
        // Nothing is left of it, and the last look is not one too many.
        assert!(expect(compile(&CancelToken::after(looks))) == files, "{settings:?}");
    });
}
