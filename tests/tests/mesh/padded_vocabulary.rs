//! Vocabularies that the ranks of `tensor` do not divide: they are shared with padding, and training is what it is on one device
//! without any.

use halite_ir::{Function, Module};
use halite_test_kit::{in_model, stored_as};
use halite_tests::meshes::{Loaded, Model, Ranks, STEP, entry, ignore_labels, settings};
use halite_tests::stepping::{advance, first_inputs};
use halite_tests::trained::apart;

const VOCAB: usize = 27;

/// Output projections of their own, tied to the embedding, with biases and fewer key heads than ranks, with a bias of the logits.
const MODELS: [Model; 4] = [
    ("tiny", &["layers=1", "hidden=16", "heads=4", "kv_heads=4", "ffn=24", "vocab=27", "seq=8"]),
    ("gpt2.hal", &["layers=1", "hidden=16", "heads=4", "positions=8", "vocab=27", "seq=8"]),
    ("qwen2.hal", &["tied=true", "layers=1", "hidden=32", "heads=8", "kv_heads=2", "ffn=24", "vocab=27", "seq=8"]),
    ("bert.hal", &["layers=1", "hidden=16", "heads=4", "positions=8", "vocab=27", "seq=8"]),
];

const LAYOUTS: [Ranks; 5] = [
    Ranks::of(1, 4, false, 0, 1).fsdp(2),
    Ranks::of(1, 2, false, 0, 2),
    Ranks::of(1, 4, true, 0, 1),
    Ranks::of(2, 4, true, 1, 1),
    Ranks::of(2, 2, false, 1, 2),
];

/// A step on one device that stores weights as the model has them, and one on ranks.
fn both(model: Model, ranks: Ranks) -> ((Loaded, Module), (Loaded, Module)) {
    let own = settings(Ranks::of(1, 1, false, 0, ranks.accumulate), "fp64");
    let alone = Loaded::new(model, &own);
    let plain = alone.made(&STEP.replace("coalesce-layers, pad-uneven, ", ""));
    let loaded = Loaded::new(model, &settings(ranks, "fp64"));
    let local = loaded.made(&format!("{STEP}, partition"));
    ((alone, plain), (loaded, local))
}

/// Whether no value that a rank computes or exchanges has a whole row of logits.
fn shares_logits(module: &Module, tensor: usize) -> bool {
    let padded = VOCAB.next_multiple_of(tensor);
    let whole = |function: &Function| {
        let shapes = function.values.iter().map(|value| value.ty.shape());
        shapes
            .filter(|shape| shape.rank() > 2)
            .any(|shape| shape.last().is_some_and(|&last| last == padded || last == VOCAB))
    };
    !module.functions.iter().any(whole)
}

#[test]
fn ranks_train_as_one_device_does_without_padding() {
    for model in MODELS {
        for ranks in LAYOUTS {
            let name = format!("{} {ranks:?}", model.0);
            let ((alone, plain), (loaded, local)) = both(model, ranks);
            assert!(shares_logits(&local, ranks.tensor), "{name}: a rank has whole logits");
            let whole = loaded.made(STEP);
            let mut one = first_inputs(entry(&plain), VOCAB);
            ignore_labels(entry(&plain), &mut one);
            let mut all =
                stored_as(entry(&plain), entry(&whole), one.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
            for update in 0..3 {
                let expected = alone.alone(&plain, &one).unwrap_or_else(|error| panic!("{name}: {error}"));
                let found = loaded.on_ranks(&local, &all).unwrap_or_else(|error| panic!("{name}: {error}"));
                let [was, is] = [(&plain, &expected), (&whole, &found)].map(|(module, results)| {
                    in_model(entry(module), results).unwrap_or_else(|error| panic!("{name}: {error}"))
                });
                assert!(was.keys().eq(is.keys()), "{name}: {:?} against {:?}", was.keys(), is.keys());
                for (result, expected) in &was {
                    let far = apart(result, &is[result], expected);
                    assert!(far < 1e-9, "{name}: `{result}` is {far} off in update {update}");
                }
                advance(entry(&plain), &mut one, expected);
                advance(entry(&whole), &mut all, found);
            }
        }
    }
}

/// Embeddings and output projections are padded, and by no more than ranks need.
#[test]
fn ranks_hold_their_rows() {
    for (model, tables) in MODELS.into_iter().zip([2, 1, 1, 1]) {
        let (_, (_, local)) = both(model, Ranks::of(1, 4, false, 0, 1));
        let padded =
            entry(&local).params.iter().filter(|param| param.originals().count() == 1 && param.packing().is_some());
        let shapes: Vec<_> = padded.map(|param| entry(&local).ty(param.value).shape().clone()).collect();
        let hidden = if model.0 == "qwen2.hal" { 32 } else { 16 };
        let mut expected = vec![[1, 7, hidden].into(); tables];
        expected.extend((model.0 == "bert.hal").then(|| [1, 7].into()));
        assert_eq!(shapes, expected, "{}", model.0);
    }
}
