//! How checkpoints of Hugging Face's Transformers name the tensors of the built-in models.

/// How checkpoints of a family name tensors.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointNames {
    /// What the names of all parameters of the inner module begin with; some files leave it out.
    pub base: &'static str,
    /// The last parts of the names of tensors that are computed, not trained.
    pub buffers: &'static [&'static str],
    /// What the names of tensors begin with that belong to other tasks, and that the model has not.
    pub others: &'static [&'static str],
    /// Endings of names as older files have them, each with what it is now.
    pub renamed: &'static [(&'static str, &'static str)],
    /// Tensors of the output that a file may have beside others or in their place where the two are one, such as the projection, which
    /// may be the embedding table.
    pub tied: &'static [(&'static str, &'static str)],
}

/// The names of Llama and those who took them over.
const LLAMA: CheckpointNames = CheckpointNames {
    base: "model.",
    buffers: &[".rotary_emb.inv_freq"],
    others: &[],
    renamed: &[],
    tied: &[("lm_head.weight", "model.embed_tokens.weight")],
};

/// The names of GPT-2.
const GPT2: CheckpointNames = CheckpointNames {
    base: "transformer.",
    buffers: &[".attn.bias", ".attn.masked_bias"],
    others: &[],
    renamed: &[],
    tied: &[("lm_head.weight", "transformer.wte.weight")],
};

/// The names of BERT. Published checkpoints are of pretraining, which also tells whether two sentences follow one another.
const BERT: CheckpointNames = CheckpointNames {
    base: "bert.",
    buffers: &["embeddings.position_ids", "embeddings.token_type_ids"],
    others: &["bert.pooler.", "cls.seq_relationship."],
    renamed: &[(".LayerNorm.gamma", ".LayerNorm.weight"), (".LayerNorm.beta", ".LayerNorm.bias")],
    tied: &[
        ("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
        ("cls.predictions.decoder.bias", "cls.predictions.bias"),
    ],
};

/// How checkpoints name the tensors of a built-in model.
pub fn checkpoint_names(model: &str) -> Option<CheckpointNames> {
    match model {
        "bert" => Some(BERT),
        "gpt2" => Some(GPT2),
        "llama" | "llama3" | "mistral" | "qwen2" => Some(LLAMA),
        _ => None,
    }
}
