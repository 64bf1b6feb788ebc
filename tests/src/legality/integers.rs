//! Integers that are computed in `f32`.

use super::{Case, array, case, clamped, module, single};
use halite_hlo::proto::HloModuleProto;
use halite_hlo::{DotDims, ReduceKind};
use halite_neuron::Generation;
use halite_support::Result;
use halite_tensor::{DType, Shape};

pub(super) const CASES: &[Case] = &[
    case("integer-dot", || dot(DType::S32, 1048576.0), || dot(DType::S32, 255.0)),
    case("integer-reduce", || sum(1048576.0), || sum(255.0)),
    Case {
        downcasts: &["all_reduce"],
        ..case("integer-all-reduce", || all_reduce(DType::S32, 8388608.0), || all_reduce(DType::S32, 255.0))
    },
    Case {
        downcasts: &["all"],
        ..case("integer-reduce-scatter", || reduce_scatter(DType::S32, 8388608.0), || reduce_scatter(DType::S32, 255.0))
    },
    Case {
        target: Generation::Trn2,
        ..case("integer-dot-downcast", || dot(DType::S32, 255.0), || dot(DType::F32, 255.0))
    },
    Case {
        allow: &["wide-integer"],
        ..case("wide-dot-downcast", || dot(DType::S64, 255.0), || dot(DType::S32, 255.0))
    },
    case("integer-all-reduce-downcast", || all_reduce(DType::S32, 255.0), || all_reduce(DType::S16, 255.0)),
    Case {
        downcasts: &["all_reduce"],
        ..case(
            "integer-reduce-scatter-downcast",
            || reduce_scatter(DType::S32, 255.0),
            || reduce_scatter(DType::F32, 255.0),
        )
    },
    case("integer-power", || power(DType::S64), || power(DType::S32)),
    case("integer-division", || divided(6284), || divided(64)),
    case("integer-words", || words(1 << 20), || words((1 << 12) - 1)),
    case("integer-words", wrapped, || words(1)),
    case("signed-words", || squared(4096.0), || squared(4095.0)),
];

fn dot(dtype: DType, bound: f64) -> Result<HloModuleProto> {
    module(&[array(dtype, [4, 64]), array(dtype, [64, 4])], |b, params| {
        let (x, y) = (clamped(b, params[0], bound)?, clamped(b, params[1], bound)?);
        let dims = DotDims {
            lhs_contracting: [1].into_iter().collect(),
            rhs_contracting: [0].into_iter().collect(),
            ..DotDims::default()
        };
        Ok(vec![b.dot(x, y, &dims, dtype)?])
    })
}

fn sum(bound: f64) -> Result<HloModuleProto> {
    single(array(DType::S32, [4, 64]), |b, x| {
        let (x, zero) = (clamped(b, x, bound)?, b.constant_scalar(DType::S32, 0.0)?);
        b.reduce(ReduceKind::Add, x, zero, &[1])
    })
}

fn all_reduce(dtype: DType, bound: f64) -> Result<HloModuleProto> {
    single(array(dtype, [4, 8]), |b, x| {
        let x = clamped(b, x, bound)?;
        b.all_reduce(ReduceKind::Add, &[x], &[vec![0, 1]]).map(|ids| ids[0])
    })
}

fn reduce_scatter(dtype: DType, bound: f64) -> Result<HloModuleProto> {
    single(array(dtype, [4, 8]), |b, x| {
        let x = clamped(b, x, bound)?;
        b.reduce_scatter(ReduceKind::Add, &[x], 0, &[vec![0, 1]]).map(|ids| ids[0])
    })
}

fn divided(by: i128) -> Result<HloModuleProto> {
    single(array(DType::S32, [4]), |b, x| {
        let by = b.constant_scalar(DType::S32, by as f64)?;
        let by = b.broadcast(by, &Shape::from([4]), &[])?;
        b.divide(x, by)
    })
}

fn power(dtype: DType) -> Result<HloModuleProto> {
    single(array(dtype, [4]), |b, x| b.power(x, x))
}

fn words(mask: u32) -> Result<HloModuleProto> {
    single(array(DType::U32, [4]), |b, x| {
        let mask = b.constant_scalar(DType::U32, f64::from(mask))?;
        let mask = b.broadcast(mask, &Shape::from([4]), &[])?;
        let low = b.and(x, mask)?;
        b.multiply(low, low)
    })
}

fn squared(bound: f64) -> Result<HloModuleProto> {
    single(array(DType::S32, [4]), |b, x| {
        let x = clamped(b, x, bound)?;
        b.multiply(x, x)
    })
}

/// Zero minus something: words wrap.
fn wrapped() -> Result<HloModuleProto> {
    single(array(DType::U32, [4]), |b, x| {
        let eight = b.constant_scalar(DType::U32, 8.0)?;
        let eight = b.broadcast(eight, &Shape::from([4]), &[])?;
        let low = b.binary(halite_hlo::BinaryOp::ShiftRightLogical, x, eight)?;
        b.subtract(eight, low)
    })
}
