//! Ranges of the entries of index vectors, one for each place in them.

use super::{Ranges, literal, transfer};
use halite_hlo::graph::Graph;
use halite_hlo::proto::ShapeProto;
use halite_tensor::IntRange;

/// The most instructions that are visited for one entry.
const MAX_VISITS: usize = 64;

/// The range of each of the first `count` places along dimension `dim` of an array.
///
/// An array of positions is often put together from one array for each place, and clamped as a whole by a constant
/// vector; one range for all of it would say nothing.
pub(in crate::legality) fn components(
    graph: &Graph,
    ranges: &Ranges,
    at: usize,
    dim: usize,
    count: usize,
) -> Vec<IntRange> {
    let component = |place| Components { graph, ranges, visits: MAX_VISITS }.of(at, dim, place);
    (0..count as i64).map(component).collect()
}

struct Components<'g> {
    graph: &'g Graph,
    ranges: &'g Ranges,
    visits: usize,
}

impl Components<'_> {
    fn of(&mut self, at: usize, dim: usize, place: i64) -> IntRange {
        let whole = self.ranges.of(at);
        let Some(visits) = self.visits.checked_sub(1) else { return whole };
        self.visits = visits;
        let inst = self.graph.inst(at);
        let narrowed = match &*inst.opcode {
            "concatenate" if inst.dimensions.first() == Some(&(dim as i64)) => self.part(at, dim, place),
            "constant" => self.constant(at, dim, place),
            "broadcast" => self.broadcast(at, dim, place),
            "add" | "and" | "clamp" | "convert" | "copy" | "compare" | "maximum" | "minimum" | "multiply" | "not"
            | "or" | "remainder" | "select" | "subtract" => self.elementwise(at, dim, place),
            _ => None,
        };
        narrowed.filter(|range| range.within(whole)).unwrap_or(whole)
    }

    fn operand(&mut self, at: usize, number: usize, dim: usize, place: i64) -> Option<IntRange> {
        Some(self.of(self.graph.operand(at, number)?, dim, place))
    }

    /// The operand of a concatenation that holds the place.
    fn part(&mut self, at: usize, dim: usize, mut place: i64) -> Option<IntRange> {
        for number in 0..self.graph.inst(at).operand_ids.len() {
            let size = *self.graph.operand_shape(at, number)?.dimensions.get(dim)?;
            if place < size {
                return self.operand(at, number, dim, place);
            }
            place -= size;
        }
        None
    }

    fn constant(&self, at: usize, dim: usize, place: i64) -> Option<IntRange> {
        let inst = self.graph.inst(at);
        let shape = inst.shape.as_deref()?;
        let inner =
            shape.dimensions.get(dim + 1..)?.iter().try_fold(1i64, |product, &size| product.checked_mul(size))?;
        let (inner, size) = (usize::try_from(inner.max(1)).ok()?, usize::try_from(*shape.dimensions.get(dim)?).ok()?);
        let values = literal::integers(inst.literal.as_ref()?, shape.dtype()?);
        let here = values.enumerate().filter(|(index, _)| (index / inner) % size.max(1) == place as usize);
        here.map(|(_, value)| IntRange::new(value, value)).reduce(IntRange::union)
    }

    fn broadcast(&mut self, at: usize, dim: usize, place: i64) -> Option<IntRange> {
        let from = self.graph.inst(at).dimensions.iter().position(|&to| to == dim as i64)?;
        self.operand(at, 0, from, place)
    }

    fn elementwise(&mut self, at: usize, dim: usize, place: i64) -> Option<IntRange> {
        let sizes = |shape: Option<&ShapeProto>| shape.map(|shape| shape.dimensions.clone());
        let whole = sizes(self.graph.inst(at).shape.as_deref());
        let mut operands = Vec::new();
        for number in 0..self.graph.inst(at).operand_ids.len() {
            // A scalar, as `clamp` and `select` take one, is the same everywhere.
            operands.push(match sizes(self.graph.operand_shape(at, number)) == whole {
                true => self.operand(at, number, dim, place)?,
                false => self.ranges.operand(self.graph, at, number),
            });
        }
        transfer::result(self.graph, at, |number| operands.get(number).copied().unwrap_or(IntRange::ALL))
    }
}
