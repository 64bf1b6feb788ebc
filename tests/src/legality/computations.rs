//! Loops, reductions and sorts.

use super::{Case, array, case, edit, matrix, module, renamed, single};
use halite_hlo::proto::{HloModuleProto, Numbers};
use halite_hlo::{ArrayType, BinaryOp, Comparison, ReduceKind};
use halite_support::Result;
use halite_tensor::DType;

pub(super) const CASES: &[Case] = &[
    case("loop-trips", || looped(BinaryOp::Multiply, Comparison::Lt), || looped(BinaryOp::Add, Comparison::Lt)),
    case("loop-trips", || looped(BinaryOp::Subtract, Comparison::Lt), || looped(BinaryOp::Subtract, Comparison::Gt)),
    case("loop-trips", || counted(0.0, 1073741824.0, 2147483647.0), || counted(0.0, 1073741823.0, 2147483646.0)),
    case("variadic-reduce", variadic, || reduced(ReduceKind::Max)),
    case("reduce-combiner", || any(ReduceKind::Or), || any(ReduceKind::Max)),
    case("reduce-init", started, || reduced(ReduceKind::Min)),
    case("sort-comparator", || sorted(Comparison::Eq), || sorted(Comparison::Gt)),
];

/// A loop from 1 while the counter compares so with 100.
fn looped(step: BinaryOp, while_: Comparison) -> Result<HloModuleProto> {
    loop_from(if while_ == Comparison::Gt { 1000.0 } else { 1.0 }, (step, 2.0), (while_, 100.0))
}

/// A loop that counts up while the counter is less than `end`.
fn counted(start: f64, by: f64, end: f64) -> Result<HloModuleProto> {
    loop_from(start, (BinaryOp::Add, by), (Comparison::Lt, end))
}

fn loop_from(start: f64, step: (BinaryOp, f64), while_: (Comparison, f64)) -> Result<HloModuleProto> {
    let counter = array(DType::S32, []);
    let mut condition = 0;
    let made = module(&[matrix()], |b, params| {
        let mut test = b.module().computation("condition");
        let i = test.parameter("i", counter.clone())?;
        let end = test.constant_scalar(DType::S32, while_.1)?;
        let goes_on = test.compare(while_.0, i, end)?;
        condition = test.finish(goes_on)?.index() as i64;
        let mut body = b.module().computation("body");
        let i = body.parameter("i", counter.clone())?;
        let by = body.constant_scalar(DType::S32, step.1)?;
        let next = body.binary(step.0, i, by)?;
        let body = body.finish(next)?;
        let start = b.constant_scalar(DType::S32, start)?;
        let last = b.call(body, &[start])?;
        let last = b.convert(last, DType::F32)?;
        let last = b.broadcast(last, &[4, 8].into(), &[])?;
        Ok(vec![b.multiply(params[0], last)?])
    });
    edit(renamed(made, "call", "while"), "while", |inst| inst.called_computation_ids.push(condition))
}

fn reduced(kind: ReduceKind) -> Result<HloModuleProto> {
    single(matrix(), |b, x| {
        let init = b.constant_scalar(DType::F32, 0.0)?;
        b.reduce(kind, x, init, &[1])
    })
}

fn variadic() -> Result<HloModuleProto> {
    edit(reduced(ReduceKind::Max), "reduce", |inst| {
        let (x, init) = (inst.operand_ids[0], inst.operand_ids[1]);
        inst.operand_ids = Numbers::from_slice(&[x, x, init, init]);
    })
}

/// Whether any element is true, by a reduction of truth values or of numbers.
fn any(kind: ReduceKind) -> Result<HloModuleProto> {
    let dtype = if kind == ReduceKind::Or { DType::Pred } else { DType::S32 };
    single(array(DType::Pred, [4, 8]), |b, x| {
        let x = if dtype == DType::Pred { x } else { b.convert(x, dtype)? };
        let init = b.constant_scalar(dtype, 0.0)?;
        let any = b.reduce(kind, x, init, &[1])?;
        b.convert(any, DType::F32)
    })
}

fn started() -> Result<HloModuleProto> {
    module(&[matrix(), ArrayType::scalar(DType::F32)], |b, params| {
        Ok(vec![b.reduce(ReduceKind::Min, params[0], params[1], &[1])?])
    })
}

fn sorted(direction: Comparison) -> Result<HloModuleProto> {
    let mut comparator = 0;
    let made = single(matrix(), |b, x| {
        let mut order = b.module().computation("order");
        let (x0, x1) = (
            order.parameter("x0", ArrayType::scalar(DType::F32))?,
            order.parameter("x1", ArrayType::scalar(DType::F32))?,
        );
        let first = order.compare(direction, x0, x1)?;
        comparator = order.finish(first)?.index() as i64;
        b.copy(x)
    });
    edit(renamed(made, "copy", "sort"), "sort", |inst| {
        inst.called_computation_ids = Numbers::from_slice(&[comparator]);
        inst.dimensions = Numbers::from_slice(&[1]);
    })
}
