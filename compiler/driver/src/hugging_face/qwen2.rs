//! `Qwen2ForCausalLM`: Qwen2 and Qwen2.5.

use super::Family;
use super::keys::Default::{Json, Key as Of, Model};
use super::keys::{Key, dropout, ignored, only, rope, sets};
use super::rope::UNSCALED;
use super::weights::LLAMA_NAMES;

static KEYS: &[Key] = &[
    only("architectures", &[r#"["Qwen2ForCausalLM"]"#]),
    sets("vocab_size", "vocab"),
    sets("hidden_size", "hidden"),
    sets("num_hidden_layers", "layers"),
    sets("num_attention_heads", "heads"),
    sets("num_key_value_heads", "kv_heads").absent(Json("32")).null(Of("num_attention_heads")),
    sets("head_dim", "head_dim").absent(Model).null(Model),
    sets("intermediate_size", "ffn"),
    sets("rms_norm_eps", "eps").absent(Json("1e-6")),
    sets("initializer_range", "init_std").absent(Json("0.02")),
    sets("rope_theta", "rope_theta").absent(Json("10000.0")),
    rope("rope_scaling", UNSCALED),
    rope("rope_parameters", UNSCALED),
    sets("tie_word_embeddings", "tied").absent(Json("false")),
    only("hidden_act", &[r#""silu""#, r#""swish""#]),
    only("use_sliding_window", &["false"]),
    only("use_mrope", &["false"]),
    dropout("attention_dropout"),
    ignored("max_position_embeddings"),
    // They say where and how wide a window is that `use_sliding_window` turns off.
    ignored("sliding_window"),
    ignored("max_window_layers"),
    ignored("layer_types"),
];

pub(super) static FAMILY: Family =
    Family { model_type: "qwen2", keys: KEYS, models: &["qwen2"], model: |_| "qwen2", names: LLAMA_NAMES };
