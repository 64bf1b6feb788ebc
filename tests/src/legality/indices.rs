//! Positions that are known at run time only.

use super::{Case, array, case, clamped, edit, matrix, module};
use halite_hlo::proto::{HloModuleProto, Numbers};
use halite_hlo::{ComputationBuilder, GatherDims, Id, IndexFacts, ReduceKind, ScatterDims};
use halite_support::Result;
use halite_tensor::{DType, Dims};

pub(super) const CASES: &[Case] = &[
    case("index-range", || gathered(None, &[0]), || gathered(Some(3.0), &[0])),
    case("index-range", || gathered(Some(4.0), &[0]), || gathered(Some(2.0), &[0])),
    case("index-range", || sliced(None), || sliced(Some(2.0))),
    case("index-range", || updated(Some(7.0)), || updated(Some(2.0))),
    case("index-range", || scattered(None, None, DType::F32), || scattered(None, Some(3.0), DType::F32)),
    case("index-range", || scattered_together(None), || scattered_together(Some(3.0))),
    case("index-range", || pairs(3.0, 9.0), || pairs(3.0, 7.0)),
    case("gather-window", || gathered(Some(3.0), &[]), || gathered(Some(3.0), &[0])),
    case(
        "scatter-integer",
        || scattered(Some(ReduceKind::Add), Some(3.0), DType::S32),
        || scattered(None, Some(3.0), DType::S32),
    ),
    case(
        "scatter-float",
        || scattered(Some(ReduceKind::Add), Some(3.0), DType::F32),
        || scattered(None, Some(3.0), DType::Bf16),
    ),
];

fn dims(dims: &[usize]) -> Dims {
    dims.iter().copied().collect()
}

/// Positions between 0 and a bound, or anywhere.
fn bounded(b: &mut ComputationBuilder<'_>, x: Id, bound: Option<f64>) -> Result<Id> {
    bound.map_or(Ok(x), |bound| clamped(b, x, bound))
}

/// Rows of `f32[4,8]`.
fn gathered(bound: Option<f64>, collapsed: &[usize]) -> Result<HloModuleProto> {
    module(&[matrix(), array(DType::S32, [5, 1])], |b, params| {
        let indices = bounded(b, params[1], bound)?;
        let offset_dims = if collapsed.is_empty() { dims(&[1, 2]) } else { dims(&[1]) };
        let numbers = GatherDims {
            offset_dims,
            collapsed_slice_dims: dims(collapsed),
            start_index_map: dims(&[0]),
            index_vector_dim: 1,
            ..GatherDims::default()
        };
        Ok(vec![b.gather(params[0], indices, &numbers, &[1, 8], IndexFacts::default())?])
    })
}

/// Elements of `f32[4,8]` at pairs of positions, each with a bound of its own, put together in one array.
fn pairs(row: f64, column: f64) -> Result<HloModuleProto> {
    let positions = array(DType::S32, [5, 1]);
    module(&[matrix(), positions.clone(), positions], |b, params| {
        let (row, column) = (bounded(b, params[1], Some(row))?, bounded(b, params[2], Some(column))?);
        let indices = b.concatenate(&[row, column], 1)?;
        let numbers = GatherDims {
            collapsed_slice_dims: dims(&[0, 1]),
            start_index_map: dims(&[0, 1]),
            index_vector_dim: 1,
            ..GatherDims::default()
        };
        Ok(vec![b.gather(params[0], indices, &numbers, &[1, 1], IndexFacts::default())?])
    })
}

/// Two rows of `f32[4,8]` at once.
fn sliced(bound: Option<f64>) -> Result<HloModuleProto> {
    module(&[matrix(), array(DType::S32, [])], |b, params| {
        let (start, zero) = (bounded(b, params[1], bound)?, b.constant_scalar(DType::S32, 0.0)?);
        Ok(vec![b.dynamic_slice(params[0], &[start, zero], &[2, 8])?])
    })
}

fn updated(bound: Option<f64>) -> Result<HloModuleProto> {
    module(&[matrix(), array(DType::F32, [2, 8]), array(DType::S32, [])], |b, params| {
        let (start, zero) = (bounded(b, params[2], bound)?, b.constant_scalar(DType::S32, 0.0)?);
        Ok(vec![b.dynamic_update_slice(params[0], params[1], &[start, zero])?])
    })
}

/// Two arrays at once, whose elements would do as positions.
fn scattered_together(bound: Option<f64>) -> Result<HloModuleProto> {
    let made =
        module(&[array(DType::S32, [4, 8]), array(DType::S32, [5, 1]), array(DType::S32, [5, 8])], |b, params| {
            let (data, indices) = (clamped(b, params[0], 3.0)?, bounded(b, params[1], bound)?);
            Ok(vec![b.scatter(None, data, indices, params[2], &rows(), IndexFacts::default())?])
        });
    edit(made, "scatter", |inst| {
        let (data, indices, updates) = (inst.operand_ids[0], inst.operand_ids[1], inst.operand_ids[2]);
        inst.operand_ids = Numbers::from_slice(&[data, data, indices, updates, updates]);
    })
}

/// Whole rows, at indices that each are a vector of one.
fn rows() -> ScatterDims {
    ScatterDims {
        update_window_dims: dims(&[1]),
        inserted_window_dims: dims(&[0]),
        scatter_dims_to_operand_dims: dims(&[0]),
        index_vector_dim: 1,
        ..ScatterDims::default()
    }
}

fn scattered(kind: Option<ReduceKind>, bound: Option<f64>, dtype: DType) -> Result<HloModuleProto> {
    module(&[array(dtype, [4, 8]), array(DType::S32, [5, 1]), array(dtype, [5, 8])], |b, params| {
        let indices = bounded(b, params[1], bound)?;
        Ok(vec![b.scatter(kind, params[0], indices, params[2], &rows(), IndexFacts::default())?])
    })
}
