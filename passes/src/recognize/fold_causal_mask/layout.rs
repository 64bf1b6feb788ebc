//! The query and key positions in the dimensions of a value.

use halite_analysis::{Digit, Mask};
use halite_ir::{Attr, Builder, Value};
use halite_support::Result;
use halite_tensor::{Dims, Shape};

/// The digits of indices that are the query and the key position. There are equally many of both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Axes {
    query: Digit,
    key: Digit,
}

impl Axes {
    /// Those of a causal mask.
    pub(super) fn of(mask: &Mask) -> Self {
        Self { query: mask.query, key: mask.key }
    }

    /// The number of positions.
    pub(super) fn size(self) -> usize {
        self.query.size
    }

    /// Whether the element at an index is one of those where `key <= query`.
    pub(super) fn sees(self, index: &[usize]) -> bool {
        let at = |digit: Digit| index[digit.dim] / digit.stride % digit.size;
        at(self.key) <= at(self.query)
    }

    /// Whether keys are numbered in blocks, all of whose positions a query sees together.
    pub(super) fn has_blocks(self) -> bool {
        self.key.stride > 1 && (self.key.dim != self.query.dim || self.query.stride > self.key.stride)
    }

    /// The layout of a causal mask in this shape; `None` when keys come before queries or in blocks.
    pub(super) fn layout(self, shape: &Shape) -> Option<Layout> {
        let (mut split, mut query, mut key) = (Dims::new(), None, None);
        for (dim, &size) in shape.iter().enumerate() {
            let mut digits: Vec<Digit> = [self.query, self.key].into_iter().filter(|digit| digit.dim == dim).collect();
            digits.sort_by_key(|digit| std::cmp::Reverse(digit.stride));
            let mut rest = size;
            for digit in &digits {
                let end = digit.stride * digit.size;
                if !rest.is_multiple_of(end) {
                    return None;
                }
                if rest > end {
                    split.push(rest / end);
                }
                let place = if *digit == self.query { &mut query } else { &mut key };
                *place = Some(split.len());
                split.push(digit.size);
                rest = digit.stride;
            }
            if digits.is_empty() || rest > 1 {
                split.push(rest);
            }
        }
        let dims = [query?, key?];
        (dims[0] < dims[1] && !self.has_blocks()).then_some(Layout { split: split.into(), dims })
    }
}

/// The layout of a causal mask in a shape: along `dims` of `split`, of which the shape is a reshape.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Layout {
    split: Shape,
    dims: [usize; 2],
}

impl Layout {
    /// Writes the predicate.
    pub(super) fn write(&self, b: &mut Builder<'_>, size: usize, shape: &Shape) -> Result<Value> {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let mask = b.composite("causal_mask", &[("size", Attr::Int(size))], &[])?[0];
        let spread =
            if *b.shape(mask) == self.split { mask } else { b.broadcast_in_dim(mask, &self.dims, self.split.clone())? };
        if self.split == *shape { Ok(spread) } else { b.reshape(spread, shape.clone()) }
    }
}
