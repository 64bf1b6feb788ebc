//! Passes that replace what is spelled out with the composite that it is, and the engine that matches.

use crate::framework::pass::Pass;
use rewrite::Fusion;
use std::sync::Arc;

pub(crate) mod fold_causal_mask;
pub(crate) mod fuse_activation;
pub(crate) mod fuse_norm;
pub(crate) mod fuse_rope;
pub(crate) mod fuse_softmax;
pub(crate) mod rewrite;

/// The passes of this folder, in the order of the pipeline.
pub(crate) fn passes() -> Vec<Arc<dyn Pass>> {
    let fusions = fusions().into_iter().map(|pass| Arc::new(pass) as Arc<dyn Pass>);
    [Arc::new(fold_causal_mask::FoldCausalMask) as Arc<dyn Pass>].into_iter().chain(fusions).collect()
}

/// The passes that recognize composites spelled out, in the order of the pipeline.
pub fn fusions() -> [Fusion; 4] {
    [fuse_rope::pass(), fuse_norm::pass(), fuse_activation::pass(), fuse_softmax::pass()]
}
