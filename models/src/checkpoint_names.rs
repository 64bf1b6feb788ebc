//! How checkpoints of Hugging Face's Transformers name the tensors of the built-in models.

/// How checkpoints of a family name tensors.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointNames {
    /// What the names of all parameters of the inner module begin with; some files leave it out.
    pub base: &'static str,
    /// The last parts of the names of tensors that are computed, not trained.
    pub buffers: &'static [&'static str],
    /// The output projection, which a file may have beside the embedding table or in its place where the two are one.
    pub output: &'static str,
    /// The embedding table.
    pub table: &'static str,
}

/// The names of Llama and those who took them over.
const LLAMA: CheckpointNames = CheckpointNames {
    base: "model.",
    buffers: &[".rotary_emb.inv_freq"],
    output: "lm_head.weight",
    table: "model.embed_tokens.weight",
};

/// The names of GPT-2.
const GPT2: CheckpointNames = CheckpointNames {
    base: "transformer.",
    buffers: &[".attn.bias", ".attn.masked_bias"],
    output: "lm_head.weight",
    table: "transformer.wte.weight",
};

/// How checkpoints name the tensors of a built-in model.
pub fn checkpoint_names(model: &str) -> Option<CheckpointNames> {
    match model {
        "gpt2" => Some(GPT2),
        "llama" | "llama3" | "mistral" | "qwen2" => Some(LLAMA),
        _ => None,
    }
}
