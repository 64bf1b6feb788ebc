//! The parts of a pipeline: that their functions, called one after another, compute bit for bit what the whole step does.

use halite::Session;
use halite_bundle::ModuleRole;
use halite_ir::{Function, Interpreter, Module, Param, ParamRole};
use halite_passes::{Runner, RunnerOptions};
use halite_recipe::Parallel;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::numeric::Random;
use halite_tests::parallel::for_each;

/// The number of classes of the models.
const VOCAB: usize = 29;

/// A model, and its sizes.
type Model = (&'static str, &'static [&'static str]);

/// Grouped heads; positions and biases; a tied head; a model that reads in both directions; dropout.
const MODELS: [Model; 5] = [
    ("tiny", &["layers=4", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=29", "seq=8", "batch=2"]),
    ("gpt2.hal", &["layers=4", "hidden=16", "heads=4", "positions=8", "vocab=29", "seq=8", "batch=2"]),
    (
        "qwen2.hal",
        &["layers=4", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=29", "seq=8", "batch=2", "tied=true"],
    ),
    ("bert.hal", &["layers=4", "hidden=16", "heads=4", "positions=8", "vocab=29", "seq=8", "batch=2", "padded=true"]),
    (
        "gpt2.hal",
        &[
            "layers=4",
            "hidden=16",
            "heads=4",
            "positions=8",
            "vocab=29",
            "seq=8",
            "batch=2",
            "attn_dropout=0.2",
            "embd_dropout=0.1",
        ],
    ),
];

/// The module of a role of a model that is cut into so many parts.
fn made((model, sizes): Model, precision: &str, role: &ModuleRole, parts: u32) -> Module {
    let mut session = Session::new();
    let input = match model.strip_suffix(".hal") {
        Some(_) => format!("{}/../models/{model}", env!("CARGO_MANIFEST_DIR")),
        None => model.to_owned(),
    };
    let more = ["accumulate={ steps = 4, form = \"two\" }", precision];
    let settings: Vec<String> = sizes.iter().chain(&more).map(|setting| (*setting).to_owned()).collect();
    let source = session.load(&input, &settings).unwrap_or_else(|errors| panic!("{model}: {errors:?}"));
    let mut module = session.elaborate(&source).unwrap_or_else(|errors| panic!("{model}: {errors:?}")).module;
    let mut recipe = source.recipe.clone();
    recipe.parallel = Some(Parallel { pipeline: parts, ..recipe.parallel.unwrap_or_default() });
    let pipeline = session.pipeline(role).unwrap_or_else(|error| panic!("{model}: {error}"));
    let cx = session.pass_cx(Some(&recipe), None).unwrap_or_else(|error| panic!("{model}: {error}"));
    let done = Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx);
    done.unwrap_or_else(|error| panic!("{model} in {parts} parts: {error:?}"));
    module
}

/// Values for a parameter: tokens and labels, counts, or numbers near 0.
fn value(function: &Function, param: &Param, random: &mut Random) -> HostTensor {
    let ty = function.ty(param.value);
    let count = ty.shape().num_elements();
    match (ty.dtype().is_int(), &param.role) {
        (true, ParamRole::Batch) => {
            HostTensor::from_ints(ty.dtype(), ty.shape().clone(), (0..count).map(|_| random.below(VOCAB) as i128))
        }
        (true, _) => HostTensor::from_ints(ty.dtype(), ty.shape().clone(), vec![3; count]),
        (false, _) => {
            let near = |_| (random.below(2001) as f64 - 1000.0) / 4000.0;
            HostTensor::from_f64s(ty.dtype(), ty.shape().clone(), (0..count).map(near))
        }
    }
}

fn run(module: &Module, session: &Session) -> Vec<(String, DType, Vec<u8>)> {
    let Some(entry) = module.entry() else { panic!("a module without an entry") };
    let mut random = Random::new(7);
    let inputs = entry.params.iter().map(|param| value(entry, param, &mut random)).collect();
    let results = Interpreter::of(module, &session.registry).run(entry, inputs);
    let results = results.unwrap_or_else(|error| panic!("{}: {error:?}", module.name));
    let named = entry.results.iter().zip(results);
    named.map(|(result, value)| (result.name.to_string(), value.dtype(), value.bytes().to_vec())).collect()
}

#[test]
fn parts_of_a_pipeline_compute_what_the_whole_step_does() {
    let session = Session::new();
    for_each(&MODELS, |model| {
        for precision in ["precision=fp32", "precision=mixed"] {
            let whole = made(*model, precision, &ModuleRole::GRAD_STEP, 1);
            let expected = run(&whole, &session);
            assert!(expected.iter().any(|(.., bytes)| bytes.iter().any(|&byte| byte != 0)));
            for parts in [2, 3, 4] {
                let cut = made(*model, precision, &ModuleRole::GRAD_STEP, parts);
                let functions = cut.functions.iter().filter(|function| function.name.starts_with("part_")).count();
                assert_eq!(functions, 2 * parts as usize, "{model:?} in {parts} parts");
                let found = run(&cut, &session);
                let names =
                    |all: &[(String, DType, Vec<u8>)]| all.iter().map(|(name, ..)| name.clone()).collect::<Vec<_>>();
                assert_eq!(names(&found), names(&expected));
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(found == expected, "{model:?} in {precision}, {parts} parts: `{}` differs", found.0);
                }
            }
        }
    });
}
