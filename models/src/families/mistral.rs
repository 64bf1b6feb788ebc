//! `MistralForCausalLM`.

use super::keys::Fixed::{Bool, Int, Real};
use super::keys::Unstated::{Key as Of, Model, Value};
use super::keys::{Key, class, count, dropout, flag, not_negative, only, positions, positive, rope};
use super::rope::UNSCALED;
use super::{BuiltIn, CheckpointNames, Family};

static KEYS: &[Key] = &[
    class(&[r#"["MistralForCausalLM"]"#]),
    count("vocab_size", "vocab"),
    count("hidden_size", "hidden"),
    count("num_hidden_layers", "layers"),
    count("num_attention_heads", "heads"),
    count("num_key_value_heads", "kv_heads").absent(Value(Int(8))).null(Of("num_attention_heads")),
    count("head_dim", "head_dim").absent(Model).null(Model),
    count("intermediate_size", "ffn"),
    count("sliding_window", "window").absent(Value(Int(4096))).null(Value(Int(0))),
    positive("rms_norm_eps", "eps").absent(Value(Real(1e-6))),
    not_negative("initializer_range", "init_std").absent(Value(Real(0.02))),
    positive("rope_theta", "rope_theta").absent(Value(Real(10000.0))),
    rope("rope_scaling", UNSCALED),
    rope("rope_parameters", UNSCALED),
    flag("tie_word_embeddings", "tied").absent(Value(Bool(false))),
    only("hidden_act", &[r#""silu""#, r#""swish""#]),
    dropout("attention_dropout", "attention_dropout", 0.0),
    positions("max_position_embeddings", 131072),
];

pub(super) static FAMILY: Family = Family {
    model_type: "mistral",
    models: &[BuiltIn::new("mistral", include_str!("../../mistral.hal"))],
    keys: KEYS,
    names: CheckpointNames::DECODER,
    relatives: &[("mixtral", "routes each token to two of several experts")],
};
