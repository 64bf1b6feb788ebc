//! The list of our passes.

use crate::framework::pass::Pass;
use crate::framework::registry::PassRegistry;
use crate::recognize::rewrite::Fusion;
use crate::transform::dispatch_dialect::DispatchDialect;
use crate::{analysis, recognize, transform};
use std::sync::Arc;

impl PassRegistry {
    /// The built-in passes.
    pub fn builtin() -> Self {
        let passes: [Arc<dyn Pass>; 33] = [
            Arc::new(transform::bind_recipe::BindRecipe),
            Arc::new(analysis::check_causality::CheckCausality),
            Arc::new(transform::cse::Cse),
            Arc::new(transform::cut::Cut),
            Arc::new(transform::dce::Dce),
            Arc::new(recognize::fold_causal_mask::FoldCausalMask),
            Arc::new(transform::coalesce_layers::CoalesceLayers),
            Arc::new(transform::pad_uneven::PadUneven),
            Arc::new(transform::key_dropout::KeyDropout),
            Arc::new(transform::scale_loss::ScaleLoss),
            Arc::new(transform::auto_diff::AutoDiff),
            Arc::new(transform::auto_cast::AutoCast),
            Arc::new(transform::accumulate::Accumulate),
            Arc::new(transform::add_to_accumulators::AddToAccumulators),
            Arc::new(transform::read_accumulators::ReadAccumulators),
            Arc::new(transform::unscale::Unscale),
            Arc::new(transform::clip::Clip),
            Arc::new(transform::finite::Finite),
            Arc::new(transform::adjust_loss_scale::AdjustLossScale),
            Arc::new(transform::update::Update),
            Arc::new(transform::partition::Partition),
            Arc::new(transform::take_rank::TakeRank),
            Arc::new(transform::simplify::Simplify::default()),
            Arc::new(transform::fold_constant::FoldConstant),
            Arc::new(DispatchDialect),
            Arc::new(transform::expand_composites::ExpandComposites),
            Arc::new(transform::inline::Inline),
            Arc::new(transform::annotate_rounding::AnnotateRounding),
            Arc::new(transform::outline_layers::OutlineLayers),
            Arc::new(transform::combine_collectives::CombineCollectives),
            Arc::new(transform::legalize::Legalize),
            Arc::new(analysis::check_precision::CheckPrecision),
            Arc::new(analysis::check_replicas::CheckReplicas),
        ];
        let fusions = fusions().map(|pass| Arc::new(pass) as Arc<dyn Pass>);
        Self::new(passes.into_iter().chain(fusions))
    }
}

/// The passes that recognize composites spelled out, in the order of the pipeline.
pub fn fusions() -> [Fusion; 4] {
    [
        recognize::fuse_rope::pass(),
        recognize::fuse_norm::pass(),
        recognize::fuse_activation::pass(),
        recognize::fuse_softmax::pass(),
    ]
}
