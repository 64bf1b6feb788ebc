//! `Qwen2ForCausalLM`: Qwen2 and Qwen2.5.

use super::keys::Fixed::{Bool, Int, Real};
use super::keys::Unstated::{Key as Of, Model, Value};
use super::keys::{Key, class, count, dropout, flag, ignored, not_negative, only, positions, positive, rope};
use super::rope::UNSCALED;
use super::{BuiltIn, CheckpointNames, Family};

static KEYS: &[Key] = &[
    class(&[r#"["Qwen2ForCausalLM"]"#]),
    count("vocab_size", "vocab"),
    count("hidden_size", "hidden"),
    count("num_hidden_layers", "layers"),
    count("num_attention_heads", "heads"),
    count("num_key_value_heads", "kv_heads").absent(Value(Int(32))).null(Of("num_attention_heads")),
    count("head_dim", "head_dim").absent(Model).null(Model),
    count("intermediate_size", "ffn"),
    positive("rms_norm_eps", "eps").absent(Value(Real(1e-6))),
    not_negative("initializer_range", "init_std").absent(Value(Real(0.02))),
    positive("rope_theta", "rope_theta").absent(Value(Real(10000.0))),
    rope("rope_scaling", UNSCALED),
    rope("rope_parameters", UNSCALED),
    flag("tie_word_embeddings", "tied").absent(Value(Bool(false))),
    only("hidden_act", &[r#""silu""#, r#""swish""#]),
    only("use_sliding_window", &["false"]),
    only("use_mrope", &["false"]),
    dropout("attention_dropout", "attention_dropout", 0.0),
    positions("max_position_embeddings", 32768),
    // They say where and how wide a window is that `use_sliding_window` turns off.
    ignored("sliding_window"),
    ignored("max_window_layers"),
    ignored("layer_types"),
];

pub(super) static FAMILY: Family = Family {
    model_type: "qwen2",
    models: &[BuiltIn::new("qwen2", include_str!("../../qwen2.hal"))],
    keys: KEYS,
    names: CheckpointNames::DECODER,
    relatives: &[
        ("qwen2_moe", "routes tokens to experts"),
        ("qwen3", "norms queries and keys and has no bias there"),
        ("qwen3_moe", "routes tokens to experts, norms queries and keys and has no bias there"),
    ],
};
