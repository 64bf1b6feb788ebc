//! Dimensions of size 1 on each rank, which a program may move past others by no instruction at all.

use super::question::{InFactor, Outcome, Question, View};
use super::state::{Cause, Part};
use halite_ir::Op;
use halite_ir::dims::{DimFactors, FactorKind, FactorMap};
use halite_ir::ops::Reduction;
use halite_tensor::SubAxisId;

/// An op of a program in which moves are not written.
pub(super) struct Unwritten<'a> {
    pub(super) map: &'a FactorMap,
    pub(super) op: &'a Op,
    pub(super) cause: Cause,
}

impl Unwritten<'_> {
    /// One of two places of a digit. What lies at the edge of a dimension is, on one rank, a dimension of size 1, which is moved past others
    /// by no instruction at all: then what is summed, and what more operands have, says where it is.
    pub(super) fn either(&self, x: InFactor, y: InFactor, later: bool) -> Option<InFactor> {
        let weight = |at: InFactor| {
            let summed = matches!(self.map.factors[at.factor].kind, FactorKind::Contracted(_));
            let has = |dims: &&Vec<DimFactors>| dims.iter().flatten().any(|id| id.index() == at.factor);
            (summed, self.map.operands.iter().filter(has).count())
        };
        match (self.is_edge(x), self.is_edge(y)) {
            (true, true) => Some(if (weight(y), later) > (weight(x), false) { y } else { x }),
            (true, false) => Some(y),
            (false, true) => Some(x),
            (false, false) => None,
        }
    }

    /// Another place for a digit at the edge of a dimension, one that all who shard something have and nobody has as a whole.
    pub(super) fn elsewhere(&self, at: InFactor, question: &Question<'_>) -> Option<InFactor> {
        let factors =
            (0..self.map.factors.len()).filter(|&factor| self.map.factors[factor].kind == FactorKind::Parallel);
        let places = factors.flat_map(|factor| {
            [1, self.map.factors[factor].size].map(|stride| InFactor { factor, stride, sub_axis: at.sub_axis })
        });
        let has = |place: &InFactor| {
            question.views.iter().zip(question.free).all(|(view, free)| {
                !view.at.iter().any(|other| other.sub_axis == at.sub_axis) || free[place.factor].is_some()
            })
        };
        places.into_iter().find(|place| self.is_edge(at) && has(place) && question.agrees(*place))
    }

    fn is_edge(&self, at: InFactor) -> bool {
        at.stride == 1 || at.stride == self.map.factors[at.factor].size
    }

    /// Outcomes of a product of batches, and the same with heads that are one on each rank, which no instruction moves, elsewhere: what both
    /// operands hold at the edge of what is summed as part of the batch, and the lowest part of the batch as that of the last dimension, or of what
    /// is summed, as heads are that share a key head.
    pub(super) fn moved(&self, outcomes: Vec<Outcome>, views: &[&View]) -> Vec<Vec<Outcome>> {
        let Op::DotGeneral(dot) = self.op else { return vec![outcomes] };
        let dims = &self.map.results[0];
        let ends =
            (dot.batch.0.len().checked_sub(1).and_then(|dim| dims[dim].last()), dims.last().and_then(|dim| dim.last()));
        let (Some(batch), Some(last)) = ends else { return vec![outcomes] };
        let (batch, last) = (batch.index(), last.index());
        let edge = |sub_axis: SubAxisId| {
            let at = |view: &&View| view.at.iter().find(|at| at.sub_axis == sub_axis).copied();
            views.iter().all(|view| at(view).is_some_and(|at| self.is_edge(at)))
        };
        let into = |(sub_axis, outcome): (SubAxisId, &Outcome)| match outcome {
            Outcome::Part(Part::Partial(_), _) if edge(sub_axis) => {
                Outcome::At(InFactor { factor: batch, stride: 1, sub_axis })
            }
            _ => outcome.clone(),
        };
        let out_of = |(sub_axis, outcome): (SubAxisId, &Outcome)| match outcome {
            Outcome::At(at) if at.factor == batch && at.stride == 1 => {
                Outcome::At(InFactor { factor: last, stride: self.map.factors[last].size, sub_axis })
            }
            _ => outcome.clone(),
        };
        let into: Vec<Outcome> = outcomes.iter().enumerate().map(into).collect();
        let mut all = vec![into.clone(), into.iter().enumerate().map(out_of).collect(), outcomes];
        let mut summed = into;
        for sub_axis in (0..summed.len()).rev().filter(|&sub_axis| edge(sub_axis)) {
            if matches!(summed[sub_axis], Outcome::At(at) if at.factor == batch && at.stride == 1) {
                summed[sub_axis] = Outcome::Part(Part::Partial(Reduction::Sum), self.cause);
                all.push(summed.clone());
            }
        }
        all
    }
}
