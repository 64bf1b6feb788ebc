//! `GPT2LMHeadModel`.

use super::Family;
use super::keys::Default::{Json, Model};
use super::keys::{Key, dropout, ignored, only, sets};
use super::weights::Names;

static KEYS: &[Key] = &[
    only("architectures", &[r#"["GPT2LMHeadModel"]"#]),
    sets("vocab_size", "vocab"),
    sets("n_embd", "hidden"),
    sets("n_layer", "layers"),
    sets("n_head", "heads"),
    sets("n_inner", "ffn").absent(Model).null(Model),
    sets("n_positions", "positions"),
    sets("layer_norm_epsilon", "eps").absent(Json("1e-5")),
    sets("initializer_range", "init_std").absent(Json("0.02")),
    only("activation_function", &[r#""gelu_new""#, r#""gelu_pytorch_tanh""#]),
    only("tie_word_embeddings", &["true"]),
    only("add_cross_attention", &["false"]),
    only("scale_attn_weights", &["true"]),
    only("scale_attn_by_inverse_layer_idx", &["false"]),
    dropout("attn_pdrop"),
    dropout("embd_pdrop"),
    dropout("resid_pdrop"),
    // Another order of the same products and sums.
    ignored("reorder_and_upcast_attn"),
    // The name that `n_positions` had.
    ignored("n_ctx"),
    // Heads for other tasks than the next token.
    ignored("summary_activation"),
    ignored("summary_first_dropout"),
    ignored("summary_proj_to_labels"),
    ignored("summary_type"),
    ignored("summary_use_proj"),
];

pub(super) static FAMILY: Family = Family {
    model_type: "gpt2",
    keys: KEYS,
    models: &["gpt2"],
    model: |_| "gpt2",
    names: Names {
        base: "transformer.",
        buffers: &[".attn.bias", ".attn.masked_bias"],
        output: "lm_head.weight",
        table: "transformer.wte.weight",
    },
};
