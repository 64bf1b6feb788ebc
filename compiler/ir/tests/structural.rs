//! Structural, indexing and collective ops: what `infer` refuses, and what the generated tests do not reach.

use halite_ir::ops::{self, Reduction};
use halite_ir::{
    Builder, Cost, InferCx, Interpreter, Module, Op, OpDef, ParamRole, Registry, TensorType, Value, Vjp, VjpCx,
};
use halite_support::{Code, codes};
use halite_tensor::{DType, HostTensor, Shape};

fn ty(dtype: DType, shape: &[usize]) -> TensorType {
    TensorType::new(dtype, shape)
}

fn f32s(shape: &[usize]) -> TensorType {
    ty(DType::F32, shape)
}

fn s32s(shape: &[usize]) -> TensorType {
    ty(DType::S32, shape)
}

/// The code with which an op refuses operands of these types.
fn refusal(op: impl Into<Op>, args: &[TensorType]) -> Code {
    let (registry, args) = (Registry::default(), args.iter().collect::<Vec<_>>());
    let cx = InferCx { functions: &[], registry: &registry };
    op.into().def().infer(&cx, &args).expect_err("the operands do not fit").code()
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let reshape = |shape: &[usize]| ops::Reshape { shape: shape.into() };
    assert_eq!(refusal(reshape(&[5]), &[f32s(&[2, 3])]), codes::SHAPE);
    assert_eq!(refusal(reshape(&[1 << 40, 1 << 40]), &[f32s(&[2, 3])]), codes::SHAPE);
    assert_eq!(refusal(ops::Concatenate { dim: 0 }, &[f32s(&[2, 3]), f32s(&[2, 4])]), codes::SHAPE);
    assert_eq!(refusal(ops::Concatenate { dim: 0 }, &[f32s(&[2]), s32s(&[2])]), codes::DTYPE);
    assert_eq!(refusal(ops::Concatenate { dim: 0 }, &[]), codes::ARITY);
    let pad = |low: i64, interior: usize| ops::Pad {
        low: vec![low],
        high: vec![0],
        interior: [interior].into_iter().collect(),
    };
    assert_eq!(refusal(pad(-4, 0), &[f32s(&[3]), f32s(&[])]), codes::SHAPE);
    assert_eq!(refusal(pad(i64::MAX, 0), &[f32s(&[3]), f32s(&[])]), codes::SHAPE);
    assert_eq!(refusal(pad(0, usize::MAX), &[f32s(&[3]), f32s(&[])]), codes::SHAPE);
    assert_eq!(refusal(pad(1, 0), &[f32s(&[3]), f32s(&[1])]), codes::DTYPE);
    let part = ops::DynamicSlice { shape: [4].into() };
    assert_eq!(refusal(part.clone(), &[f32s(&[3]), s32s(&[])]), codes::SHAPE);
    assert_eq!(refusal(part.clone(), &[f32s(&[5])]), codes::ARITY);
    assert_eq!(refusal(part.clone(), &[]), codes::ARITY);
    assert_eq!(refusal(part, &[f32s(&[5]), ty(DType::U32, &[])]), codes::DTYPE);
    assert_eq!(refusal(ops::DynamicUpdateSlice, &[f32s(&[3]), s32s(&[2]), s32s(&[])]), codes::DTYPE);
    assert_eq!(refusal(ops::ArgMax { dim: 0 }, &[f32s(&[0])]), codes::SHAPE);
    assert_eq!(refusal(ops::OptimizationBarrier, &[]), codes::ARITY);
}

#[test]
fn attributes_out_of_range_are_refused() {
    let transpose = |permutation: &[usize]| ops::Transpose { permutation: permutation.into() };
    for permutation in [&[0, 0][..], &[0], &[0, 2]] {
        assert_eq!(refusal(transpose(permutation), &[f32s(&[2, 3])]), codes::ATTRIBUTE, "{permutation:?}");
    }
    let slice = |start: usize, limit: usize, stride: usize| ops::Slice {
        start: [start].into_iter().collect(),
        limit: [limit].into_iter().collect(),
        stride: [stride].into_iter().collect(),
    };
    for (start, limit, stride) in [(0, 4, 1), (2, 1, 1), (0, 3, 0)] {
        assert_eq!(refusal(slice(start, limit, stride), &[f32s(&[3])]), codes::ATTRIBUTE);
    }
    let reduce = |kind, dims: &[usize], accumulate| ops::Reduce { kind, dims: dims.into(), accumulate };
    assert_eq!(refusal(reduce(Reduction::Sum, &[1, 0], DType::F32), &[f32s(&[2, 3])]), codes::ATTRIBUTE);
    assert_eq!(refusal(reduce(Reduction::Sum, &[0], DType::Bf16), &[f32s(&[2])]), codes::ATTRIBUTE);
    assert_eq!(refusal(reduce(Reduction::Max, &[0], DType::F64), &[f32s(&[2])]), codes::ATTRIBUTE);
    assert_eq!(refusal(reduce(Reduction::And, &[0], DType::F32), &[f32s(&[2])]), codes::DTYPE);
    assert_eq!(refusal(ops::Reverse { dims: [1].into_iter().collect() }, &[f32s(&[2])]), codes::ATTRIBUTE);
    assert_eq!(refusal(ops::Iota { dim: 0, ty: f32s(&[]) }, &[]), codes::ATTRIBUTE);
    assert_eq!(refusal(ops::Iota { dim: 0, ty: ty(DType::Pred, &[2]) }, &[]), codes::DTYPE);
}

