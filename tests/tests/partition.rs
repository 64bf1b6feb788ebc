//! Steps on meshes: what the ranks compute together is what one device computes.

use halite::Session;
use halite::source::Source;
use halite_ir::text::{parse, print};
use halite_ir::{Function, Inst, Interpreter, Layout, Module, Op, ParamRole};
use halite_passes::{Runner, RunnerOptions};
use halite_support::FileId;
use halite_tensor::{HostTensor, compare::difference};
use halite_tests::numeric::uniform;
use halite_tests::stepping::{advance, first_inputs};

/// A model and its sizes.
type Model = (&'static str, &'static [&'static str]);

/// Up to the step that takes the whole batch.
const STEP: &str = "bind-recipe, (cse, simplify, fold-constant, dce)*, fold-causal-mask, fuse-rope, fuse-norm, fuse-activation, fuse-softmax, \
                    coalesce-layers, cse, dce, key-dropout, scale-loss, auto-diff, auto-cast, accumulate, unscale, clip, finite, \
                    adjust-loss-scale, update, cse, dce";

/// Models: with as many key heads as heads, with fewer key heads than ranks, with a merged projection, with biases and tied weights, with dropout.
const MODELS: [Model; 6] = [
    ("tiny", &["layers=2", "hidden=16", "heads=4", "kv_heads=4", "ffn=24", "vocab=32", "seq=8"]),
    ("tiny", &["layers=2", "hidden=32", "heads=8", "kv_heads=2", "ffn=24", "vocab=32", "seq=8"]),
    ("gpt2.hal", &["layers=2", "hidden=16", "heads=4", "positions=8", "vocab=32", "seq=8"]),
    ("qwen2.hal", &["layers=2", "hidden=32", "heads=8", "kv_heads=2", "ffn=24", "vocab=32", "seq=8"]),
    ("mistral.hal", &["layers=2", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=32", "seq=8"]),
    (
        "gpt2.hal",
        &[
            "layers=1",
            "hidden=16",
            "heads=4",
            "positions=8",
            "vocab=32",
            "seq=8",
            "attn_dropout=0.2",
            "embd_dropout=0.1",
        ],
    ),
];

/// Layouts that multiply to 2, 4 and 8: ranks of `data` and `tensor`, `sequence`, `zero`, `accumulate`, so that any two choices meet.
const LAYOUTS: [(usize, usize, bool, usize, usize); 9] = [
    (2, 1, false, 0, 1),
    (1, 2, false, 0, 2),
    (1, 2, true, 0, 1),
    (1, 4, true, 1, 2),
    (2, 1, true, 1, 2),
    (2, 2, false, 1, 1),
    (4, 2, true, 1, 1),
    (2, 4, false, 0, 2),
    (2, 4, true, 0, 1),
];

fn load((model, sizes): Model, more: &[String]) -> (Session, Source) {
    let mut session = Session::new();
    let input = if model.ends_with(".hal") {
        format!("{}/../models/{model}", env!("CARGO_MANIFEST_DIR"))
    } else {
        model.into()
    };
    let settings: Vec<String> = sizes.iter().map(|&setting| setting.to_owned()).chain(more.iter().cloned()).collect();
    let source = session.load(&input, &settings).unwrap_or_else(|errors| panic!("{model}: {errors:?}"));
    (session, source)
}

fn run(session: &Session, source: &Source, module: &mut Module, passes: &str) {
    let pipeline = session.passes.parse(passes).unwrap_or_else(|error| panic!("{error}"));
    let cx = session.pass_cx(Some(&source.recipe), None).unwrap_or_else(|error| panic!("{error}"));
    let done = Runner::new(RunnerOptions::default()).run(&pipeline, module, &cx);
    done.unwrap_or_else(|error| panic!("{passes}: {error}"));
}

fn entry(module: &Module) -> &Function {
    module.entry().expect("a step has an entry")
}

/// One update on all ranks.
fn update(
    session: &Session,
    module: &Module,
    layout: &Layout,
    inputs: &[HostTensor],
) -> halite_support::Result<Vec<HostTensor>> {
    let ranks = (0..layout.mesh.num_ranks()).map(|rank| layout.shard(entry(module), inputs, rank));
    let ranks = ranks.collect::<halite_support::Result<Vec<_>>>()?;
    let results = Interpreter::of(module, &session.registry).run_ranks(entry(module), ranks)?;
    layout.assemble(entry(module), &results)
}

/// After each of these updates in `f64`, with a clip that bites, the ranks have what one device has.
fn check(model: Model, (data, tensor, sequence, zero, accumulate): (usize, usize, bool, usize, usize), updates: usize) {
    let settings = [
        "precision=fp64".to_owned(),
        format!("batch={}", 4 / data),
        format!("parallel.data={data}"),
        format!("parallel.tensor={tensor}"),
        format!("parallel.sequence={sequence}"),
        format!("parallel.zero={zero}"),
        format!("accumulate={accumulate}"),
        "optimizer.adamw.clip_norm=0.01".to_owned(),
    ];
    let name = format!("{model:?} {settings:?}");
    let (session, source) = load(model, &settings);
    let mut whole = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    run(&session, &source, &mut whole, STEP);
    let mut local = whole.clone();
    run(&session, &source, &mut local, "partition");
    let layout = local.layout.clone().expect("a layout");
    let first = || {
        let mut inputs = first_inputs(entry(&whole), 32);
        ignore_labels(&mut inputs[0]);
        inputs
    };
    let (mut one, mut all) = (first(), first());
    for at in 0..updates {
        let expected = Interpreter::of(&whole, &session.registry).run(entry(&whole), one.clone());
        let expected = expected.unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = update(&session, &local, &layout, &all).unwrap_or_else(|error| panic!("{name}: {error}"));
        for ((result, expected), found) in entry(&whole).results.iter().zip(&expected).zip(&found) {
            let far = difference(found, expected).relative();
            assert!(far < 1e-9, "{name}: `{}` is {far} off in update {at}", result.name);
        }
        advance(entry(&whole), &mut one, expected);
        advance(entry(&whole), &mut all, found);
    }
}

/// Has most labels of the first sequence not count, so that ranks count differently.
fn ignore_labels(tokens: &mut HostTensor) {
    let row = tokens.shape()[1];
    let mut ids = tokens.ints();
    for id in &mut ids[2..row] {
        *id = -100;
    }
    // An ignored label is an input of the position after it, where the embedding clamps it, on all ranks alike.
    *tokens = HostTensor::from_ints(tokens.dtype(), tokens.shape().clone(), ids);
}

/// In CI each model on every other layout, for two updates; with `HALITE_LAYOUTS=all` everything on everything, for five.
#[test]
fn ranks_compute_what_one_device_computes() {
    let all = std::env::var("HALITE_LAYOUTS").is_ok_and(|value| value == "all");
    let (step, updates) = if all { (1, 5) } else { (2, 2) };
    for (at, model) in MODELS.into_iter().enumerate() {
        for layout in LAYOUTS.into_iter().skip(at % step).step_by(step) {
            check(model, layout, updates);
        }
    }
}

/// The collectives of each function, in order.
fn collectives(model: Model, settings: &[&str]) -> Vec<(String, Vec<String>)> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let (session, source) = load(model, &settings);
    let mut module = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    run(&session, &source, &mut module, &format!("{STEP}, partition"));
    let known = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "dynamic_slice"];
    let of = |function: &Function| {
        let insts = function.insts.iter().filter(|inst| known.contains(&inst.op.name()));
        (
            function.name.to_string(),
            insts.map(|inst| format!("{} {}", inst.op.name(), function.ty(inst.args[0]))).collect(),
        )
    };
    module.functions.iter().map(of).collect()
}

fn of<'a>(functions: &'a [(String, Vec<String>)], name: &str) -> &'a [String] {
    &functions.iter().find(|(own, _)| own == name).expect("the function").1
}

