//! Dropout: how often, how independently, the same everywhere, its gradient, and nothing outside of training.

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Bundle, ModuleRole, init};
use halite_ir::text::parse;
use halite_ir::{Interpreter, LowerOptions, Module, ResultRole, SampleArg};
use halite_passes::{Runner, RunnerOptions};
use halite_recipe::Recipe;
use halite_support::FileId;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::numeric::{central_differences, drawn};
use halite_test_kit::tolerances::GRADIENT;
use halite_test_kit::{Directives, xla};
use halite_tests::compiled::{expect, stored_state};
use halite_tests::tolerances::DIFFERENCE_NOISE;
use halite_train::{LoadedModule, TrainStep};

/// Runs passes on a module under a recipe.
fn run_passes(session: &Session, passes: &str, module: &mut Module, recipe: &Recipe) {
    let pipeline = session.passes.parse(passes).expect("the passes exist");
    let cx = session.pass_cx(Some(recipe), None).expect("the target is known");
    let ran = Runner::new(RunnerOptions::default()).run(&pipeline, module, &cx);
    ran.unwrap_or_else(|error| panic!("{error:?}"));
}

/// A module whose dropout has random bits, under lines of a recipe.
fn keyed(session: &Session, text: &str, lines: &[&str]) -> Module {
    let lines = lines.iter().map(|&line| line.to_owned()).collect();
    let recipe = Directives { recipe: lines, ..Directives::default() }.recipe().expect("the lines are TOML");
    let mut module = parse(text, FileId::of("dropout.ir", text), &session.registry).expect("the text is a module");
    run_passes(session, "key-dropout", &mut module, &recipe.expect("there is a line"));
    module
}

fn on_xla(session: &Session, module: &Module, inputs: Vec<HostTensor>) -> Vec<HostTensor> {
    let ranks = xla::run(module, &session.registry, LowerOptions::default(), &[inputs]);
    ranks.unwrap_or_else(|error| panic!("{error}")).swap_remove(0)
}

fn interpreted(session: &Session, module: &Module, inputs: Vec<HostTensor>) -> Vec<HostTensor> {
    let entry = module.entry().expect("the module has an entry");
    let results = Interpreter::of(module, &session.registry).run(entry, inputs);
    results.unwrap_or_else(|error| panic!("{error}"))
}

fn number(value: i128) -> HostTensor {
    HostTensor::from_ints(DType::S32, [], [value])
}

/// A count of `n` draws of probability `p` has the standard deviation `sqrt(n p (1 - p))`.
#[test]
fn the_stated_share_is_dropped_and_the_rest_is_scaled() {
    let session = Session::new();
    const COUNT: usize = 1_000_000;
    for rate in [0.1, 0.5] {
        let text = format!(
            "func @main(%x: f32[1000,1000] {{batch}}) -> (f32[1000,1000]) {{
               %y = dropout %x {{rate = {rate}}} : f32[1000,1000]
               return %y
             }}"
        );
        let module = keyed(&session, &text, &["train.seed = 1"]);
        // No input is zero, so that a zero was dropped.
        let x = drawn(SampleArg::uniform(DType::F32, [1000, 1000], 1.0, 2.0), 3);
        let y = on_xla(&session, &module, vec![x.clone(), number(0)]).swap_remove(0);
        let scale = (1.0 / (1.0 - rate)) as f32;
        let mut dropped = 0usize;
        for (x, y) in x.f64s().into_iter().zip(y.f64s()) {
            dropped += usize::from(y == 0.0);
            assert!(y == 0.0 || y == f64::from(x as f32 * scale), "{x} became {y} under the rate {rate}");
        }
        let (expected, deviation) = (COUNT as f64 * rate, (COUNT as f64 * rate * (1.0 - rate)).sqrt());
        let off = (dropped as f64 - expected) / deviation;
        assert!(off.abs() <= 4.0, "{dropped} of {COUNT} are dropped under the rate {rate}: {off} standard errors off");
    }
}