#[test]
fn indices_that_address_nothing_are_refused() {
    let take = ops::Take { dim: 0 };
    assert_eq!(refusal(take.clone(), &[f32s(&[0, 2]), s32s(&[1])]), codes::SHAPE);
    assert_eq!(refusal(take.clone(), &[f32s(&[3]), ty(DType::S64, &[1])]), codes::DTYPE);
    assert_eq!(refusal(take, &[f32s(&[]), s32s(&[1])]), codes::ATTRIBUTE);
    let grad = ops::TakeGrad { dim: 0, shape: [3, 2].into() };
    assert_eq!(refusal(grad, &[f32s(&[4, 3]), s32s(&[4])]), codes::SHAPE);
    let along = ops::TakeAlongAxis { dim: 1 };
    assert_eq!(refusal(along.clone(), &[f32s(&[2, 3]), s32s(&[3, 3])]), codes::SHAPE);
    assert_eq!(refusal(along, &[f32s(&[2, 3]), s32s(&[2])]), codes::SHAPE);
}

#[test]
fn groups_must_hold_each_rank_once() {
    for groups in [vec![], vec![vec![]], vec![vec![0, 2]], vec![vec![0, 0]], vec![vec![0, 1], vec![2]]] {
        let op = ops::AllReduce { kind: Reduction::Sum, groups: groups.into() };
        assert_eq!(refusal(op, &[f32s(&[2])]), codes::ATTRIBUTE);
    }
    let pair = ops::Groups::from(vec![vec![0, 1]]);
    assert_eq!(refusal(ops::ReduceScatter { dim: 0, groups: pair.clone() }, &[f32s(&[3])]), codes::SHAPE);
    assert_eq!(refusal(ops::AllGather { dim: 1, groups: pair.clone() }, &[f32s(&[3])]), codes::ATTRIBUTE);
    assert_eq!(refusal(ops::AllToAll { split_dim: 0, concat_dim: 0, groups: pair }, &[f32s(&[3])]), codes::SHAPE);
    let pairs = ([0, 0].into_iter().collect(), [1, 2].into_iter().collect());
    assert_eq!(refusal(ops::CollectivePermute { pairs }, &[f32s(&[3])]), codes::ATTRIBUTE);
}

/// Runs a function of these inputs that `body` writes.
fn run(inputs: Vec<HostTensor>, body: impl Fn(&mut Builder<'_>, &[Value]) -> Vec<Value>) -> Vec<HostTensor> {
    let registry = Registry::default();
    let mut module = Module::default();
    let mut b = Builder::new(&mut module, &registry, "main");
    let param = |(index, input): (usize, &HostTensor)| {
        b.param(format!("x{index}"), ty(input.dtype(), input.shape()), ParamRole::Argument)
    };
    let args: Vec<_> = inputs.iter().enumerate().map(param).collect();
    for result in body(&mut b, &args) {
        b.result(result);
    }
    let id = b.finish();
    Interpreter::of(&module, &registry).run(module.function(id), inputs).unwrap()
}

/// The gradient of the sum of the largest elements of rows.
fn slope_of_max(values: &[f64]) -> Vec<f64> {
    let input = HostTensor::from_f64s(DType::F32, Shape::from(&[1, values.len()][..]), values.iter().copied());
    let results = run(vec![input], |b, args| {
        let peak = b.reduce_max(args[0], &[1]).unwrap();
        let ct = b.splat_like(peak, 3.0).unwrap();
        let cx = VjpCx { args, results: &[peak], cts: &[Some(ct)], wanted: &[true] };
        let op = b.function().def(peak).unwrap().op.clone();
        let Vjp::Cotangents(cts) = op.def().vjp(b, &cx).unwrap() else { panic!("`reduce` has a gradient") };
        vec![cts[0].unwrap()]
    });
    results[0].f64s()
}

#[test]
fn ties_share_the_gradient_of_an_extreme_and_nan_spreads() {
    assert_eq!(slope_of_max(&[1.0, 5.0, 2.0]), [0.0, 3.0, 0.0]);
    assert_eq!(slope_of_max(&[5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
    assert!(slope_of_max(&[5.0, f64::NAN]).iter().all(|slope| slope.is_nan()));
}

#[test]
fn narrow_sums_are_made_wide_and_rounded_once() {
    let ones = HostTensor::from_f64s(DType::Bf16, [1000], (0..1000).map(|_| 1.0));
    let total = run(vec![ones], |b, args| vec![b.reduce_sum(args[0], &[0]).unwrap()]);
    assert_eq!((total[0].dtype(), total[0].f64s()), (DType::Bf16, vec![1000.0]));
}

#[test]
fn a_barrier_keeps_symbolic_zeros() {
    let input = HostTensor::scalar(DType::F32, 2.0);
    run(vec![input.clone(), input], |b, args| {
        let results = b.optimization_barrier(args).unwrap();
        let cx = VjpCx { args, results: &results, cts: &[None, Some(args[0])], wanted: &[true, true] };
        let Vjp::Cotangents(cts) = ops::OptimizationBarrier.vjp(b, &cx).unwrap() else { panic!("it has a gradient") };
        assert!(cts[0].is_none() && cts[1].is_some());
        vec![cts[1].unwrap()]
    });
}

#[test]
fn what_is_taken_is_what_is_moved() {
    let registry = Registry::default();
    let cx = InferCx { functions: &[], registry: &registry };
    let (table, indices, rows) = (f32s(&[1000, 8]), s32s(&[4]), f32s(&[4, 8]));
    let op: Op = ops::Take { dim: 0 }.into();
    let cost = op.def().cost(&cx, &[&table, &indices], &[rows]);
    assert_eq!(cost, Cost { flops: 0, bytes: 128 + 16 + 128 });
}
