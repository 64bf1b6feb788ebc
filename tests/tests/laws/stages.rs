//! The parts of a pipeline: that their functions, called one after another, compute bit for bit what the whole step does.

use halite::Session;
use halite_bundle::ModuleRole;
use halite_ir::{Function, Interpreter, Module, Param, ParamRole};
use halite_passes::{Runner, RunnerOptions};
use halite_recipe::Parallel;
use halite_tensor::HostTensor;
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

/// Layouts: one rank, and a mesh of which each part has its share.
const LAYOUTS: [(&[&str], usize); 2] =
    [(&[], 1), (&["parallel.data=2", "parallel.tensor=2", "parallel.sequence=true"], 4)];

/// The module that adds up the gradients of a model that is cut into so many parts.
fn made((model, sizes): Model, settings: &[&str], parts: u32) -> Module {
    let mut session = Session::new();
    let input = match model.strip_suffix(".hal") {
        Some(_) => format!("{}/../models/{model}", env!("CARGO_MANIFEST_DIR")),
        None => model.to_owned(),
    };
    let settings: Vec<String> = sizes.iter().chain(settings).map(|setting| (*setting).to_owned()).collect();
    let source = session.load(&input, &settings).unwrap_or_else(|errors| panic!("{model}: {errors:?}"));
    let mut module = session.elaborate(&source).unwrap_or_else(|errors| panic!("{model}: {errors:?}")).module;
    let mut recipe = source.recipe.clone();
    recipe.parallel = Some(Parallel { pipeline: parts, ..recipe.parallel.unwrap_or_default() });
    let pipeline = session.pipeline(&ModuleRole::GRAD_STEP).unwrap_or_else(|error| panic!("{model}: {error}"));
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

/// The results of each rank by name, as bytes.
fn run(module: &Module, session: &Session, ranks: usize) -> Vec<Vec<(String, Vec<u8>)>> {
    let Some(entry) = module.entry() else { panic!("a module without an entry") };
    let mut random = Random::new(7);
    let mut inputs = |_| entry.params.iter().map(|param| value(entry, param, &mut random)).collect();
    let inputs = (0..ranks).map(&mut inputs).collect();
    let results = Interpreter::of(module, &session.registry).run_ranks(entry, inputs);
    let results = results.unwrap_or_else(|error| panic!("{}: {error:?}", module.name));
    let named = |values: Vec<HostTensor>| {
        let named = entry.results.iter().zip(values);
        named.map(|(result, value)| (result.name.to_string(), value.bytes().to_vec())).collect()
    };
    results.into_iter().map(named).collect()
}

#[test]
fn parts_of_a_pipeline_compute_what_the_whole_step_does() {
    let session = Session::new();
    let cases: Vec<(Model, (&[&str], usize), &str)> = MODELS
        .iter()
        .flat_map(|&model| LAYOUTS.iter().map(move |&layout| (model, layout)))
        .flat_map(|(model, layout)| ["precision=fp32", "precision=mixed"].map(|precision| (model, layout, precision)))
        .collect();
    for_each(&cases, |&(model, (layout, ranks), precision)| {
        let accumulate = "accumulate={ steps = 4, form = \"two\" }";
        let settings: Vec<&str> = layout.iter().copied().chain([accumulate, precision]).collect();
        let expected = run(&made(model, &settings, 1), &session, ranks);
        assert!(expected.iter().flatten().any(|(_, bytes)| bytes.iter().any(|&byte| byte != 0)));
        for parts in [2, 3, 4] {
            let cut = made(model, &settings, parts);
            let functions = cut.functions.iter().filter(|function| function.name.starts_with("part_")).count();
            assert_eq!(functions, 2 * parts as usize, "{model:?} in {parts} parts");
            for (found, expected) in run(&cut, &session, ranks).iter().flatten().zip(expected.iter().flatten()) {
                assert!(found == expected, "{model:?}, {settings:?}, {parts} parts: `{}` differs", found.0);
            }
        }
    });
}