/// A layer of two dropouts, which is one function that is called for each of two layers.
const LAYERS: &str = "
func @layer(%x: f32[256,512]) -> (f32[256,512], f32[256,512]) {
  %a = dropout %x {rate = 0.5} : f32[256,512]
  %b = dropout %x {rate = 0.5} : f32[256,512]
  return %a, %b
}
func @main(%x: f32[256,512] {batch}) -> (f32[256,512], f32[256,512], f32[256,512], f32[256,512]) {
  %a, %b = call %x {callee = @layer} : f32[256,512], f32[256,512]
  %c, %d = call %x {callee = @layer} : f32[256,512], f32[256,512]
  return %a, %b, %c, %d
}";

/// The elements of each dropout of [`LAYERS`]: -1 where it dropped, 1 where it kept.
fn signs(session: &Session, seed: u64, update: i128, micro_batch: i128) -> Vec<Vec<f64>> {
    let module = keyed(session, LAYERS, &[&format!("train.seed = {seed}"), "accumulate = 2"]);
    let ones = HostTensor::from_f64s(DType::F32, [256, 512], vec![1.0; 256 * 512]);
    let results = on_xla(session, &module, vec![ones, number(update), number(micro_batch)]);
    // What is kept of 1 is 2.
    results.iter().map(|result| result.f64s().into_iter().map(|value| value - 1.0).collect()).collect()
}

/// The mean of `n` products of independent fair signs has the standard deviation `1 / sqrt(n)`.
#[test]
fn masks_are_independent() {
    let session = Session::new();
    let base = &signs(&session, 1, 0, 0);
    let pairs = [
        ("two sites of a layer", &base[0], &base[1]),
        ("one site of two layers", &base[0], &base[2]),
        ("two sites of two layers", &base[0], &base[3]),
        ("the other site of two layers", &base[1], &base[3]),
        ("two updates", &base[0], &signs(&session, 1, 1, 0)[0]),
        ("far updates", &base[0], &signs(&session, 1, 70_000, 0)[0]),
        ("two seeds", &base[0], &signs(&session, 2, 0, 0)[0]),
        ("two micro-batches", &base[0], &signs(&session, 1, 0, 1)[0]),
        ("the last micro-batch and the next update", &signs(&session, 1, 0, 1)[0], &signs(&session, 1, 1, 0)[0]),
    ];
    for (what, a, b) in pairs {
        let count = a.len() as f64;
        let correlation = a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / count;
        assert!(correlation.abs() <= 4.0 / count.sqrt(), "{what}: the correlation is {correlation}");
    }
}

#[test]
fn interpreter_and_xla_draw_the_same_bits() {
    let session = Session::new();
    let module = keyed(&session, &LAYERS.replace("256,512", "3,16,17"), &["train.seed = 1", "accumulate = 3"]);
    let x = drawn(SampleArg::uniform(DType::F32, [3, 16, 17], 1.0, 2.0), 3);
    for (update, micro_batch) in [(0, 0), (1, 2), (70_000, 1)] {
        let inputs = vec![x.clone(), number(update), number(micro_batch)];
        let expected = interpreted(&session, &module, inputs.clone());
        assert_eq!(on_xla(&session, &module, inputs), expected, "after {update} updates");
    }
}

/// The model of `data/dropout.hal`.
fn load(session: &mut Session, settings: &[&str]) -> Source {
    load_from(session, concat!(env!("CARGO_MANIFEST_DIR"), "/data/dropout.hal"), settings)
}

fn load_from(session: &mut Session, input: &str, settings: &[&str]) -> Source {
    let settings: Vec<String> = ["batch=2", "seq=3"].iter().chain(settings).map(ToString::to_string).collect();
    expect(session.load(input, &settings))
}

/// So many sequences of tokens that every vocabulary here has.
fn tokens(rows: usize) -> HostTensor {
    ids(&[rows, 4])
}

/// Tokens that every vocabulary here has.
fn ids(shape: &[usize]) -> HostTensor {
    HostTensor::from_ints(DType::S32, shape, (0..shape.iter().product::<usize>() as i128).map(|at| at * 3 % 7))
}

