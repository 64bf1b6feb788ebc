//! The parts of a tensor along a side of its grid, and the ranks that hold a part.

use halite_support::units::grouped;
use halite_tensor::{DimShards, Mesh, SubAxis, SubAxisId};
use std::collections::BTreeMap;

/// The most parts of a side that are all drawn; of more, the first ones and the last.
pub(super) const MOST: usize = 8;
/// The parts that are drawn before the gap.
const FIRST: usize = 4;
/// The most runs of ranks that are spelled out.
const RUNS: usize = 8;

/// A side of a grid: parts within parts, the outermost first. Dimensions that follow one another are one side.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Side(Vec<Level>);

/// So many parts that follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Level {
    count: usize,
    /// The sub-axis of the mesh along which ranks hold different ones; `None` where each rank has something of all.
    sub_axis: Option<SubAxisId>,
}

impl Side {
    pub(super) fn new<'a>(dims: impl Iterator<Item = (&'a usize, &'a DimShards)>) -> Self {
        let mut levels = Vec::new();
        for (&size, digits) in dims {
            let mut left = size;
            for digit in digits {
                levels.push(Level { count: left / (digit.size * digit.stride), sub_axis: None });
                levels.push(Level { count: digit.size, sub_axis: Some(digit.sub_axis) });
                left = digit.stride;
            }
            levels.push(Level { count: left, sub_axis: None });
        }
        let last = levels.iter().rposition(|level| level.sub_axis.is_some());
        levels.truncate(last.map_or(0, |last| last + 1));
        levels.retain(|level| level.count > 1);
        Self(levels)
    }

    /// The number of parts.
    pub(super) fn parts(&self) -> usize {
        self.0.iter().fold(1, |parts, level| parts.saturating_mul(level.count))
    }

    /// The sub-axes of the mesh that cut it.
    pub(super) fn sub_axes(&self) -> impl Iterator<Item = SubAxisId> + '_ {
        self.0.iter().filter_map(|level| level.sub_axis)
    }

    /// The parts that are drawn where so many are not too many, and `None` for a gap.
    pub(super) fn shown(&self, most: usize) -> Vec<Option<usize>> {
        match self.parts() {
            parts if parts <= most.clamp(FIRST + 1, MOST) => (0..parts).map(Some).collect(),
            parts => (0..FIRST).map(Some).chain([None, Some(parts - 1)]).collect(),
        }
    }

    /// The coordinates of the ranks that hold a part.
    pub(super) fn coordinates(&self, part: usize) -> impl Iterator<Item = (SubAxisId, usize)> + '_ {
        let places = self.0.iter().zip(self.digits(part));
        places.filter_map(|(level, digit)| Some((level.sub_axis?, digit)))
    }

    /// The sub-axis of the mesh along which the ranks differ that hold a part and the one before it.
    pub(super) fn before(&self, part: usize) -> Option<SubAxisId> {
        let (own, other) = (self.digits(part), self.digits(part.saturating_sub(1)));
        let differs = own.iter().zip(&other).position(|(own, other)| own != other)?;
        self.0.get(differs)?.sub_axis
    }

    fn digits(&self, part: usize) -> Vec<usize> {
        let mut left = part;
        let mut digits: Vec<usize> = self.0.iter().rev().map(|level| take(&mut left, level.count)).collect();
        digits.reverse();
        digits
    }
}

/// The lowest digit of a number to this base, which is taken off.
fn take(number: &mut usize, base: usize) -> usize {
    let digit = *number % base;
    *number /= base;
    digit
}

/// The ranks with some coordinates: runs of ranks that follow one another.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Ranks {
    /// The first ranks of the runs: all of them, or as many as are spelled out.
    starts: Vec<usize>,
    last: usize,
    /// The ranks of a run.
    length: usize,
    /// The number of all ranks that have the coordinates.
    count: usize,
    all: bool,
}

impl Ranks {
    pub(super) fn new(mesh: &Mesh, coordinates: &BTreeMap<SubAxisId, usize>) -> Self {
        let first: usize = coordinates.iter().map(|(&id, at)| at * mesh.sub_axes()[id].stride).sum();
        let free = mesh.sub_axes().iter().enumerate().filter(|(id, _)| !coordinates.contains_key(id));
        let free: Vec<SubAxis> = free.map(|(_, sub_axis)| *sub_axis).collect();
        let (mut length, mut outer) = (1, free.as_slice());
        while let Some((last, more)) = outer.split_last().filter(|(last, _)| last.stride == length) {
            (length, outer) = (length * last.size, more);
        }
        let runs: usize = outer.iter().map(|sub_axis| sub_axis.size).product();
        let start = |run: usize| {
            let mut left = run;
            let steps = outer.iter().rev().map(|sub_axis| take(&mut left, sub_axis.size) * sub_axis.stride);
            first + steps.sum::<usize>()
        };
        let starts = (0..runs.min(RUNS + 1)).map(start).collect();
        Self { starts, last: start(runs - 1), length, count: runs * length, all: coordinates.is_empty() }
    }

    /// Texts that say which ranks these are, the longest one first.
    pub(super) fn texts(&self) -> Vec<Vec<String>> {
        if self.all {
            return vec![vec![format!("all {} ranks", grouped(self.count as u64))], vec!["all".to_owned()]];
        }
        let run = |start: &usize| match self.length {
            1 => start.to_string(),
            length => format!("{start}–{}", start + length - 1),
        };
        let runs: Vec<String> = self.starts.iter().map(run).collect();
        if runs.len() == 1 {
            return vec![runs];
        }
        let gap = || "…".to_owned();
        let to_last = |first: usize| [&runs[..first], &[gap(), run(&self.last)]].concat();
        let all = (runs.len() <= RUNS).then(|| runs.clone());
        let shorter = [3, 2, 1].into_iter().filter(|first| first + 1 < runs.len()).map(to_last);
        all.into_iter().chain(shorter).chain([vec![runs[0].clone(), gap()]]).collect()
    }
}
