//! `LlamaForCausalLM`: Llama 1 to 3.

use super::keys::Fixed::{Bool, Real};
use super::keys::Unstated::{Key as Of, Model, Value};
use super::keys::{Key, class, count, dropout, flag, ignored, not_negative, only, positions, positive, rope};
use super::rope::SCALED;
use super::{BuiltIn, CheckpointNames, Family, NoEffect};

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

/// Llama 1 and 2, which scale no positions, do not tie the output projection, and whose heads fill the width.
const LLAMA: BuiltIn = BuiltIn {
    without: &[
        ("rope_factor", NoEffect::At(Real(1.0))),
        ("rope_low", NoEffect::Always),
        ("rope_high", NoEffect::Always),
        ("rope_trained", NoEffect::Always),
        ("tied", NoEffect::At(Bool(false))),
        ("head_dim", NoEffect::AtQuotient("hidden", "heads")),
    ],
    ..BuiltIn::new("llama", include_str!("../../llama.hal"))
};

pub(super) static FAMILY: Family = Family {
    model_type: "llama",
    models: &[LLAMA, BuiltIn::new("llama3", include_str!("../../llama3.hal"))],
    keys: KEYS,
    names: CheckpointNames::DECODER,
    relatives: &[
        ("phi3", "stores the projections of attention as one matrix, and those of the gate as another"),
        ("gemma", "scales embeddings, gates with GELU and adds 1 to the weights of norms"),
        ("gemma2", "scales embeddings, gates with GELU, norms also behind sublayers and caps scores and logits"),
        ("olmo2", "norms behind sublayers, and queries and keys"),
    ],
};