/// A block of Megatron's: a sum forward and one backward for attention and for the feed-forward part, and nothing else.
#[test]
fn a_block_sums_twice_each_way() {
    let settings = ["precision=fp64", "batch=4", "parallel.data=1", "parallel.tensor=2"];
    let functions = collectives(MODELS[0], &settings);
    assert_eq!(of(&functions, "block_forward"), ["all_reduce f64[4,8,16]"; 2]);
    assert_eq!(of(&functions, "block_backward"), ["all_reduce f64[4,8,16]"; 2]);
}

/// With sequence parallelism, two gathers and two scattered sums forward; backward the same for cotangents, and what products read is gathered
/// again.
#[test]
fn a_block_on_shares_of_the_sequence_gathers_and_scatters() {
    let settings = ["precision=fp64", "batch=4", "parallel.data=1", "parallel.tensor=2", "parallel.sequence=true"];
    let functions = collectives(MODELS[0], &settings);
    let (gather, scatter) = ("all_gather f64[4,4,16]", "reduce_scatter f64[4,8,16]");
    assert_eq!(of(&functions, "block_forward"), [gather, scatter, gather, scatter]);
    let backward = of(&functions, "block_backward");
    let count = |what: &str| backward.iter().filter(|own| *own == what).count();
    assert_eq!((count(gather), count(scatter), backward.len()), (4, 2, 6), "{backward:?}");
}

