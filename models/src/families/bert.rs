//! `BertForMaskedLM`.

use super::keys::Fixed::{Int, Real};
use super::keys::Unstated::{Model, Value};
use super::keys::{Key, class, count, dropout, ignored, not_negative, only, positive, word};
use super::{BuiltIn, CheckpointNames, Family};

static KEYS: &[Key] = &[
    class(&[r#"["BertForMaskedLM"]"#]),
    count("vocab_size", "vocab"),
    count("hidden_size", "hidden"),
    count("num_hidden_layers", "layers"),
    count("num_attention_heads", "heads"),
    count("intermediate_size", "ffn"),
    count("max_position_embeddings", "positions"),
    count("type_vocab_size", "types").absent(Value(Int(2))),
    positive("layer_norm_eps", "eps").absent(Value(Real(1e-12))),
    not_negative("initializer_range", "init_std").absent(Value(Real(0.02))),
    word("hidden_act", "act", &["gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "swish"]).absent(Model),
    dropout("hidden_dropout_prob", "hidden_dropout", 0.1),
    dropout("attention_probs_dropout_prob", "attention_dropout", 0.1),
    only("position_embedding_type", &[r#""absolute""#]),
    only("tie_word_embeddings", &["true"]),
    only("is_decoder", &["false"]),
    only("add_cross_attention", &["false"]),
    only("is_encoder_decoder", &["false"]),
    only("pruned_heads", &["{}"]),
    // Parts of the sequence one after another: the same sums.
    ignored("chunk_size_feed_forward"),
    ignored("gradient_checkpointing"),
    // The order of text, and what only heads for other tasks than masked tokens have.
    ignored("directionality"),
    ignored("classifier_dropout"),
    ignored("pooler_fc_size"),
    ignored("pooler_num_attention_heads"),
    ignored("pooler_num_fc_layers"),
    ignored("pooler_size_per_head"),
    ignored("pooler_type"),
];

// Published checkpoints are of pretraining, which also tells whether two sentences follow one another.
const NAMES: CheckpointNames = CheckpointNames {
    base: "bert.",
    buffers: &["embeddings.position_ids", "embeddings.token_type_ids"],
    others: &["bert.pooler.", "cls.seq_relationship."],
    renamed: &[(".LayerNorm.gamma", ".LayerNorm.weight"), (".LayerNorm.beta", ".LayerNorm.bias")],
    tied: &[
        ("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
        ("cls.predictions.decoder.bias", "cls.predictions.bias"),
    ],
};

pub(super) static FAMILY: Family = Family {
    model_type: "bert",
    models: &[BuiltIn::new("bert", include_str!("../../bert.hal"))],
    keys: KEYS,
    names: NAMES,
    relatives: &[
        ("roberta", "counts positions from behind that of padding, and names its parameters otherwise"),
        ("distilbert", "has no types of tokens, and names its parameters otherwise"),
        ("albert", "has one block for all layers, and embeddings of a width of their own"),
    ],
};
