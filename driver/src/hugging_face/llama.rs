//! `LlamaForCausalLM`: Llama 1 to 3.

use super::keys::Default::{Key as Of, Model, Value};
use super::keys::Fixed::{self, Bool, Real};
use super::keys::{Key, class, count, dropout, flag, ignored, not_negative, only, positions, positive, rope};
use super::rope::SCALED;
use super::{Family, Settings};
use halite_recipe::ConfigValue;

static KEYS: &[Key] = &[
    class(&[r#"["LlamaForCausalLM"]"#, r#"["LLaMAForCausalLM"]"#]),
    count("vocab_size", "vocab"),
    count("hidden_size", "hidden"),
    count("num_hidden_layers", "layers"),
    count("num_attention_heads", "heads"),
    count("num_key_value_heads", "kv_heads").absent(Of("num_attention_heads")).null(Of("num_attention_heads")),
    count("head_dim", "head_dim").absent(Model).null(Model),
    count("intermediate_size", "ffn"),
    positive("rms_norm_eps", "eps").absent(Value(Real(1e-6))),
    not_negative("initializer_range", "init_std").absent(Value(Real(0.02))),
    positive("rope_theta", "rope_theta").absent(Value(Real(10000.0))),
    rope("rope_scaling", SCALED),
    rope("rope_parameters", SCALED),
    flag("tie_word_embeddings", "tied").absent(Value(Bool(false))),
    only("hidden_act", &[r#""silu""#, r#""swish""#]),
    only("attention_bias", &["false"]),
    only("mlp_bias", &["false"]),
    dropout("attention_dropout", "attention_dropout", 0.0),
    positions("max_position_embeddings", 2048),
    ignored("max_sequence_length"),
    ignored("pretraining_tp"),
    // How the libraries for Trainium partition and recompute; what SmolLM says of its origin.
    ignored("sequence_parallel_enabled"),
    ignored("selective_checkpoint_enabled"),
    ignored("is_llama_config"),
    only("rope_interleaved", &["false"]),
];

/// What `llama3` has and `llama` does without, with the value at which the two compute the same.
const LATER: [(&str, Fixed); 2] = [("rope_factor", Real(1.0)), ("tied", Bool(false))];

/// What only `llama3` has, and what is without effect where heads fill the width and `LATER` holds.
const WITHOUT_EFFECT: [&str; 4] = ["head_dim", "rope_low", "rope_high", "rope_trained"];

fn model(settings: &mut Settings) -> &'static str {
    let value = |key: &str| settings.get(key).map(|(value, _)| value.clone());
    let whole = |key: &str| if let Some(ConfigValue::Int(value)) = value(key) { Some(value) } else { None };
    let heads_fill = whole("head_dim")
        .is_none_or(|head_dim| whole("heads").is_some_and(|heads| heads.checked_mul(head_dim) == whole("hidden")));
    if !heads_fill || LATER.iter().any(|(key, neutral)| value(key) != Some((*neutral).into())) {
        return "llama3";
    }
    settings.retain(|key, _| !WITHOUT_EFFECT.contains(key) && LATER.iter().all(|(later, _)| key != later));
    "llama"
}

pub(super) static FAMILY: Family = Family { model_type: "llama", models: &["llama", "llama3"], keys: KEYS, model };
