//! Steps on meshes: what the ranks compute together is what one device computes.

use halite_ir::text::{parse, print};
use halite_ir::{Function, Inst, Op, ParamRole, verify};
use halite_support::FileId;
use halite_tensor::compare::difference;
use halite_tests::meshes::{LAYOUTS, Loaded, MODELS, Model, OnMesh, Ranks, STEP, entry, ignore_labels, layout};
use halite_tests::numeric::uniform;
use halite_tests::stepping::{advance, first_inputs};

fn load(model: Model, settings: &[&str]) -> Loaded {
    Loaded::new(model, &settings.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// After each of these updates in `f64`, with a clip that bites, the ranks have what one device has.
fn check(model: Model, ranks: Ranks, updates: usize) {
    let name = format!("{model:?} {ranks:?}");
    let OnMesh { loaded, whole, local } = OnMesh::new(model, ranks);
    let first = || {
        let mut inputs = first_inputs(entry(&whole), 32);
        ignore_labels(&mut inputs[0]);
        inputs
    };
    let (mut one, mut all) = (first(), first());
    for at in 0..updates {
        let expected = loaded.alone(&whole, &one).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = loaded.on_ranks(&local, &all).unwrap_or_else(|error| panic!("{name}: {error}"));
        for ((result, expected), found) in entry(&whole).results.iter().zip(&expected).zip(&found) {
            let far = difference(found, expected).relative();
            assert!(far < 1e-9, "{name}: `{}` is {far} off in update {at}", result.name);
        }
        advance(entry(&whole), &mut one, expected);
        advance(entry(&whole), &mut all, found);
    }
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
    let module = load(model, settings).made(&format!("{STEP}, partition"));
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
    let settings = [&settings[..], &["parallel.data=2", "accumulate={ steps = 3, form = 'two' }"]].concat();
    let (before, after) = STEP.split_once("accumulate, ").expect("it accumulates");
    for model in [MODELS[0], MODELS[3]] {
        let loaded = load(model, &settings);
        let second = before.replace("key-dropout, scale-loss, ", "") + "read-accumulators, " + after;
        for passes in [format!("{before}add-to-accumulators, cse, dce"), second] {
            let whole = loaded.made(&passes);
            let local = loaded.after(whole.clone(), "partition");
            let over_data =
                |inst: &Inst| matches!(&inst.op, Op::AllReduce(op) if op.groups.lists().contains(&vec![0, 2]));
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
                if layout(&local).terms.contains_key(&param.name) {
                    let ty = entry(&whole).ty(param.value);
                    inputs[at] = uniform(ty.dtype(), ty.shape().clone(), 1.0, 2.0, at as u64);
                }
            }
            let expected = loaded.alone(&whole, &inputs).unwrap_or_else(|error| panic!("{error}"));
            let found = loaded.on_ranks(&local, &inputs).unwrap_or_else(|error| panic!("{error}"));
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
    for model in MODELS {
        let loaded = load(model, &["batch=2", "parallel.data=2", "parallel.tensor=2", "parallel.zero=1"]);
        let module = loaded.made(&format!("{STEP}, partition"));
        let text = print(&module);
        let again = parse(&text, FileId::of("step.ir", &text), &loaded.session.registry)
            .unwrap_or_else(|errors| panic!("{errors:?}"));
        verify(&again, &loaded.session.registry).unwrap_or_else(|errors| panic!("{}: {errors}", model.0));
        assert_eq!(again.layout, module.layout);
        assert!(module.layout.is_some_and(|layout| layout.shardings.len() > 20));
    }
}
