//! Several documents in one row: what a packed model makes of them is what the model makes of each alone.

use halite_ir::{Function, Module, ParamRole, ResultRole};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::numeric::Random;
use halite_tests::meshes::{Loaded, Model, entry};
use halite_tests::stepping::first_inputs;
use halite_tests::trained::apart;
use std::collections::BTreeMap;

const BATCH: usize = 3;
const SEQ: usize = 14;
const VOCAB: usize = 23;

/// Heads that share key heads, a window that is shorter than documents, learned positions; each with attention that is spelled out
/// too; and an encoder.
const MODELS: [Model; 9] = [
    ("tiny", &["layers=2", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=23"]),
    ("tiny", &["layers=1", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=23", "attention_dropout=0.5"]),
    ("llama3.hal", &["layers=1", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=23"]),
    ("qwen2.hal", &["layers=1", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=23"]),
    ("mistral.hal", &["layers=2", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=23", "window=3"]),
    (
        "mistral.hal",
        &["layers=1", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=23", "window=3", "attention_dropout=0.5"],
    ),
    ("gpt2.hal", &["layers=2", "hidden=16", "heads=4", "positions=14", "vocab=23"]),
    ("gpt2.hal", &["layers=1", "hidden=16", "heads=4", "positions=14", "vocab=23", "attn_dropout=0.5"]),
    ("bert.hal", &["layers=2", "hidden=16", "heads=4", "positions=14", "vocab=23"]),
];

/// The number of tokens beyond positions that a model is fed: one, which the last position predicts, but for an encoder, which is fed
/// labels.
fn ahead(model: Model) -> usize {
    usize::from(model.0 != "bert.hal")
}

/// A model that takes so many rows of so many positions, with its gradients in `f64`; dropout drops nothing.
struct Trained {
    loaded: Loaded,
    module: Module,
}

impl Trained {
    fn new(model: Model, [batch, seq]: [usize; 2], packed: bool) -> Self {
        let settings = ["precision=fp64".to_owned(), format!("batch={batch}"), format!("seq={seq}")];
        let loaded = Loaded::new(model, &[&settings[..], &[format!("packed={packed}")]].concat());
        let module = loaded.made("bind-recipe, auto-diff");
        Self { loaded, module }
    }

    fn entry(&self) -> &Function {
        entry(&self.module)
    }

    /// Loss, count, logits and gradients by name, for what is fed in rows; weights are those of `weights`.
    fn run(&self, fed: &[(&str, &[i128])], weights: &BTreeMap<String, HostTensor>) -> BTreeMap<String, HostTensor> {
        let input = |param: &halite_ir::Param| {
            let shape = self.entry().ty(param.value).shape().clone();
            let numbers = fed.iter().find(|(name, _)| *name == &*param.name);
            numbers.map_or_else(
                || weights[&*param.name].clone(),
                |(_, numbers)| HostTensor::from_ints(DType::S32, shape, numbers.iter().copied()),
            )
        };
        let inputs: Vec<HostTensor> = self.entry().params.iter().map(input).collect();
        let results = self.loaded.alone(&self.module, &inputs).unwrap_or_else(|error| panic!("{error}"));
        let name = |result: &halite_ir::FuncResult| match &result.role {
            ResultRole::Gradient(weight) => format!("gradient of {weight}"),
            _ => result.name.to_string(),
        };
        self.entry().results.iter().map(name).zip(results).collect()
    }

    /// Weights away from where they would start.
    fn weights(&self) -> BTreeMap<String, HostTensor> {
        let all = self.entry().params.iter().zip(first_inputs(self.entry(), VOCAB));
        let weights = all.filter(|(param, _)| matches!(param.role, ParamRole::Weight(_)));
        weights.map(|(param, tensor)| (param.name.to_string(), tensor)).collect()
    }
}

/// Documents in rows of as many tokens, most of which end in padding.
#[derive(Default)]
struct Rows {
    tokens: Vec<i128>,
    labels: Vec<i128>,
    segments: Vec<i128>,
    position_ids: Vec<i128>,
    documents: Vec<Vec<i128>>,
}

impl Rows {
    fn new(random: &mut Random, width: usize) -> Self {
        let mut rows = Self::default();
        for _ in 0..BATCH {
            let padding = random.below(4);
            let mut left = width - padding;
            for number in 1.. {
                let length = (1 + random.below(8)).min(left);
                let document: Vec<i128> = (0..length).map(|_| random.below(VOCAB) as i128).collect();
                rows.add(&document, number);
                rows.documents.push(document);
                left -= length;
                if left == 0 {
                    break;
                }
            }
            rows.add(&vec![0; padding], 0);
        }
        rows
    }

    fn add(&mut self, tokens: &[i128], number: i128) {
        self.tokens.extend(tokens);
        self.labels.extend(labels(tokens).into_iter().map(|label| if number == 0 { -100 } else { label }));
        self.segments.extend(tokens.iter().map(|_| number));
        self.position_ids.extend(0..tokens.len() as i128);
    }

    fn fed(&self) -> [(&str, &[i128]); 4] {
        [
            ("tokens", &self.tokens),
            ("labels", &self.labels),
            ("segments", &self.segments),
            ("position_ids", &self.position_ids),
        ]
    }
}

/// Labels for the tokens of a document, for one in two of them.
fn labels(tokens: &[i128]) -> Vec<i128> {
    tokens.iter().map(|token| if token % 2 == 0 { (token * 5 + 3) % VOCAB as i128 } else { -100 }).collect()
}

#[test]
fn packed_documents_are_trained_as_each_of_them_alone() {
    for model in MODELS {
        let packed = Trained::new(model, [BATCH, SEQ], true);
        let weights = packed.weights();
        let mut alone: BTreeMap<usize, Trained> = BTreeMap::new();
        for seed in 0..3 {
            let rows = Rows::new(&mut Random::new(seed), SEQ + ahead(model));
            let mut found = packed.run(&rows.fed(), &weights);
            found.remove("logits");
            let mut sums: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for document in rows.documents.iter().filter(|document| document.len() > ahead(model)) {
                let seq = document.len() - ahead(model);
                let plain = alone.entry(seq).or_insert_with(|| Trained::new(model, [1, seq], false));
                let mut results = plain.run(&[("tokens", document), ("labels", &labels(document))], &weights);
                results.remove("logits");
                for (name, tensor) in results {
                    let sum = sums.entry(name).or_insert_with(|| vec![0.0; tensor.len()]);
                    sum.iter_mut().zip(tensor.f64s()).for_each(|(sum, value)| *sum += value);
                }
            }
            assert!(found.keys().eq(sums.keys()) && found.len() > 8, "{:?} against {:?}", found.keys(), sums.keys());
            for (name, sum) in sums {
                let expected = HostTensor::from_f64s(DType::F64, found[&name].shape().clone(), sum);
                let far = apart(&name, &found[&name], &expected);
                assert!(far < 1e-12, "{}, seed {seed}: `{name}` is {far} off", model.0);
            }
        }
    }
}

/// The logits of a position change with a token of its own document that is not after it, in an encoder with any of it, and with no other.
#[test]
fn a_token_reaches_the_rest_of_its_document_alone() {
    for model in MODELS {
        let packed = Trained::new(model, [BATCH, SEQ], true);
        let weights = packed.weights();
        let (mut rows, width) = (Rows::new(&mut Random::new(7), SEQ + ahead(model)), SEQ + ahead(model));
        let logits = |rows: &Rows| packed.run(&rows.fed(), &weights).remove("logits").expect("the model shows them");
        let before = logits(&rows);
        let size = before.bytes().len() / (BATCH * SEQ);
        for changed in [0, 5, 11, SEQ + 4, 2 * SEQ + 7] {
            let token = rows.tokens[changed];
            rows.tokens[changed] = (token + 1) % VOCAB as i128;
            let after = logits(&rows);
            rows.tokens[changed] = token;
            for at in 0..BATCH * SEQ {
                let place = at + at / SEQ * ahead(model);
                let same = before.bytes()[at * size..][..size] == after.bytes()[at * size..][..size];
                let row = place / width == changed / width;
                let reached =
                    row && (place >= changed || ahead(model) == 0) && rows.segments[place] == rows.segments[changed];
                if place == changed || !reached {
                    assert_eq!(same, !reached, "{}: token {changed} and position {place}", model.0);
                }
            }
        }
    }
}

/// A layer is one function, of which the segments are an argument.
#[test]
fn layers_share_a_function() {
    let module = Trained::new(MODELS[0], [BATCH, SEQ], true).loaded.made("cse, dce");
    let blocks: Vec<&Function> = module.functions.iter().filter(|function| &*function.name == "block").collect();
    let [block] = blocks.as_slice() else { panic!("{} blocks", blocks.len()) };
    assert!(block.params.iter().any(|param| &*param.name == "segments"));
    let calls = entry(&module).insts.iter().filter(|inst| inst.op.callee().is_some());
    assert_eq!(calls.count(), 2);
}