/// Along `data` a gradient is reduced once in an update, however many micro-batches it is of.
#[test]
fn gradients_are_reduced_once_in_an_update() {
    let settings = ["precision=fp64", "batch=2", "parallel.data=2", "accumulate=3"];
    let functions = collectives(MODELS[0], &settings);
    for name in ["block_forward", "block_backward", "micro_step"] {
        assert!(of(&functions, name).is_empty(), "{name}: {:?}", of(&functions, name));
    }
    let reduced = of(&functions, "main");
    let matrices = reduced.iter().filter(|own| own.starts_with("all_reduce") && own.contains(',')).count();
    assert!(reduced.iter().all(|own| own.starts_with("all_reduce")) && matrices == 10, "{reduced:?}");
}

/// The same where two modules make an update: the first adds what a rank has of the gradients to what it had, the second reduces them.
#[test]
fn sums_between_modules_are_of_one_rank() {
    let settings = ["precision=fp64", "batch=2", "parallel.tensor=2", "parallel.sequence=true", "parallel.zero=1"];
    let settings = settings.iter().chain(&["parallel.data=2", "accumulate={ steps = 3, form = 'two' }"]);
    let settings: Vec<String> = settings.map(|&setting| setting.to_owned()).collect();
    let (before, after) = STEP.split_once("accumulate, ").expect("it accumulates");
    for model in [MODELS[0], MODELS[3]] {
        let (session, source) = load(model, &settings);
        let built = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
        let second = before.replace("key-dropout, scale-loss, ", "") + "read-accumulators, " + after;
        for passes in [format!("{before}add-to-accumulators, cse, dce"), second] {
            let mut whole = built.clone();
            run(&session, &source, &mut whole, &passes);
            let mut local = whole.clone();
            run(&session, &source, &mut local, "partition");
            let layout = local.layout.clone().expect("a layout");
            let over_data = |inst: &Inst| matches!(&inst.op, Op::AllReduce(op) if op.groups.contains(&vec![0, 2]));
            let reduced = |function: &Function| {
                let types = function
                    .insts
                    .iter()
                    .filter(|inst| over_data(inst))
                    .map(|inst| function.ty(inst.args[0]).to_string());
                types.collect::<Vec<_>>()
            };
            let reduced: Vec<String> = local.functions.iter().flat_map(reduced).collect();
            let is_fed = entry(&whole).params.iter().any(|param| param.role == ParamRole::Batch);
            assert!(!is_fed || reduced.is_empty(), "{model:?}: {reduced:?}");
            let mut inputs = first_inputs(entry(&whole), 32);
            for (at, param) in entry(&whole).params.iter().enumerate() {
                if layout.terms.contains_key(&param.name) {
                    let ty = entry(&whole).ty(param.value);
                    inputs[at] = uniform(ty.dtype(), ty.shape().clone(), 1.0, 2.0, at as u64);
                }
            }
            let expected = Interpreter::of(&whole, &session.registry).run(entry(&whole), inputs.clone());
            let expected = expected.unwrap_or_else(|error| panic!("{error}"));
            let found = update(&session, &local, &layout, &inputs).unwrap_or_else(|error| panic!("{error}"));
            for ((result, expected), found) in entry(&whole).results.iter().zip(&expected).zip(&found) {
                let far = difference(found, expected).relative();
                assert!(far < 1e-9, "{model:?}: `{}` is {far} off", result.name);
            }
        }
    }
}

/// The text of a module of several ranks says how its inputs lie.
#[test]
fn a_layout_reads_back() {
    let settings = ["batch=2", "parallel.data=2", "parallel.tensor=2", "parallel.zero=1"].map(str::to_owned);
    let (session, source) = load(MODELS[1], &settings);
    let mut module = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    run(&session, &source, &mut module, &format!("{STEP}, partition"));
    let text = print(&module);
    let again =
        parse(&text, FileId::of("step.ir", &text), &session.registry).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(again.layout, module.layout);
    assert!(module.layout.is_some_and(|layout| layout.shardings.len() > 20));
}
