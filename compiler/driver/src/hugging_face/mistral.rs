//! `MistralForCausalLM`.

use super::Family;
use super::keys::Default::{Json, Key as Of, Model};
use super::keys::{Key, dropout, ignored, only, rope, sets};
use super::rope::UNSCALED;
use super::weights::LLAMA_NAMES;

static KEYS: &[Key] = &[
    only("architectures", &[r#"["MistralForCausalLM"]"#]),
    sets("vocab_size", "vocab"),
    sets("hidden_size", "hidden"),
    sets("num_hidden_layers", "layers"),
    sets("num_attention_heads", "heads"),
    sets("num_key_value_heads", "kv_heads").absent(Json("8")).null(Of("num_attention_heads")),
    sets("head_dim", "head_dim").absent(Model).null(Model),
    sets("intermediate_size", "ffn"),
    sets("sliding_window", "window").absent(Json("4096")).null(Json("0")),
    sets("rms_norm_eps", "eps").absent(Json("1e-6")),
    sets("initializer_range", "init_std").absent(Json("0.02")),
    sets("rope_theta", "rope_theta").absent(Json("10000.0")),
    rope("rope_scaling", UNSCALED),
    rope("rope_parameters", UNSCALED),
    sets("tie_word_embeddings", "tied").absent(Json("false")),
    only("hidden_act", &[r#""silu""#, r#""swish""#]),
    dropout("attention_dropout"),
    ignored("max_position_embeddings"),
];

pub(super) static FAMILY: Family =
    Family { model_type: "mistral", keys: KEYS, models: &["mistral"], model: |_| "mistral", names: LLAMA_NAMES };
