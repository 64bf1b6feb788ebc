//! Residuals that a forward keeps for its backward under each policy, compared with formulas and with JAX.

use halite_bundle::ModuleRole;
use halite_ir::{Function, Inst, Module, Op, ResultRole};
use halite_tests::compiled;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Tokens of a batch: 2 sequences of 32.
const TOKENS: u64 = 64;
const SEQ: u64 = 32;
const HIDDEN: u64 = 48;
const HEADS: u64 = 4;

/// A model, and per token the floats of its keys and values, and of what its activation reads.
struct Block {
    model: &'static str,
    settings: &'static [&'static str],
    keys_and_values: u64,
    activation: u64,
}

/// Llama and Qwen2 with 2 of 4 heads for keys and values, and a gate beside what it multiplies; GPT-2 with neither.
const BLOCKS: [Block; 3] = [
    Block { model: "llama", settings: &["kv_heads=2", "ffn=80"], keys_and_values: HIDDEN, activation: 2 * 80 },
    Block { model: "qwen2", settings: &["kv_heads=2", "ffn=80"], keys_and_values: HIDDEN, activation: 2 * 80 },
    Block { model: "gpt2", settings: &["positions=32"], keys_and_values: 2 * HIDDEN, activation: 4 * HIDDEN },
];

impl Block {
    /// Bytes that are kept at each call, in `f32`.
    ///
    /// Each of the two norms keeps its input, or that normed, and a statistic for each token; attention its queries, keys and values;
    /// the activation what it reads. Where the core of attention is not computed again, its probabilities are kept too, and its
    /// result, from which the gradient of the probabilities takes the term of each row. Where all but products is computed again, so
    /// are the statistics.
    fn kept(&self, recompute: &str) -> u64 {
        let statistics = 2;
        let inner = 2 * HIDDEN + HIDDEN + self.keys_and_values + self.activation;
        let core = HEADS * SEQ + HIDDEN;
        let floats = match recompute {
            "[]" => inner + statistics + core,
            "[\"attention\", \"activation\"]" => inner + statistics,
            "[\"dots\"]" => inner + core,
            "[\"block\"]" => HIDDEN,
            _ => unreachable!("there is no formula for it"),
        };
        4 * TOKENS * floats
    }
}

/// The training step of three such blocks.
fn step(model: &str, sizes: impl IntoIterator<Item = String>, recompute: &str) -> Module {
    let fixed = ["layers=3", "vocab=96", "precision=fp32", "emit.calls=keep"].map(str::to_owned);
    let settings: Vec<String> = sizes.into_iter().chain(fixed).chain([format!("recompute={recompute}")]).collect();
    compiled::module(model, &ModuleRole::TRAIN_STEP, &settings).ir
}

/// The calls of an entry of functions with this in their name.
fn calls<'m>(module: &'m Module, entry: &'m Function, part: &str) -> Vec<(&'m Function, &'m Inst)> {
    let calls = entry.insts.iter().filter_map(|inst| match &inst.op {
        Op::Call(call) => Some((module.function(call.callee), inst)),
        _ => None,
    });
    calls.filter(|(callee, _)| callee.name.contains(part)).collect()
}

/// Bytes of what the last layer's forward keeps: its residuals, and what it reads itself and hands to its backward.
fn kept(module: &Module) -> u64 {
    let entry = module.entry().expect("a step has an entry");
    let (forwards, backwards) = (calls(module, entry, "_forward"), calls(module, entry, "_backward"));
    assert_eq!((forwards.len(), backwards.len()), (3, 3));
    let ((callee, forward), (_, backward)) = (forwards[2], backwards[0]);
    let residuals = callee.results.iter().filter(|result| matches!(result.role, ResultRole::Residual));
    let residuals: u64 = residuals.map(|result| callee.ty(result.value).bytes()).sum();
    // Weights are there anyway.
    let handed_on = forward.args.iter().filter(|arg| entry.def(**arg).is_some() && backward.args.contains(arg));
    residuals + handed_on.map(|arg| entry.ty(*arg).bytes()).sum::<u64>()
}

#[test]
fn blocks_keep_what_formulas_say() {
    for block in &BLOCKS {
        for recompute in ["[]", "[\"attention\", \"activation\"]", "[\"dots\"]", "[\"block\"]"] {
            let fixed = ["hidden=48", "heads=4", "seq=32", "batch=2"];
            let sizes = fixed.iter().chain(block.settings).map(|set| (*set).to_owned());
            let found = kept(&step(block.model, sizes, recompute));
            assert_eq!(found, block.kept(recompute), "{} {recompute}", block.model);
        }
    }
}

/// The measurements of `benches/peer/residuals.py`.
#[derive(Deserialize)]
struct Jax {
    blocks: BTreeMap<String, JaxBlock>,
}

#[derive(Deserialize)]
struct JaxBlock {
    sizes: BTreeMap<String, u64>,
    policies: Vec<JaxPolicy>,
}

#[derive(Deserialize)]
struct JaxPolicy {
    recompute: Vec<String>,
    bytes: u64,
}

#[test]
fn blocks_keep_no_more_than_in_jax() {
    let jax: Jax = serde_json::from_str(include_str!("../../data/jax-residuals.json")).expect("the fixture is JSON");
    let mut compared = 0;
    for (model, JaxBlock { sizes, policies }) in &jax.blocks {
        for JaxPolicy { recompute, bytes } in policies {
            let sizes = sizes.iter().map(|(name, size)| format!("{name}={size}"));
            let found = kept(&step(model, sizes, &format!("{recompute:?}")));
            println!("{model} {recompute:?}: {found} of {bytes} bytes");
            assert!(found <= *bytes, "{model} {recompute:?} keeps {found} bytes, in JAX {bytes}");
            compared += 1;
        }
    }
    assert_eq!(compared, BLOCKS.len() * 4, "three blocks under four policies");
}
