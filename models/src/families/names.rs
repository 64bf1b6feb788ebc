//! Names of tensors in checkpoints of Transformers.

/// The names of tensors in the checkpoints of a family.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointNames {
    /// The prefix of the names of all parameters of the inner module; some files leave it out.
    pub base: &'static str,
    /// The last parts of the names of tensors that are computed, not trained.
    pub buffers: &'static [&'static str],
    /// Prefixes of the names of tensors that belong to other tasks and that the model does not have.
    pub others: &'static [&'static str],
    /// Endings of names in older files, each with its present form.
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