#[test]
fn gradients_are_central_differences_under_a_fixed_key() {
    let mut session = Session::new();
    let source = load(&mut session, &["precision=fp64"]);
    let mut forward = expect(session.elaborate(&source)).module;
    run_passes(&session, "bind-recipe, key-dropout", &mut forward, &source.recipe);
    let mut gradient = forward.clone();
    run_passes(&session, "auto-diff", &mut gradient, &source.recipe);
    let params = &forward.entry().expect("a model has an entry").params;
    let input = |(seed, param): (usize, &halite_ir::Param)| match &*param.name {
        "tokens" => tokens(2),
        "step" => number(5),
        _ => {
            let shape = forward.entry().expect("a model has an entry").ty(param.value).shape().clone();
            drawn(SampleArg::uniform(DType::F64, shape, -1.0, 1.0), seed as u64)
        }
    };
    let inputs: Vec<HostTensor> = params.iter().enumerate().map(input).collect();
    let results = gradient.entry().expect("a model has an entry").results.iter();
    let gradients = results.zip(interpreted(&session, &gradient, inputs.clone()));
    let mut compared = 0;
    for (result, found) in gradients {
        let ResultRole::Gradient(name) = &result.role else { continue };
        let at = params.iter().position(|param| param.name == *name).expect("a weight");
        let loss = |moved: HostTensor| {
            let mut inputs = inputs.clone();
            inputs[at] = moved;
            Ok(interpreted(&session, &forward, inputs)[0].f64s()[0])
        };
        let expected = central_differences(&inputs[at], loss).unwrap_or_else(|error| panic!("{error}"));
        for (found, expected) in found.f64s().into_iter().zip(expected) {
            let bound = GRADIENT * expected.abs() + DIFFERENCE_NOISE;
            assert!((found - expected).abs() <= bound, "`{name}`: {found}, by differences {expected}");
        }
        compared += 1;
    }
    assert_eq!(compared, 3, "the table and the weights of two layers");
}

/// The outputs of a module on the initial state and some tokens.
fn run(bundle: &Bundle, role: &ModuleRole) -> Tensors {
    let entry = bundle.module_with_role(role).expect("it is compiled");
    let module = LoadedModule::load(xla::client(), bundle, entry).expect("it is sound");
    let mut inputs = stored_state(bundle, 5);
    for port in entry.inputs.iter().filter(|port| ["tokens", "labels"].contains(&port.name.as_str())) {
        inputs.insert(port.name.clone(), ids(&port.shape));
    }
    inputs.retain(|name, _| entry.inputs.iter().any(|port| port.name == *name));
    expect(module.run(xla::client(), inputs))
}

/// Attention with dropout of its probabilities is spelled, which in `f32` computes what the composite does.
#[test]
fn forward_and_eval_are_those_of_the_model_without() {
    let small = ["precision=fp32", "layers=1", "hidden=8", "vocab=7"];
    let llama = [&small[..], &["heads=4", "kv_heads=2", "ffn=12"]].concat();
    let gpt2 = [&small[..], &["heads=2", "positions=3"]].concat();
    let of_gpt2 = ["attn_dropout=0.3", "resid_dropout=0.3", "embd_dropout=0.3"];
    let bert = [&gpt2[..], &["seq=3"]].concat();
    let models = [
        ("tests/data/dropout.hal", &["precision=mixed"][..], &["rate=0.4"][..]),
        ("models/bert.hal", &bert, &["hidden_dropout=0.3", "attention_dropout=0.3"]),
        ("models/gpt2.hal", &gpt2, &of_gpt2),
        ("models/llama.hal", &llama, &["attention_dropout=0.3"]),
        ("models/llama3.hal", &llama, &["attention_dropout=0.3"]),
        ("models/mistral.hal", &[&llama[..], &["window=2"]].concat(), &["attention_dropout=0.3"]),
        ("models/qwen2.hal", &llama, &["attention_dropout=0.3"]),
    ];
    for (path, sizes, rates) in models {
        let input = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
        let outputs = |rates: Vec<String>| {
            let mut session = Session::new();
            let rates = rates.iter().map(String::as_str);
            let source = load_from(&mut session, &input, &sizes.iter().copied().chain(rates).collect::<Vec<_>>());
            let roles = vec![ModuleRole::FORWARD, ModuleRole::EVAL, ModuleRole::TRAIN_STEP];
            let options = CompileOptions { roles: roles.clone(), ..CompileOptions::default() };
            let bundle = expect(session.compile(&source, &options)).bundle;
            roles.iter().map(|role| run(&bundle, role)).collect::<Vec<_>>()
        };
        let off = |rate: &&str| format!("{}=0.0", rate.split('=').next().unwrap_or_default());
        let with = outputs(rates.iter().map(ToString::to_string).collect());
        let without = outputs(rates.iter().map(off).collect());
        assert_eq!(with[..2], without[..2], "{path}");
        assert_ne!(with[2]["loss"], without[2]["loss"], "{path}: training drops out");
    }
}

