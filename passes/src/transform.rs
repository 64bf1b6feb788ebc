//! Passes that change modules, and what they share.

pub(crate) mod accumulate;
pub(crate) mod accumulators;
pub(crate) mod add_to_accumulators;
pub(crate) mod annotate_rounding;
pub(crate) mod auto_cast;
pub(crate) mod auto_diff;
pub(crate) mod bind_recipe;
pub(crate) mod clip;
pub(crate) mod coalesce_layers;
pub(crate) mod cse;
pub(crate) mod dce;
pub(crate) mod dispatch_dialect;
pub(crate) mod expand_composites;
pub(crate) mod finite;
pub(crate) mod fold_constant;
pub(crate) mod inline;
pub(crate) mod legalize;
pub(crate) mod packed;
pub(crate) mod read_accumulators;
pub(crate) mod simplify;
pub(crate) mod skip;
pub(crate) mod slots;
pub(crate) mod trained;
pub(crate) mod update;
