//! One reading of each operand of an op, in terms of the factors of its dimensions.

use super::free::{Stretches, holds};
use super::state::{Cause, Part};
use halite_tensor::SubAxisId;
use smallvec::SmallVec;

/// A digit of a factor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InFactor {
    pub(super) factor: usize,
    pub(super) stride: usize,
    pub(super) sub_axis: SubAxisId,
}

/// A reading of an operand with a factor for each digit.
pub(super) struct View {
    /// The lowest of each factor first.
    pub(super) at: Vec<InFactor>,
    pub(super) parts: SmallVec<[(SubAxisId, Part, Cause); 2]>,
}

/// The placement of the results along a sub-axis.
#[derive(Clone)]
pub(super) enum Outcome {
    Same,
    At(InFactor),
    Part(Part, Cause),
}

/// One view of each operand.
pub(super) struct Question<'a> {
    pub(super) views: &'a [&'a View],
    /// The stretches along which each operand repeats itself within each factor; `None` for factors that it does not have.
    pub(super) free: &'a [Vec<Option<Stretches>>],
    /// Of two places that count as much, whether the later operand's is taken.
    pub(super) later: bool,
}

impl Question<'_> {
    /// Whether no operand holds the whole of a digit that others shard.
    pub(super) fn agrees(&self, at: InFactor) -> bool {
        self.views.iter().zip(self.free).all(|(view, free)| {
            let here = view.at.iter().any(|other| other.sub_axis == at.sub_axis);
            here || free[at.factor].as_ref().is_none_or(|free| holds(free, at.stride))
        })
    }
}