/// The results of a training step in the interpreter, by name, and how many functions it has.
fn trained(calls: &str) -> (Tensors, usize) {
    let mut session = Session::new();
    let source = load(&mut session, &["layers=3", &format!("emit.calls=\"{calls}\"")]);
    let role = ModuleRole::TRAIN_STEP;
    let mut state = stored_state(&expect(session.compile(&source, &CompileOptions::default())).bundle, 5);
    state.insert("tokens".to_owned(), tokens(2));
    state.insert("step".to_owned(), number(5));
    let built = expect(session.elaborate(&source)).module;
    let pipeline = session.pipeline(&role).expect("it is built in");
    let compiled = session.compile_role(&built, &source.recipe, &role, &pipeline, &CompileOptions::default());
    let module = compiled.unwrap_or_else(|error| panic!("{error}")).ir;
    let entry = module.entry().expect("a step has an entry");
    let inputs = entry.params.iter().map(|param| state[&*param.name].clone()).collect();
    let names = entry.results.iter().map(|result| result.name.to_string());
    (names.zip(interpreted(&session, &module, inputs)).collect(), module.functions.len())
}

#[test]
fn kept_calls_train_by_the_bits_of_inlined_ones() {
    let ((kept, functions), (inlined, one)) = (trained("keep"), trained("inline"));
    assert!(functions > one, "{functions} functions where calls are kept, {one} where they are not");
    assert_eq!(kept, inlined);
}

/// One module that calls a function for each micro-batch numbers them by constants, of two modules each call is given its number.
/// Stochastic rounding counts updates too.
#[test]
fn both_forms_of_accumulation_draw_alike() {
    let state = |form: &str, precision: &str| {
        let mut session = Session::new();
        let form = format!("accumulate.form=\"{form}\"");
        let source = load(&mut session, &["accumulate.steps=3", &form, &format!("precision={precision}")]);
        let bundle = expect(session.compile(&source, &CompileOptions::default())).bundle;
        let mut step = expect(TrainStep::load(xla::executor(), &bundle));
        expect(step.set_state(expect(init::initial_state(&bundle, 3))));
        let batch = Tensors::from_iter([("tokens".to_owned(), tokens(6))]);
        for _ in 0..2 {
            expect(step.step(&batch));
        }
        expect(step.state())
    };
    for precision in ["fp32", "bf16-sr"] {
        assert_eq!(state("one", precision), state("two", precision), "{precision}");
    }
}

/// Also where the compiler that reads the HLO drops inputs that nothing reads.
#[test]
fn micro_batches_are_numbered_on_neuron() {
    let mut session = Session::new();
    let source = load(&mut session, &["accumulate=3", "target=trn1"]);
    let bundle = expect(session.compile(&source, &CompileOptions::default())).bundle;
    let reads = |module: &halite_bundle::ModuleEntry| module.inputs.iter().any(|port| port.name == "micro_batch");
    let reading: Vec<_> = bundle.manifest.modules.iter().filter(|module| reads(module)).collect();
    assert_eq!(reading.iter().map(|module| module.name.as_str()).collect::<Vec<_>>(), ["grad_step"]);
}
