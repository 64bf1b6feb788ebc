//! Functions of models: that passes commute with writing calls in place, and that steps compute the same whether calls are kept,
//! written in place, or their forwards computed again.

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_hlo::CheckedHlo;
use halite_ir::text::{PrintOptions, print_with};
use halite_ir::{Function, Interpreter, Module, Op};
use halite_passes::{Runner, RunnerOptions};
use halite_runtime::{Executable, evaluate};
use halite_tensor::{HostTensor, compare::difference};
use halite_test_kit::xla;
use halite_tests::parallel::for_each;
use halite_tests::stepping::{advance, first_inputs};
use std::cell::OnceCell;

/// A model, and its sizes.
type Model = (&'static str, &'static [&'static str]);

/// Models with functions that are called several times: weights beside each other, biases, tied and grouped ones.
const MODELS: [Model; 5] = [
    ("tiny", &["layers=3", "hidden=16", "heads=4", "kv_heads=4", "ffn=24", "vocab=29", "seq=8", "batch=2"]),
    ("tiny", &["layers=3", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=29", "seq=8", "batch=2"]),
    ("gpt2.hal", &["layers=2", "hidden=16", "heads=4", "positions=8", "vocab=29", "seq=8", "batch=2"]),
    ("qwen2.hal", &["layers=3", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=29", "seq=8", "batch=2"]),
    ("bert.hal", &["layers=2", "hidden=16", "heads=4", "positions=8", "vocab=29", "seq=8", "batch=2", "padded=true"]),
];

/// Passes that work on functions, in the order in which they run.
const PASSES: [&str; 11] = [
    "cse",
    "(simplify, fold-constant, dce)*",
    "fold-causal-mask",
    "fuse-rope",
    "fuse-norm",
    "fuse-activation",
    "fuse-softmax",
    "coalesce-layers",
    "auto-diff",
    "auto-cast",
    "expand-composites",
];

/// A model that drops out, in functions that layers share.
const DROPOUT: Model = (
    "gpt2.hal",
    &[
        "layers=2",
        "hidden=16",
        "heads=4",
        "positions=8",
        "vocab=29",
        "seq=8",
        "batch=2",
        "attn_dropout=0.2",
        "resid_dropout=0.3",
        "embd_dropout=0.1",
    ],
);

/// Policies of recomputation in the backward.
const RECOMPUTE: [&str; 5] = ["[]", "[\"none\"]", "[\"attention\", \"activation\"]", "[\"dots\"]", "[\"block\"]"];

/// The same by scope and op, and within a budget.
const CHOSEN: [&str; 2] = ["[{ scope = \"*.1.*\" }, { op = \"exp*\" }]", "[{ budget = \"32 KiB\" }]"];

fn load(model: &str, sizes: &[&str], more: &[&str]) -> (Session, Source) {
    let mut session = Session::new();
    let input = if model.ends_with(".hal") {
        format!("{}/../models/{model}", env!("CARGO_MANIFEST_DIR"))
    } else {
        model.into()
    };
    let settings: Vec<String> = sizes.iter().chain(more).map(|setting| (*setting).to_owned()).collect();
    let source = session.load(&input, &settings).unwrap_or_else(|errors| panic!("{model}: {errors:?}"));
    (session, source)
}

fn run(session: &Session, source: &Source, passes: &str) -> String {
    let mut module = session.elaborate(source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let pipeline = session.passes.parse(passes).unwrap_or_else(|error| panic!("{error}"));
    let cx = session.pass_cx(Some(&source.recipe), None).unwrap_or_else(|error| panic!("{error}"));
    let done = Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx);
    done.unwrap_or_else(|error| panic!("{passes}: {error}"));
    print_with(&module, PrintOptions { locations: false })
}

/// After a clean-up, the text of both is one.
#[test]
fn passes_commute_with_writing_calls_in_place() {
    for_each(&MODELS, |(model, sizes)| {
        for precision in ["precision=fp32", "precision=mixed"] {
            let (session, source) = load(model, sizes, &["emit.calls=inline", precision]);
            for count in 1..=PASSES.len() {
                let passes = PASSES[..count].join(", ");
                let clean = "(cse, simplify, fold-constant, dce)*";
                let before = run(&session, &source, &format!("bind-recipe, inline, {passes}, inline, {clean}"));
                let after = run(&session, &source, &format!("bind-recipe, {passes}, inline, {clean}"));
                assert!(before == after, "{model} {sizes:?} {precision}: `{passes}` before `inline` is not after it");
            }
        }
    });
}

/// A function that is called without a scope is in the scope of its caller, for which an exception may be.
#[test]
fn exceptions_find_calls_without_a_scope() {
    let exception = "precision.override=[{op = \"softmax\", scope = \"layers.1\", sensitive = \"bf16\"}]";
    let model = "../tests/data/unscoped.hal";
    let (session, source) = load(model, &[], &["emit.calls=inline", "precision=mixed", exception]);
    let clean = "(cse, simplify, fold-constant, dce)*";
    let kept = run(&session, &source, "bind-recipe, auto-diff, auto-cast");
    assert!(kept.contains("call"), "{kept}");
    let before = run(&session, &source, &format!("bind-recipe, inline, auto-diff, auto-cast, {clean}"));
    let after = run(&session, &source, &format!("bind-recipe, auto-diff, auto-cast, inline, {clean}"));
    assert_eq!(before.matches("compute = bf16").count(), after.matches("compute = bf16").count());
    assert!(before == after && before.contains("compute = bf16"));
}

/// A training step.
struct Step {
    module: Module,
    hlo: CheckedHlo,
    /// Made when it is first executed: XLA takes longer than all else here.
    executable: OnceCell<Box<dyn Executable>>,
}

impl Step {
    fn new((model, sizes): (&str, &[&str]), more: &[&str]) -> Self {
        let (session, source) = load(model, sizes, more);
        let built = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
        let role = ModuleRole::TRAIN_STEP;
        let pipeline = session.pipeline(&role).unwrap_or_else(|error| panic!("{error}"));
        let compiled = session.compile_role(&built, &source.recipe, &role, &pipeline, &CompileOptions::default());
        let compiled = compiled.unwrap_or_else(|error| panic!("{model} {more:?}: {error}"));
        Self { module: compiled.ir, hlo: compiled.hlo, executable: OnceCell::new() }
    }

    /// The number of calls of forwards.
    fn forwards(&self) -> usize {
        let calls = self.entry().insts.iter().filter_map(|inst| match &inst.op {
            Op::Call(call) => Some(&self.module.function(call.callee).name),
            _ => None,
        });
        calls.filter(|name| name.contains("_forward")).count()
    }

    fn entry(&self) -> &Function {
        self.module.entry().expect("an entry")
    }

    fn initial(&self) -> Vec<HostTensor> {
        first_inputs(self.entry(), 29)
    }

    fn interpret(&self, inputs: &[HostTensor]) -> Vec<HostTensor> {
        let session = Session::new();
        let run = Interpreter::of(&self.module, &session.registry).run(self.entry(), inputs.to_vec());
        run.unwrap_or_else(|error| panic!("{error}"))
    }

    fn execute(&self, inputs: &[HostTensor]) -> Vec<HostTensor> {
        let compile = || xla::compile(&halite_hlo::encode(&self.hlo), 1).unwrap_or_else(|error| panic!("{error}"));
        evaluate(xla::client(), self.executable.get_or_init(compile).as_ref(), inputs)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The largest distance of two results, relative to the scale of the larger.
fn distance(found: &[HostTensor], expected: &[HostTensor]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let each = found.iter().zip(expected).map(|(found, expected)| {
        let apart = difference(found, expected);
        apart.max_abs / apart.scale.max(f64::MIN_POSITIVE)
    });
    each.fold(0.0, f64::max)
}

/// In `f64`, one update from one state, on the interpreter and on CPU XLA.
#[test]
fn kept_calls_compute_what_calls_written_in_place_do() {
    for_each(&[MODELS[1], MODELS[2], DROPOUT], |&model| {
        let plain = Step::new(model, &["precision=fp64", "emit.calls=inline"]);
        assert_eq!(plain.forwards(), 0);
        let inputs = plain.initial();
        let expected = [plain.interpret(&inputs), plain.execute(&inputs)];
        for recompute in RECOMPUTE {
            let recompute = format!("recompute={recompute}");
            let kept = Step::new(model, &["precision=fp64", "emit.calls=keep", &recompute]);
            assert!(kept.forwards() >= 2, "{model:?}");
            for (found, expected) in [kept.interpret(&inputs), kept.execute(&inputs)].iter().zip(&expected) {
                let apart = distance(found, expected);
                assert!(apart <= 1e-12, "{model:?} {recompute}: {apart:e}");
            }
        }
    });
}

/// Whatever is computed again comes out as it was, stochastic rounding included, where calls are kept and where they are not.
#[test]
fn what_is_computed_again_has_the_same_bits() {
    let all = "precision.sr={ sites = \"all\", by = \"dither\", seed = 3 }";
    let recipes: [(Model, &[&str]); 7] = [
        (MODELS[1], &["precision=mixed", "emit.calls=keep"]),
        (MODELS[1], &["precision=mixed", "emit.calls=inline"]),
        (MODELS[1], &["precision=mixed", "emit.calls=keep", "accumulate=2"]),
        (MODELS[1], &["precision=bf16-sr", "emit.calls=keep"]),
        (MODELS[1], &["precision=bf16-sr", "emit.calls=inline", all]),
        (DROPOUT, &["precision=mixed", "emit.calls=keep"]),
        (DROPOUT, &["precision=bf16-sr", "emit.calls=inline"]),
    ];
    for_each(&recipes, |&(model, settings)| {
        let step = |recompute: &str| {
            let recompute = format!("recompute={recompute}");
            Step::new(model, &[settings, &[&*recompute]].concat())
        };
        let none = step("[\"none\"]");
        let inputs = none.initial();
        let expected = none.interpret(&inputs);
        let chosen = CHOSEN.iter().filter(|_| settings.contains(&"precision=mixed"));
        for recompute in RECOMPUTE.iter().filter(|words| !words.contains("none")).chain(chosen) {
            let found = step(recompute).interpret(&inputs);
            assert!(found == expected, "{model:?} {settings:?} {recompute}");
        }
    });
}

/// On CPU XLA, in `f64`, after 20 updates.
#[test]
fn training_with_recomputation_is_training_without() {
    let train = |recompute: &str| {
        let recompute = format!("recompute={recompute}");
        let step = Step::new(MODELS[1], &["precision=fp64", "emit.calls=keep", &recompute]);
        let mut inputs = step.initial();
        for _ in 0..20 {
            let results = step.execute(&inputs);
            advance(step.entry(), &mut inputs, results);
        }
        inputs
    };
    let expected = train("[\"none\"]");
    for recompute in RECOMPUTE {
        let apart = distance(&train(recompute), &expected);
        assert!(apart <= 1e-9, "{recompute}: {apart:e}");
    }
}
