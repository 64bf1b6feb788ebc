//! Parts of stored buffers, and the elements of the model's tensors that lie there.

use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{Dims, Packing, Shape};
use std::ops::Range;

/// Ranges of the dimensions of a stored buffer. Its elements count row by row.
#[derive(Debug)]
pub(super) struct Cut<'p> {
    /// The range of each dimension, with its stride in the stored buffer, in elements.
    dims: Vec<(Range<usize>, usize)>,
    /// The number of dimensions before those whose elements follow one another.
    outer: usize,
    /// The number of elements that follow one another.
    width: usize,
    packed: Option<Packed<'p>>,
}

/// The packing of a buffer, with its sizes in elements.
#[derive(Debug)]
struct Packed<'p> {
    packing: &'p Packing,
    /// Rows in the share of a rank, and elements in a row.
    rows: usize,
    row: usize,
}

/// Elements of a part that follow one another there, and are those of one tensor of the model in equal steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// The index of one of the tensors that are stored; `None` for padding.
    pub(super) tensor: Option<usize>,
    /// The position of the first in that tensor.
    pub(super) first: usize,
    /// The distance from one to the next.
    pub(super) step: usize,
    pub(super) count: usize,
}

impl<'p> Cut<'p> {
    /// All of a tensor as the model has it.
    pub(super) fn whole(shape: &[usize]) -> Self {
        let ranges: Vec<_> = shape.iter().map(|&size| 0..size).collect();
        Self::within(shape, &ranges, None)
    }

    /// Ranges of the buffer `name`.
    ///
    /// # Errors
    /// When there is not one range for each dimension, within it.
    pub(super) fn new(
        name: &str,
        shape: &[usize],
        ranges: &[Range<usize>],
        packing: Option<&'p Packing>,
    ) -> Result<Self> {
        let error = |message: String| Err(Diagnostic::error(codes::SHAPE, message));
        if ranges.len() != shape.len() {
            let (dims, given) = (shape.len(), ranges.len());
            return error(format!("`{name}` has {dims} dimensions, and {given} ranges are given"));
        }
        let is_outside = |(range, size): &(&Range<usize>, &usize)| range.start > range.end || range.end > **size;
        if let Some((dim, (range, size))) = ranges.iter().zip(shape).enumerate().find(|(_, pair)| is_outside(pair)) {
            return error(format!("{range:?} is no range of dimension {dim} of `{name}`, which has {size} elements"));
        }
        Ok(Self::within(shape, ranges, packing))
    }

    fn within(shape: &[usize], ranges: &[Range<usize>], packing: Option<&'p Packing>) -> Self {
        let stride = |dim: usize| shape[dim + 1..].iter().product();
        let dims = ranges.iter().enumerate().map(|(dim, range)| (range.clone(), stride(dim)));
        let is_cut = |dim: &usize| ranges[*dim].len() < shape[*dim];
        let outer = (0..shape.len()).rev().find(is_cut).unwrap_or(0);
        let packed = packing.map(|packing| Packed { packing, rows: shape[1], row: shape[2..].iter().product() });
        Self { dims: dims.collect(), outer, width: ranges[outer..].iter().map(Range::len).product(), packed }
    }

    pub(super) fn shape(&self) -> Shape {
        self.dims.iter().map(|(range, _)| range.len()).collect()
    }

    /// The elements that follow one another from number `at` of the part, which has as many.
    pub(super) fn run(&self, at: usize) -> Run {
        let (mut row, column) = (at / self.width, at % self.width);
        let begin: usize = self.dims[self.outer..].iter().map(|(range, stride)| range.start * stride).sum();
        let mut first = begin + column;
        for (range, stride) in self.dims[..self.outer].iter().rev() {
            first += (range.start + row % range.len()) * stride;
            row /= range.len();
        }
        let run = Run { tensor: Some(0), first, step: 1, count: self.width - column };
        self.packed.as_ref().map_or(run, |packed| packed.run(run))
    }
}

impl Packed<'_> {
    /// The elements of the first row that a run of the stored buffer is in.
    fn run(&self, stored: Run) -> Run {
        let (row, column) = (stored.first / self.row, stored.first % self.row);
        let (rank, row) = (row / self.rows, row % self.rows);
        let padding = Run { tensor: None, first: 0, step: 1, count: stored.count.min(self.row - column) };
        let found = self.packing.spans().enumerate().find(|(_, (_, rows))| rows.contains(&row));
        let Some((tensor, (part, rows))) = found else { return padding };
        let row = rank / part.copies * rows.len() + row - rows.start;
        let sizes: Dims = part.rows_first();
        if row >= sizes[0] {
            return padding;
        }
        let (first, step) =
            if part.transposed { (column * sizes[0] + row, sizes[0]) } else { (row * self.row + column, 1) };
        Run { tensor: Some(tensor), first, step, ..padding }
    }
}
