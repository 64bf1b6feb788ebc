//! `GPT2LMHeadModel`.

use super::keys::Fixed::Real;
use super::keys::Unstated::{Model, Value};
use super::keys::{Key, class, count, dropout, ignored, not_negative, only, positive};
use super::{BuiltIn, CheckpointNames, Family};

static KEYS: &[Key] = &[
    class(&[r#"["GPT2LMHeadModel"]"#]),
    count("vocab_size", "vocab"),
    count("n_embd", "hidden"),
    count("n_layer", "layers"),
    count("n_head", "heads"),
    count("n_inner", "ffn").absent(Model).null(Model),
    count("n_positions", "positions"),
    positive("layer_norm_epsilon", "eps").absent(Value(Real(1e-5))),
    not_negative("initializer_range", "init_std").absent(Value(Real(0.02))),
    only("activation_function", &[r#""gelu_new""#, r#""gelu_pytorch_tanh""#]),
    only("tie_word_embeddings", &["true"]),
    only("add_cross_attention", &["false"]),
    only("scale_attn_weights", &["true"]),
    only("scale_attn_by_inverse_layer_idx", &["false"]),
    dropout("attn_pdrop", "attn_dropout", 0.1),
    dropout("embd_pdrop", "embd_dropout", 0.1),
    dropout("resid_pdrop", "resid_dropout", 0.1),
    // Another order of the same products and sums.
    ignored("reorder_and_upcast_attn"),
    // The name that `n_positions` had.
    ignored("n_ctx"),
    // Of the published files of the larger sizes, and read by nothing.
    ignored("n_special"),
    ignored("predict_special_tokens"),
    ignored("output_past"),
    // Heads for other tasks than the next token.
    ignored("summary_activation"),
    ignored("summary_first_dropout"),
    ignored("summary_proj_to_labels"),
    ignored("summary_type"),
    ignored("summary_use_proj"),
];

const NAMES: CheckpointNames = CheckpointNames {
    base: "transformer.",
    buffers: &[".attn.bias", ".attn.masked_bias"],
    others: &[],
    renamed: &[],
    tied: &[("lm_head.weight", "transformer.wte.weight")],
};

pub(super) static FAMILY: Family = Family {
    model_type: "gpt2",
    models: &[BuiltIn::new("gpt2", include_str!("../../gpt2.hal"))],
    keys: KEYS,
    names: NAMES,
    relatives: &[
        ("gpt_neox", "has rotary positions, and attention and feed-forward read one residual"),
        ("gpt_neo", "has layers that see a window only"),
        ("opt", "has ReLU, and positions that start at 2"),
    ],
};
