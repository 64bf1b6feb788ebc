//! Passes that replace what is spelled out with the composite that it is, and the engine that matches.

pub(crate) mod fold_causal_mask;
pub(crate) mod fuse_activation;
pub(crate) mod fuse_norm;
pub(crate) mod fuse_rope;
pub(crate) mod fuse_softmax;
pub(crate) mod rewrite;
