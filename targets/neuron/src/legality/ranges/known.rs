//! The integer ranges known of a result.

use halite_hlo::proto::ShapeProto;
use halite_tensor::IntRange;
use std::rc::Rc;

/// The range of the elements of an array, every integer for floats; or those of the elements of a tuple.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::legality) enum Known {
    /// All elements of an array.
    One(IntRange),
    /// A tuple; what tuples within it hold is not known.
    Many(Rc<[IntRange]>),
}

impl Default for Known {
    fn default() -> Self {
        Known::One(IntRange::ALL)
    }
}

impl FromIterator<IntRange> for Known {
    fn from_iter<I: IntoIterator<Item = IntRange>>(ranges: I) -> Self {
        Known::Many(ranges.into_iter().collect())
    }
}

impl Known {
    /// Every value of a shape.
    pub(in crate::legality) fn of(shape: Option<&ShapeProto>) -> Self {
        match shape {
            Some(shape) if shape.is_tuple() => shape.tuple_shapes.iter().map(|shape| all(Some(shape))).collect(),
            shape => Known::One(all(shape)),
        }
    }

    /// The same, cut to the values of a shape.
    pub(in crate::legality) fn within(&self, shape: Option<&ShapeProto>) -> Self {
        let cut = |range: IntRange, all: IntRange| if range.within(all) { range } else { all };
        match (self, Self::of(shape)) {
            (Known::One(range), Known::One(all)) => Known::One(cut(*range, all)),
            (Known::Many(ranges), Known::Many(alls)) if ranges.len() == alls.len() => {
                ranges.iter().zip(alls.iter()).map(|(range, all)| cut(*range, *all)).collect()
            }
            (_, anything) => anything,
        }
    }

    /// The range of an array; every integer for a tuple.
    pub(super) fn one(&self) -> IntRange {
        match self {
            Known::One(range) => *range,
            Known::Many(_) => IntRange::ALL,
        }
    }

    /// The range of an element of a tuple; an array is its only element.
    pub(in crate::legality) fn element(&self, index: usize) -> IntRange {
        match self {
            Known::One(range) if index == 0 => *range,
            Known::One(_) => IntRange::ALL,
            Known::Many(ranges) => ranges.get(index).copied().unwrap_or(IntRange::ALL),
        }
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Known::One(a), Known::One(b)) => Known::One(a.union(*b)),
            (Known::Many(a), Known::Many(b)) if a.len() == b.len() => {
                a.iter().zip(b.iter()).map(|(a, b)| a.union(*b)).collect()
            }
            _ => Known::default(),
        }
    }

    /// Whether it holds nothing but floats, of which nothing is known.
    pub(super) fn is_float(&self) -> bool {
        match self {
            Known::One(range) => *range == IntRange::ALL,
            Known::Many(ranges) => ranges.iter().all(|range| *range == IntRange::ALL),
        }
    }
}

fn all(shape: Option<&ShapeProto>) -> IntRange {
    shape.and_then(ShapeProto::dtype).and_then(IntRange::of).unwrap_or(IntRange::ALL)
}
