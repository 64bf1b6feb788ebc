//! How checkpoints of Transformers name tensors.

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

impl CheckpointNames {
    /// The names of decoders with rotary positions, which those of Llama set.
    pub(crate) const DECODER: Self = Self {
        base: "model.",
        buffers: &[".rotary_emb.inv_freq"],
        others: &[],
        renamed: &[],
        tied: &[("lm_head.weight", "model.embed_tokens.weight")],
    };
}
