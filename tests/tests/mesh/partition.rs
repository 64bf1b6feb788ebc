//! Steps on meshes: what ranks send to one another in each layout, and where.

use halite_ir::text::{parse, print};
use halite_ir::{Function, Inst, Op, ParamRole, verify};
use halite_support::FileId;
use halite_tensor::compare::difference;
use halite_test_kit::numeric::uniform;
use halite_tests::meshes::{Loaded, MODELS, Model, STEP, entry, layout};
use halite_tests::stepping::first_inputs;
use std::collections::BTreeMap;

fn load(model: Model, settings: &[&str]) -> Loaded {
    Loaded::new(model, &settings.iter().map(ToString::to_string).collect::<Vec<_>>())
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

/// The collectives of an update with `data` = 2: each gradient, those of the two norms of a block as one; the count and the loss.
const GRADIENTS_OVER_DATA: [&str; 7] = [
    "4 all_reduce f64[1,48,16]",
    "2 all_reduce f64[16,16]",
    "2 all_reduce f64[16,24]",
    "1 all_reduce f64[16]",
    "2 all_reduce f64[32,16]",
    "2 all_reduce f64[32]",
    "2 all_reduce f64[]",
];

/// The collectives with the state in shards: each weight; the count, the loss and the squares of the norm; each gradient, those of the
/// two norms of a block as one.
const SHARDS_OVER_DATA: [&str; 12] = [
    "4 all_gather f64[1,24,16]",
    "2 all_gather f64[16,16]",
    "2 all_gather f64[8,16]",
    "2 all_gather f64[8,24]",
    "5 all_gather f64[8]",
    "3 all_reduce f64[]",
    "4 reduce_scatter f64[1,48,16]",
    "2 reduce_scatter f64[16,16]",
    "2 reduce_scatter f64[16,24]",
    "1 reduce_scatter f64[16]",
    "2 reduce_scatter f64[2,16]",
    "2 reduce_scatter f64[32,16]",
];

/// A block of Megatron's: a sum forward and one backward for attention and for the feed-forward part, and nothing else.
#[test]
fn a_block_sums_twice_each_way() {
    let settings = ["precision=fp64", "batch=4", "parallel.data=1", "parallel.tensor=2"];
    let functions = collectives(MODELS[0], &settings);
    assert_eq!(of(&functions, "block_forward"), ["all_reduce f64[4,8,16]"; 2]);
    assert_eq!(of(&functions, "block_backward"), ["all_reduce f64[4,8,16]"; 2]);
}

/// With sequence parallelism, two gathers and two scattered sums forward; backward the same for cotangents, and what products read is
/// gathered again.
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

/// Counts equal collectives, without slices, which send nothing.
fn tally(sent: &[String]) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for own in sent.iter().filter(|own| !own.starts_with("dynamic_slice")) {
        *counts.entry(own).or_insert(0) += 1;
    }
    counts.into_iter().map(|(own, count)| format!("{count} {own}")).collect()
}

/// Holds what is sent with one micro-batch and with three to these collectives, once in an update, outside of what runs for each.
fn sends_once(settings: &[&str], expected: &[&str]) {
    for accumulate in ["accumulate=1", "accumulate=3"] {
        let functions = collectives(MODELS[0], &[settings, &[accumulate]].concat());
        for (name, sent) in &functions {
            assert_eq!(tally(sent), if name == "main" { expected } else { &[] }, "{accumulate}: {name}");
        }
    }
}

/// Along `data` a gradient is reduced once in an update, however many micro-batches it is of.
#[test]
fn gradients_are_reduced_once_in_an_update() {
    sends_once(&["precision=fp64", "batch=2", "parallel.data=2"], &GRADIENTS_OVER_DATA);
}

/// With ZeRO-1 each gradient is scattered once to where its state lies, and each weight gathered once.
#[test]
fn shards_of_the_state_scatter_gradients_and_gather_weights() {
    sends_once(&["precision=fp64", "batch=2", "parallel.data=2", "parallel.zero=1"], &SHARDS_OVER_DATA);
}

/// With micro-batches a block sends what it does with one, and each micro-batch the hidden states of the embedding, the cotangents at
/// the last projection, and what the loss takes of logits: a maximum and a sum each way, and those of the labels. An update adds the
/// squares of its norm.
#[test]
fn micro_batches_send_what_one_batch_does() {
    let settings = ["precision=fp64", "batch=4", "parallel.data=1", "parallel.tensor=2", "accumulate=2"];
    let functions = collectives(MODELS[0], &settings);
    for block in ["block_forward", "block_backward"] {
        assert_eq!(tally(of(&functions, block)), ["2 all_reduce f64[4,8,16]"], "{block}");
    }
    let micro: Vec<_> = functions.iter().filter(|(name, _)| name.starts_with("micro_step")).collect();
    assert!(!micro.is_empty());
    for (name, sent) in micro {
        assert_eq!(tally(sent), ["2 all_reduce f64[4,8,16]", "5 all_reduce f64[4,8]"], "{name}");
    }
    assert_eq!(tally(of(&functions, "main")), ["1 all_reduce f64[]"]);
}

/// With everything on, a block sends what it does with shares of the sequence, on half of the batch.
#[test]
fn a_block_sends_the_same_whatever_lies_along_data() {
    let settings = ["precision=fp64", "batch=2", "parallel.data=2", "parallel.tensor=2", "accumulate=2"];
    let settings = [&settings[..], &["parallel.sequence=true", "parallel.zero=1"]].concat();
    let functions = collectives(MODELS[0], &settings);
    let (gather, scatter) = ("all_gather f64[2,4,16]", "reduce_scatter f64[2,8,16]");
    assert_eq!(of(&functions, "block_forward"), [gather, scatter, gather, scatter]);
    assert_eq!(tally(of(&functions, "block_backward")), [format!("4 {gather}"), format!("2 {scatter}")]);
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
