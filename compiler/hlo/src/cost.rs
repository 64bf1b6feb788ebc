//! The cost of one instruction, by its opcode and shapes.

use crate::graph::Graph;
use crate::opcode::Opcode;
use crate::proto::ShapeProto;

/// Floating-point operations of an instruction: two for each multiply-add of a product or convolution, one for each element that a reduction
/// reads, one for each result of element-wise arithmetic and functions. Comparisons, moves, integers, collectives, kernels and
/// calls count as none; a callee counts for itself ([`Graph::executions`]).
pub fn flops(graph: &Graph, at: usize) -> u64 {
    let float = |shape: &&ShapeProto| shape.dtype().is_some_and(|dtype| dtype.is_float());
    let (result, first) = (graph.shape(at).filter(float), graph.operand_shape(at, 0).filter(float));
    let (Some(result), Some(first)) = (result, first) else { return 0 };
    match Opcode::parse(graph.opcode(at)) {
        Some(Opcode::Dot | Opcode::Convolution) => Product::of(graph, at).map_or(0, Product::flops),
        Some(Opcode::Reduce) => first.num_elements(),
        Some(Opcode::ReduceWindow) => in_windows(graph, at, result),
        Some(Opcode::SelectAndScatter) => graph.operand_shape(at, 1).map_or(0, |source| in_windows(graph, at, source)),
        Some(Opcode::Unary(_) | Opcode::Binary(_)) => result.num_elements(),
        _ => 0,
    }
}

/// One for each element of each window, of which there are as many as elements of a shape.
fn in_windows(graph: &Graph, at: usize, windows: &ShapeProto) -> u64 {
    let sizes = graph.inst(at).window.as_deref().map_or(&[][..], |window| &window.dimensions).iter();
    let of_window = sizes.map(|dim| u64::try_from(dim.size).unwrap_or(0)).fold(1, u64::saturating_mul);
    windows.num_elements().saturating_mul(of_window)
}

/// The sizes of a product of matrices `[batch, rows, inner] x [batch, inner, columns]`: how often each kind of dimension of a
/// `dot` counts, or of a `convolution`, where the elements of a window are the inner ones and groups the batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    /// Independent products.
    pub batch: u64,
    /// Rows of the left side.
    pub rows: u64,
    /// The size of the contracted dimensions.
    pub inner: u64,
    /// Columns of the right side.
    pub columns: u64,
}

impl Product {
    /// The sizes of a `dot` or a `convolution`; `None` when an operand or its dimension numbers are missing.
    pub fn of(graph: &Graph, at: usize) -> Option<Self> {
        let Some(dims) = graph.inst(at).dot_dimension_numbers.as_deref() else { return Self::convolved(graph, at) };
        let (lhs, rhs) = (graph.operand_shape(at, 0)?, graph.operand_shape(at, 1)?);
        Some(Self {
            batch: of_dims(lhs, |dim| dims.lhs_batch_dimensions.contains(&dim)),
            rows: of_dims(lhs, |dim| {
                !dims.lhs_batch_dimensions.contains(&dim) && !dims.lhs_contracting_dimensions.contains(&dim)
            }),
            inner: of_dims(lhs, |dim| dims.lhs_contracting_dimensions.contains(&dim)),
            columns: of_dims(rhs, |dim| {
                !dims.rhs_batch_dimensions.contains(&dim) && !dims.rhs_contracting_dimensions.contains(&dim)
            }),
        })
    }

    fn convolved(graph: &Graph, at: usize) -> Option<Self> {
        let (inst, kernel) = (graph.inst(at), graph.operand_shape(at, 1)?);
        let own = inst.convolution_dimension_numbers.as_deref()?.kernel_output_feature_dimension;
        let features = of_dims(kernel, |dim| dim == own);
        let batch = u64::try_from(inst.feature_group_count.max(inst.batch_group_count).max(1)).ok()?;
        Some(Self {
            batch,
            rows: graph.shape(at)?.num_elements().checked_div(features)?,
            inner: of_dims(kernel, |dim| dim != own),
            columns: features / batch,
        })
    }

    /// Floating-point operations, two for each multiply-add; at most `u64::MAX`.
    pub fn flops(self) -> u64 {
        [self.batch, self.rows, self.inner, self.columns].into_iter().fold(2, u64::saturating_mul)
    }
}

/// The product of the sizes of some dimensions.
fn of_dims(shape: &ShapeProto, wanted: impl Fn(i64) -> bool) -> u64 {
    let sizes = (0i64..).zip(&shape.dimensions).filter(|(dim, _)| wanted(*dim));
    sizes.fold(1, |product, (_, size)| product.saturating_mul(u64::try_from(*size).unwrap_or(0)))
}
