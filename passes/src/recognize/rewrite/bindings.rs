//! The values of a pattern's names in a match.

use super::view::{MatchCx, View};
use halite_ir::Value;
use halite_tensor::{Dims, Shape};
use smallvec::SmallVec;
use std::borrow::Cow;

/// One way in which a pattern fits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    tensors: SmallVec<[(&'static str, Bound); 4]>,
    numbers: SmallVec<[(&'static str, f64); 2]>,
    dims: SmallVec<[(&'static str, Dims); 2]>,
    /// The values of the instructions that the pattern names, root first; each once.
    pub(super) insts: SmallVec<[Value; 12]>,
    /// The obstacles to the rule.
    pub(super) obstacles: SmallVec<[Cow<'static, str>; 1]>,
}

/// Whether a rule applies; the error is the obstacle.
pub(crate) type MatchResult = std::result::Result<(), String>;

/// A tensor that a name stands for.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// The value that was met first.
    pub(crate) view: View,
    /// The tensor whose elements it shows.
    pub(crate) base: View,
}

impl Bindings {
    /// Binds a name, or compares with what it stands for already.
    pub(super) fn bind_tensor(&mut self, name: &'static str, view: &View, cx: &MatchCx<'_>) -> bool {
        let base = cx.base(view);
        match self.tensor(name) {
            Some(bound) => bound.base == base,
            None => {
                self.tensors.push((name, Bound { view: view.clone(), base }));
                true
            }
        }
    }

    /// As [`bind_tensor`](Self::bind_tensor), for a number.
    pub(super) fn bind_number(&mut self, name: &'static str, number: f64) -> bool {
        match self.number(name) {
            Some(bound) => bound.to_bits() == number.to_bits(),
            None => {
                self.numbers.push((name, number));
                true
            }
        }
    }

    /// As [`bind_tensor`](Self::bind_tensor), for dimensions.
    pub(super) fn bind_dims(&mut self, name: &'static str, dims: Dims) -> bool {
        match self.dims(name) {
            Some(bound) => bound == dims.as_slice(),
            None => {
                self.dims.push((name, dims));
                true
            }
        }
    }

    /// The tensor that a name stands for.
    pub(crate) fn tensor(&self, name: &str) -> Option<&Bound> {
        self.tensors.iter().find(|(own, _)| *own == name).map(|(_, bound)| bound)
    }

    /// The number that a name stands for.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.numbers.iter().find(|(own, _)| *own == name).map(|(_, number)| *number)
    }

    /// The dimensions that a name stands for.
    pub(crate) fn dims(&self, name: &str) -> Option<&[usize]> {
        self.dims.iter().find(|(own, _)| *own == name).map(|(_, dims)| dims.as_slice())
    }

    /// The number of elements of `shape` along the dimensions that a name stands for.
    pub(super) fn size(&self, name: &str, shape: &Shape) -> Option<f64> {
        let sizes = self.dims(name)?.iter().map(|&dim| shape.get(dim).copied());
        sizes.product::<Option<usize>>().map(|size| size as f64)
    }

    /// Notes an instruction.
    pub(super) fn visit(&mut self, result: Value) {
        if !self.insts.contains(&result) {
            self.insts.push(result);
        }
    }

    /// Notes an obstacle; where a pattern repeats itself, it is noted once.
    pub(super) fn block(&mut self, obstacle: impl Into<Cow<'static, str>>) {
        let obstacle = obstacle.into();
        if !self.obstacles.contains(&obstacle) {
            self.obstacles.push(obstacle);
        }
    }
}
