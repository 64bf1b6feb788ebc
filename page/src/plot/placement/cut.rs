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

    /// Whether rank 0 is one of them.
    pub(super) fn starts_at_0(&self) -> bool {
        self.starts.first() == Some(&0)
    }

    /// Texts that say which ranks these are, as words that may stand in a line each: the longest one first.
    pub(super) fn texts(&self) -> Vec<Vec<String>> {
        if self.all {
            return vec![vec![format!("all {} ranks", grouped(self.count as u64))], vec!["all".to_owned()]];
        }
        let run = |start: &usize| match self.length {
            1 => start.to_string(),
            length => format!("{start}–{}", start + length - 1),
        };
        let runs: Vec<String> = self.starts.iter().map(run).collect();
        if let [only] = &runs[..] {
            let apart = only.split_inclusive('–').map(str::to_owned).collect();
            return vec![vec![only.clone()], apart];
        }
        let gap = || "…".to_owned();
        let to_last = |first: usize| [&runs[..first], &[gap(), run(&self.last)]].concat();
        let all = (runs.len() <= RUNS).then(|| runs.clone());
        let shorter = [3, 2, 1].into_iter().filter(|first| first + 1 < runs.len()).map(to_last);
        let lists = all.into_iter().chain(shorter).chain([vec![runs[0].clone(), gap()]]);
        lists.map(|list| with_commas(&list)).collect()
    }
}

/// A list as words, each but the last with a comma.
fn with_commas(list: &[String]) -> Vec<String> {
    let comma = |at: usize| if at + 1 < list.len() { "," } else { "" };
    list.iter().enumerate().map(|(at, word)| format!("{word}{}", comma(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_tensor::{DType, DimShard, HostTensor, Shape, Sharding};

    const SHAPE: [usize; 3] = [4, 12, 6];

    fn sides(sharding: &Sharding) -> [Side; 2] {
        let side = |from: usize, to: usize| Side::new(SHAPE[from..to].iter().zip(&sharding.0[from..to]));
        [side(0, 2), side(2, 3)]
    }

    /// The ranks that a text spells out.
    fn spelled(text: &[String], ranks: usize) -> Vec<usize> {
        let words: Vec<&str> = text.iter().map(|word| word.trim_end_matches(',')).collect();
        let number = |word: &str| word.parse::<usize>().unwrap();
        let run = |word: &&str| match word.split_once('–') {
            Some((first, last)) => number(first)..=number(last),
            None => number(word)..=number(word),
        };
        if words[0].starts_with("all ") {
            return (0..ranks).collect();
        }
        let mut all: Vec<usize> = words.iter().flat_map(run).collect();
        all.sort_unstable();
        all
    }

    /// Blocks, parts of each part, two axes on a dimension, dimensions that each rank has all of before others.
    fn shardings() -> Vec<Sharding> {
        let on = |sub_axis, size, stride| DimShard { sub_axis, size, stride };
        let none = || Sharding::replicated(3);
        vec![
            none(),
            none().with(0, on(0, 2, 2)),
            none().with(1, on(1, 2, 6)).with(1, on(2, 3, 2)),
            none().with(1, on(2, 3, 1)).with(1, on(0, 2, 6)),
            none().with(0, on(1, 2, 1)).with(2, on(2, 3, 2)).with(1, on(0, 2, 3)),
            none().with(2, on(0, 2, 3)).with(2, on(2, 3, 1)),
        ]
    }

    /// Of a part those ranks are told that hold its elements.
    #[test]
    fn parts_are_those_that_ranks_hold() {
        let mesh = Mesh::new([("data", 2), ("tensor", 6)]).unwrap();
        let elements = SHAPE.iter().product::<usize>();
        let whole = HostTensor::from_ints(DType::S32, Shape::from(SHAPE), (0..elements).map(|at| at as i128));
        for sharding in shardings() {
            let held: Vec<Vec<i128>> =
                (0..12).map(|rank| sharding.shard(&mesh, &whole, rank).unwrap().ints()).collect();
            let [down, across] = sides(&sharding);
            for element in 0..elements {
                let (row, column) = (element / SHAPE[2], element % SHAPE[2]);
                let row = row * down.parts() / (SHAPE[0] * SHAPE[1]);
                let column = column * across.parts() / SHAPE[2];
                let coordinates = down.coordinates(row).chain(across.coordinates(column)).collect();
                let holds = |rank: &usize| held[*rank].contains(&(element as i128));
                let expected: Vec<usize> = (0..12).filter(holds).collect();
                let texts = Ranks::new(&mesh, &coordinates).texts();
                assert_eq!(spelled(&texts[0], 12), expected, "{sharding:?} {element} {texts:?}");
            }
        }
    }

    #[test]
    fn lines_between_parts_are_of_the_axis_along_which_ranks_differ() {
        let [down, across] = sides(&shardings()[2]);
        assert_eq!((1..6).map(|part| down.before(part)).collect::<Vec<_>>(), [2, 2, 1, 2, 2].map(Some));
        assert_eq!((across.parts(), across.before(1)), (1, None));
        let [down, _] = sides(&shardings()[4]);
        assert_eq!((1..5).map(|part| down.before(part)).collect::<Vec<_>>(), [Some(0), None, Some(0), Some(1)]);
    }

    #[test]
    fn many_parts_and_ranks_are_told_by_the_first_and_the_last() {
        let mesh = Mesh::new([("data", 64), ("tensor", 64)]).unwrap();
        let digits = (0..6).fold(Sharding::replicated(1), |sharding, at| {
            sharding.with(0, DimShard { sub_axis: at, size: 2, stride: 32 >> at })
        });
        let side = Side::new([64].iter().zip(&digits.0));
        assert_eq!(side.shown(8), [Some(0), Some(1), Some(2), Some(3), None, Some(63)]);
        let texts = |part: usize, side: &Side| Ranks::new(&mesh, &side.coordinates(part).collect()).texts();
        assert_eq!(texts(63, &side), [vec!["4032–4095"], vec!["4032–", "4095"]]);
        let digits = Sharding::replicated(1).with(0, DimShard { sub_axis: 11, size: 2, stride: 1 });
        let side = Side::new([2].iter().zip(&digits.0));
        assert_eq!(side.shown(8), [Some(0), Some(1)]);
        let expected = [vec!["1,", "3,", "5,", "…,", "4095"], vec!["1,", "3,", "…,", "4095"], vec!["1,", "…,", "4095"]];
        assert_eq!(texts(1, &side)[..3], expected);
        assert_eq!(texts(1, &side)[3], ["1,", "…"]);
        assert_eq!(Ranks::new(&mesh, &BTreeMap::new()).texts()[0], ["all 4,096 ranks"]);
    }
}
