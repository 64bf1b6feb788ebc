//! Differences of encoders: further inputs, keys of their own, and checkpoints of pretraining.

use super::configuration::with;
use super::{HUGGING_FACE_LOGITS, assert_logits_with, compile_fixture, expected, outputs, weights};
use halite_bundle::tensors::Tensors;
use halite_bundle::{ModuleRole, adopt};
use halite_tensor::{DType, HostTensor};
use serde_json::{Value, json};

/// Types of tokens, padding, labels and packed documents of an encoder.
#[test]
fn what_else_an_encoder_is_fed_counts_as_in_transformers() {
    for case in ["bert", "bert_silu"] {
        assert_logits_with(case, &["typed=true", "padded=true"], "padded_logits");
        assert_logits_with(case, &["packed=true"], "packed_logits");
        let expected = expected(case);
        let sums = outputs(case, &ModuleRole::EVAL, &["typed=true", "padded=true"], &expected);
        let [loss, count, mean] =
            [&sums["loss"], &sums["count"], &expected["padded_loss"]].map(|tensor| tensor.f64s()[0]);
        assert!((loss / count - mean).abs() <= HUGGING_FACE_LOGITS, "{case}: {loss} / {count} against {mean}");
    }
}

#[test]
fn what_changes_the_computation_of_an_encoder_is_refused() {
    let bert = |key: &str, value: Value| with("bert-base-uncased", key, value).concat();
    let relative = "`position_embedding_type` is `\"relative_key\"`, Halite computes this model with `\"absolute\"`";
    assert_eq!(bert("position_embedding_type", json!("relative_key")), relative);
    assert_eq!(bert("is_decoder", json!(true)), "`is_decoder` is `true`, Halite computes this model with `false`");
    let mish =
        "`hidden_act` is \"mish\", expected one of `gelu`, `gelu_new`, `gelu_pytorch_tanh`, `relu`, `silu` and `swish`";
    assert_eq!(bert("hidden_act", json!("mish")), mish);
    let pruned = "`pruned_heads` is `{\"0\":[1]}`, Halite computes this model with `{}`";
    assert_eq!(bert("pruned_heads", json!({"0": [1]})), pruned);
    assert_eq!(bert("chunk_size_feed_forward", json!(64)), "");
}

/// A checkpoint of BERT as it was published: of pretraining, with both heads, the output twice and norms under names of old.
#[test]
fn published_checkpoints_of_pretraining_are_adopted() {
    let compiled = compile_fixture("bert", ModuleRole::TRAIN_STEP);
    let manifest = &compiled.bundle.manifest;
    let (_, checkpoint) = weights("bert", manifest);
    let old =
        |name: &String| name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
    let mut published: Tensors = checkpoint.iter().map(|(name, tensor)| (old(name), tensor.clone())).collect();
    for (output, of) in [("weight", "bert.embeddings.word_embeddings.weight"), ("bias", "cls.predictions.bias")] {
        published.insert(format!("cls.predictions.decoder.{output}"), checkpoint[of].clone());
    }
    for (name, shape) in [("bert.pooler.dense.weight", [24, 24]), ("cls.seq_relationship.weight", [2, 24])] {
        published.insert(name.to_owned(), HostTensor::zeros(DType::F32, shape));
    }
    published.insert("bert.embeddings.position_ids".to_owned(), HostTensor::zeros(DType::S32, [1, 24]));
    let mut adopted = adopt(manifest, published.clone()).unwrap_or_else(|error| panic!("{error}"));
    adopted.sort_keys();
    assert_eq!(adopted, checkpoint);
    let name = "bert.embeddings.LayerNorm";
    published.insert(format!("{name}.weight"), checkpoint[&format!("{name}.weight")].clone());
    let twice = format!("the checkpoint has both `{name}.gamma` and `{name}.weight`, one tensor of the model");
    assert_eq!(adopt(manifest, published).expect_err("which one is meant?").message(), twice);
}
