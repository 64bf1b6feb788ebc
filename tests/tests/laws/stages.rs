//! The parts of a pipeline: that their functions, called one after another, compute bit for bit what the whole step does.

use halite::Session;
use halite_bundle::ModuleRole;
use halite_ir::{Function, Interpreter, Module, Param, ParamRole};
use halite_passes::{Runner, RunnerOptions};
use halite_recipe::Parallel;
use halite_tensor::{Content, HostTensor};
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
        (true, ParamRole::Known(Content::Ranks)) => {
            HostTensor::from_ints(ty.dtype(), ty.shape().clone(), (0..count).map(|rank| rank as i128))
        }
        (true, ParamRole::Known(Content::Keys(keys))) => keys.tensor(),
        (true, _) => HostTensor::from_ints(ty.dtype(), ty.shape().clone(), vec![3; count]),
        (false, ParamRole::State(spec)) if spec.sum => HostTensor::zeros(ty.dtype(), ty.shape().clone()),
        (false, _) => {
            let near = |_| (random.below(2001) as f64 - 1000.0) / 4000.0;
            HostTensor::from_f64s(ty.dtype(), ty.shape().clone(), (0..count).map(near))
        }
    }
}

/// The whole results by name, from shards of the same whole inputs.
fn run(module: &Module, session: &Session) -> Vec<(String, HostTensor)> {
    let entry = module.entry().expect("a module has an entry");
    let layout = module.layout.as_deref().cloned().unwrap_or_default();
    let whole = layout.whole_signature(entry.clone());
    let mut random = Random::new(7);
    let inputs: Vec<HostTensor> = whole.params.iter().map(|param| value(&whole, param, &mut random)).collect();
    let shards = (0..layout.mesh.num_ranks()).map(|rank| layout.shard(entry, &inputs, rank));
    let shards = shards.collect::<Result<_, _>>().expect("inputs are of their sizes");
    let ranks = Interpreter::of(module, &session.registry).run_ranks(entry, shards).expect("the module runs");
    let results = layout.assemble(entry, &ranks).expect("ranks agree");
    let results = entry.results.iter().zip(results).map(|(result, value)| (result.name.to_string(), value));
    added(entry, results.collect())
}

/// Results with the sums of one gradient by several parts added up, in the place of the first.
fn added(entry: &Function, results: Vec<(String, HostTensor)>) -> Vec<(String, HostTensor)> {
    let weight = |name: &str| {
        let param = entry.params.iter().find(|param| *param.name == *name)?;
        if let ParamRole::State(spec) = &param.role { spec.of.clone() } else { None }
    };
    let mut all: Vec<(String, HostTensor)> = Vec::new();
    for (name, value) in results {
        let of = weight(&name);
        match all.iter_mut().find(|(known, _)| of.is_some() && weight(known) == of) {
            None => all.push((name, value)),
            Some((_, sum)) => {
                let terms = sum.f64s().into_iter().zip(value.f64s()).map(|(sum, term)| sum + term);
                *sum = HostTensor::from_f64s(sum.dtype(), sum.shape().clone(), terms.collect::<Vec<_>>());
            }
        }
    }
    all
}

/// The largest difference of numbers, relative to the largest of `expected`.
fn difference(found: &HostTensor, expected: &HostTensor) -> f64 {
    let largest = expected.f64s().into_iter().map(f64::abs).fold(0.0, f64::max);
    let differences = found.f64s().into_iter().zip(expected.f64s()).map(|(found, expected)| (found - expected).abs());
    differences.fold(0.0, f64::max) / largest.max(f64::MIN_POSITIVE)
}

/// Holds a model in two, three and four parts to the whole: `tolerance` says by how much a number may differ.
fn parts_compute_what_the_whole_does(model: Model, settings: &[&str], tolerance: f64) {
    let session = Session::new();
    let accumulate = "accumulate={ steps = 4, form = \"two\" }";
    let settings: Vec<&str> = settings.iter().copied().chain([accumulate]).collect();
    let expected = run(&made(model, &settings, 1), &session);
    let gradients = expected.iter().filter(|(name, _)| name.starts_with("accum."));
    let finite =
        |values: Vec<f64>| values.iter().all(|value| value.is_finite()) && values.iter().any(|&value| value != 0.0);
    assert!(gradients.map(|(_, value)| value.f64s()).all(finite), "{model:?}: gradients that are nothing");
    for parts in [2, 3, 4] {
        let cut = made(model, &settings, parts);
        let functions = cut.functions.iter().filter(|function| function.name.starts_with("part_")).count();
        assert_eq!(functions, 2 * parts as usize, "{model:?} in {parts} parts");
        let found = run(&cut, &session);
        let names = |all: &[(String, HostTensor)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected));
        for ((name, found), (_, expected)) in found.iter().zip(&expected) {
            let is_right = if tolerance == 0.0 { found == expected } else { difference(found, expected) <= tolerance };
            let by = difference(found, expected);
            assert!(is_right, "{model:?}, {settings:?}, {parts} parts: `{name}` differs by {by}");
        }
    }
}

#[test]
fn parts_of_a_pipeline_compute_what_the_whole_step_does() {
    let cases =
        MODELS.iter().flat_map(|&model| ["precision=fp32", "precision=mixed"].map(|precision| (model, precision)));
    for_each(&cases.collect::<Vec<_>>(), |&(model, precision)| {
        parts_compute_what_the_whole_does(model, &[precision], 0.0)
    });
}

/// On a mesh, parts are placed each by itself: sums over ranks may be made in another order.
#[test]
fn parts_of_a_pipeline_compute_on_a_mesh_what_the_whole_step_does() {
    let mesh = ["precision=fp32", "parallel.data=2", "parallel.tensor=2", "parallel.sequence=true"];
    for_each(&MODELS, |&model| parts_compute_what_the_whole_does(model, &mesh, 1e-5));
}
