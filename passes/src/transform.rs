//! Passes that change modules, and what they share.

use crate::framework::pass::Pass;
use std::sync::Arc;

pub(crate) mod accumulate;
pub(crate) mod accumulators;
pub(crate) mod add_to_accumulators;
pub(crate) mod adjust_loss_scale;
pub(crate) mod annotate_rounding;
pub(crate) mod auto_cast;
pub(crate) mod auto_diff;
pub(crate) mod bind_recipe;
pub(crate) mod clip;
pub(crate) mod coalesce_layers;
pub(crate) mod combine_collectives;
pub(crate) mod cse;
pub(crate) mod cut;
pub(crate) mod dce;
pub(crate) mod dispatch_dialect;
pub(crate) mod expand_composites;
pub(crate) mod finite;
pub(crate) mod fold_constant;
pub(crate) mod inline;
pub(crate) mod key_dropout;
pub(crate) mod legalize;
pub(crate) mod loss_scale;
mod micro_batch;
mod min_cut;
pub(crate) mod needed;
pub(crate) mod order_collectives;
pub(crate) mod outline_layers;
pub(crate) mod packed;
pub(crate) mod pad_uneven;
pub(crate) mod partition;
pub(crate) mod place_stages;
pub(crate) mod read_accumulators;
pub(crate) mod scalar_state;
pub(crate) mod scale_loss;
pub(crate) mod simplify;
pub(crate) mod skip;
pub(crate) mod slots;
pub(crate) mod split_backward;
pub(crate) mod split_stages;
mod split_update;
pub(crate) mod streams;
pub(crate) mod take_rank;
pub(crate) mod trained;
pub(crate) mod unscale;
pub(crate) mod update;

/// The passes of this folder, about in the order in which a step is made.
pub(crate) fn passes() -> Vec<Arc<dyn Pass>> {
    vec![
        Arc::new(bind_recipe::BindRecipe),
        Arc::new(cse::Cse),
        Arc::new(cut::Cut),
        Arc::new(dce::Dce),
        Arc::new(coalesce_layers::CoalesceLayers),
        Arc::new(pad_uneven::PadUneven),
        Arc::new(place_stages::PlaceStages),
        Arc::new(partition::PlaceWeights),
        Arc::new(key_dropout::KeyDropout),
        Arc::new(scale_loss::ScaleLoss),
        Arc::new(auto_diff::AutoDiff),
        Arc::new(auto_cast::AutoCast),
        Arc::new(accumulate::Accumulate),
        Arc::new(add_to_accumulators::AddToAccumulators),
        Arc::new(read_accumulators::ReadAccumulators),
        Arc::new(unscale::Unscale),
        Arc::new(clip::Clip),
        Arc::new(finite::Finite),
        Arc::new(adjust_loss_scale::AdjustLossScale),
        Arc::new(update::Update),
        Arc::new(partition::Partition),
        Arc::new(take_rank::TakeRank),
        Arc::new(split_stages::SplitStages),
        Arc::new(split_update::SplitUpdate),
        Arc::new(split_backward::SplitBackward),
        Arc::new(simplify::Simplify::default()),
        Arc::new(fold_constant::FoldConstant),
        Arc::new(dispatch_dialect::DispatchDialect),
        Arc::new(expand_composites::ExpandComposites),
        Arc::new(inline::Inline),
        Arc::new(annotate_rounding::AnnotateRounding),
        Arc::new(outline_layers::OutlineLayers),
        Arc::new(order_collectives::OrderCollectives),
        Arc::new(combine_collectives::CombineCollectives),
        Arc::new(legalize::Legalize),
    ]
}
