//! `LlamaForCausalLM`: Llama 1 to 3.

use super::keys::Default::{Json, Key as Of, Model};
use super::keys::{Key, dropout, ignored, only, rope, sets};
use super::rope::SCALED;
use super::weights::LLAMA_NAMES;
use super::{Family, Settings};
use halite_spec::ConfigValue;

static KEYS: &[Key] = &[
    only("architectures", &[r#"["LlamaForCausalLM"]"#, r#"["LLaMAForCausalLM"]"#]),
    sets("vocab_size", "vocab"),
    sets("hidden_size", "hidden"),
    sets("num_hidden_layers", "layers"),
    sets("num_attention_heads", "heads"),
    sets("num_key_value_heads", "kv_heads").absent(Of("num_attention_heads")).null(Of("num_attention_heads")),
    sets("head_dim", "head_dim").absent(Model).null(Model),
    sets("intermediate_size", "ffn"),
    sets("rms_norm_eps", "eps").absent(Json("1e-6")),
    sets("initializer_range", "init_std").absent(Json("0.02")),
    sets("rope_theta", "rope_theta").absent(Json("10000.0")),
    rope("rope_scaling", SCALED),
    rope("rope_parameters", SCALED),
    sets("tie_word_embeddings", "tied").absent(Json("false")),
    only("hidden_act", &[r#""silu""#, r#""swish""#]),
    only("attention_bias", &["false"]),
    only("mlp_bias", &["false"]),
    dropout("attention_dropout"),
    ignored("max_position_embeddings"),
    ignored("max_sequence_length"),
    ignored("pretraining_tp"),
];

/// What `llama3` has and `llama` does without, with the value at which the two compute the same.
const LATER: [(&str, ConfigValue); 2] = [("rope_factor", ConfigValue::Real(1.0)), ("tied", ConfigValue::Bool(false))];

fn model(settings: &mut Settings) -> &'static str {
    let value = |key: &str| settings.get(key).map(|(value, _)| *value);
    let whole = |key: &str| if let Some(ConfigValue::Int(value)) = value(key) { Some(value) } else { None };
    let heads_fill = whole("head_dim")
        .is_none_or(|head_dim| whole("heads").is_some_and(|heads| heads.checked_mul(head_dim) == whole("hidden")));
    if !heads_fill || LATER.iter().any(|(key, neutral)| value(key) != Some(*neutral)) {
        return "llama3";
    }
    settings.retain(|key, _| *key != "head_dim" && LATER.iter().all(|(later, _)| key != later));
    "llama"
}

pub(super) static FAMILY: Family =
    Family { model_type: "llama", keys: KEYS, models: &["llama", "llama3"], model, names: LLAMA_NAMES };
