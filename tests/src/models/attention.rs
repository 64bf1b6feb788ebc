//! Functions that attention with dropout is written with.

use halite::model::{Argument, ModelBuilder, Tensor};

pub(super) fn dropout<'b>(m: &'b ModelBuilder, x: Tensor<'b>, rate: f64) -> Tensor<'b> {
    m.call("dropout", [x]).named("rate", rate).one()
}

/// The probabilities that scores `[.., seq, seq]` give to positions that are not later.
pub(super) fn causal_softmax<'b>(m: &'b ModelBuilder, scores: Tensor<'b>) -> Tensor<'b> {
    let mask = m.call("causal_mask", [] as [Argument; 0]).named("size", scores.dim(-1)).one().broadcast(scores.shape());
    m.call("softmax", [m.call("where", [Argument::from(mask), scores.into(), (-1e30).into()]).one()]).one()
}
