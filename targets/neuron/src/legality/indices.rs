//! Positions that are known at run time only.

use super::Checker;
use super::describe::describe;
use super::ranges::components;
use halite_hlo::proto::ShapeProto;
use halite_tensor::IntRange;

/// A position and the largest value it may have.
struct Position {
    range: IntRange,
    largest: i128,
    dim: i64,
}

impl Checker<'_, '_> {
    /// A position of an indexed instruction is not proven to lie inside.
    pub(super) fn unproven_index(&self, at: usize) -> Option<String> {
        let inst = self.graph.inst(at);
        let operand = self.graph.operand_shape(at, 0)?;
        let positions = match &*inst.opcode {
            "gather" => self.gathered(at, operand),
            "scatter" => self.scattered(at, operand),
            "dynamic-slice" => self.sliced(at, 1, operand, &inst.dynamic_slice_sizes),
            "dynamic-update-slice" => self.sliced(at, 2, operand, &self.graph.operand_shape(at, 1)?.dimensions),
            _ => return None,
        };
        let Some(positions) = positions else { return Some("its positions are not understood".to_owned()) };
        let inside = |position: &Position| position.range.within(IntRange::new(0, position.largest));
        let Position { range, largest, dim } = positions.into_iter().find(|position| !inside(position))?;
        let outside = range.high < 0 || range.low > largest;
        let verdict = if outside { "lies outside" } else { "is not proven to lie inside" };
        let of = describe(Some(operand));
        Some(format!(
            "the position along dimension {dim} of `{of}` {verdict}: it is in {range}, and 0..={largest} are taken"
        ))
    }

    fn gathered(&self, at: usize, operand: &ShapeProto) -> Option<Vec<Position>> {
        let inst = self.graph.inst(at);
        let dims = inst.gather_dimension_numbers.as_ref()?;
        let sizes = &inst.gather_slice_sizes;
        let size = |dim: usize| sizes.get(dim).copied();
        self.indexed(self.graph.operand(at, 1)?, &dims.start_index_map, dims.index_vector_dim, operand, size)
    }

    fn scattered(&self, at: usize, operand: &ShapeProto) -> Option<Vec<Position>> {
        let dims = self.graph.inst(at).scatter_dimension_numbers.as_ref()?;
        // Arrays that are written to at once, then the indices, then an update for each.
        let arrays = self.graph.operands(at).len() / 2;
        let updates = self.graph.operand_shape(at, arrays + 1)?;
        let single = |dim: &i64| dims.inserted_window_dims.contains(dim) || dims.input_batching_dims.contains(dim);
        let windows: Vec<i64> = (0..operand.dimensions.len() as i64).filter(|dim| !single(dim)).collect();
        let size = |dim: usize| {
            let Some(place) = windows.iter().position(|&window| window == dim as i64) else { return Some(1) };
            let update = usize::try_from(*dims.update_window_dims.get(place)?).ok()?;
            updates.dimensions.get(update).copied()
        };
        let indices = self.graph.operand(at, arrays)?;
        self.indexed(indices, &dims.scatter_dims_to_operand_dims, dims.index_vector_dim, operand, size)
    }

    /// The positions in index vectors, each along the dimension that the map says.
    fn indexed(
        &self,
        indices: usize,
        map: &[i64],
        vector_dim: i64,
        operand: &ShapeProto,
        size: impl Fn(usize) -> Option<i64>,
    ) -> Option<Vec<Position>> {
        let vector_dim = usize::try_from(vector_dim).ok()?;
        let ranges = components(self.graph, self.ranges(), indices, vector_dim, map.len());
        let position = |(&dim, range): (&i64, IntRange)| {
            let number = usize::try_from(dim).ok()?;
            Some(Position { range, largest: room(operand, number, size(number)?)?, dim })
        };
        map.iter().zip(ranges).map(position).collect()
    }

    /// The positions that stand as scalars from operand `first` on.
    fn sliced(&self, at: usize, first: usize, operand: &ShapeProto, sizes: &[i64]) -> Option<Vec<Position>> {
        let position = |(dim, &size): (usize, &i64)| {
            let range = self.ranges().operand(self.graph, at, first + dim);
            Some(Position { range, largest: room(operand, dim, size)?, dim: dim as i64 })
        };
        sizes.iter().enumerate().map(position).collect()
    }

    /// A gather walks along a dimension that its indices address.
    pub(super) fn indexed_window(&self, at: usize) -> Option<String> {
        let dims = self.graph.inst(at).gather_dimension_numbers.as_ref()?;
        let walked = |dim: &&i64| !dims.collapsed_slice_dims.contains(dim);
        let dim = dims.start_index_map.iter().find(walked)?;
        let operand = describe(self.graph.operand_shape(at, 0));
        Some(format!("the indices address dimension {dim} of `{operand}`, and the result keeps it"))
    }
}

/// The largest position at which a slice of `size` lies inside.
fn room(operand: &ShapeProto, dim: usize, size: i64) -> Option<i128> {
    operand.dimensions.get(dim).map(|&whole| i128::from(whole) - i128::from(size))
}
