//! Element-wise ops and their gradients where they are easy to get wrong.

use halite_ir::ops::{self, Direction};
use halite_ir::{Builder, Interpreter, Module, Op, ParamRole, Registry, TensorType, Value, Vjp, VjpCx};
use halite_tensor::{DType, HostTensor};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Runs a function of scalar parameters that `body` writes.
fn run(inputs: Vec<HostTensor>, body: impl Fn(&mut Builder<'_>, &[Value]) -> Vec<Value>) -> Vec<HostTensor> {
    let registry = Registry::builtin();
    let mut module = Module::default();
    let mut b = Builder::new(&mut module, &registry, "main");
    let param = |(index, input): (usize, &HostTensor)| {
        let ty = TensorType::new(input.dtype(), input.shape().clone());
        b.param(format!("x{index}"), ty, ParamRole::Argument)
    };
    let args: Vec<_> = inputs.iter().enumerate().map(param).collect();
    for result in body(&mut b, &args) {
        b.result(result);
    }
    let id = b.finish();
    Interpreter::of(&module, &registry).run(&module.functions[id.index()], inputs).unwrap()
}

/// An op on scalars of one type.
fn apply(op: &Op, dtype: DType, args: &[f64]) -> HostTensor {
    let inputs = args.iter().map(|&arg| HostTensor::scalar(dtype, arg)).collect();
    run(inputs, |b, args| vec![b.emit(op.clone(), args).unwrap()]).swap_remove(0)
}

/// The derivatives of an op on scalars of type `f64`; a symbolic zero is 0.
fn slopes(op: &Op, args: &[f64]) -> Vec<f64> {
    let inputs = args.iter().map(|&arg| HostTensor::scalar(DType::F64, arg)).collect();
    let rule = |b: &mut Builder<'_>, args: &[Value]| {
        let result = b.emit(op.clone(), args).unwrap();
        let one = b.splat_like(result, 1.0).unwrap();
        let cx = VjpCx { args, results: &[result], cts: &[Some(one)], wanted: &vec![true; args.len()] };
        let Vjp::Cotangents(cts) = op.def().vjp(b, &cx).unwrap() else { panic!("`{}` has a gradient", op.name()) };
        cts.into_iter().map(|ct| ct.unwrap_or_else(|| b.splat_like(one, 0.0).unwrap())).collect()
    };
    run(inputs, rule).iter().map(|tensor| tensor.f64s()[0]).collect()
}

/// Equal bit for bit, any NaN being equal to any other.
fn same(found: f64, expected: f64) -> bool {
    found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan())
}

#[test]
fn reals_at_the_edges() {
    let table: &[(Op, &[f64], f64)] = &[
        (ops::Maximum.into(), &[NAN, 1.0], NAN),
        (ops::Maximum.into(), &[1.0, NAN], NAN),
        (ops::Maximum.into(), &[-0.0, 0.0], 0.0),
        (ops::Minimum.into(), &[0.0, -0.0], -0.0),
        (ops::Minimum.into(), &[NAN, -INF], NAN),
        (ops::Sign.into(), &[-0.0], -0.0),
        (ops::Sign.into(), &[NAN], NAN),
        (ops::Logistic.into(), &[-1e4], 0.0),
        (ops::Logistic.into(), &[1e4], 1.0),
        (ops::Rsqrt.into(), &[0.0], INF),
        (ops::Rsqrt.into(), &[INF], 0.0),
        (ops::Log.into(), &[0.0], -INF),
        (ops::Sqrt.into(), &[-1.0], NAN),
        (ops::Power.into(), &[0.0, 0.0], 1.0),
        (ops::Power.into(), &[0.0, -1.0], INF),
        (ops::Power.into(), &[NAN, 0.0], 1.0),
        (ops::Power.into(), &[-8.0, 0.5], NAN),
        (ops::Remainder.into(), &[-5.5, 2.0], -1.5),
        (ops::Remainder.into(), &[5.0, INF], 5.0),
        (ops::Remainder.into(), &[5.0, 0.0], NAN),
        (ops::RoundNearestEven.into(), &[2.5], 2.0),
        (ops::RoundNearestEven.into(), &[-0.5], -0.0),
        (ops::RoundNearestAfz.into(), &[2.5], 3.0),
        (ops::RoundNearestAfz.into(), &[-0.5], -1.0),
        (ops::LogPlusOne.into(), &[1e-20], 1e-20),
        (ops::ExponentialMinusOne.into(), &[-1e-20], -1e-20),
        (ops::Atan2.into(), &[-0.0, -1.0], -std::f64::consts::PI),
        (ops::Clamp.into(), &[-1.0, NAN, 1.0], NAN),
        (ops::Clamp.into(), &[-1.0, INF, 1.0], 1.0),
    ];
    for (op, args, expected) in table {
        let found = apply(op, DType::F64, args).f64s()[0];
        assert!(same(found, *expected), "{}{args:?} is {found}, expected {expected}", op.name());
    }
}

#[test]
fn integers_at_the_edges() {
    let (low, high) = (f64::from(i32::MIN), f64::from(i32::MAX));
    let table: &[(Op, DType, &[f64], i128)] = &[
        (ops::Divide.into(), DType::S32, &[7.0, 0.0], -1),
        (ops::Divide.into(), DType::U8, &[7.0, 0.0], 255),
        (ops::Divide.into(), DType::S32, &[low, -1.0], i128::from(i32::MIN)),
        (ops::Divide.into(), DType::S32, &[-7.0, 2.0], -3),
        (ops::Remainder.into(), DType::S32, &[-7.0, 0.0], -7),
        (ops::Remainder.into(), DType::S32, &[low, -1.0], 0),
        (ops::Remainder.into(), DType::S32, &[-7.0, 2.0], -1),
        (ops::Negate.into(), DType::S8, &[-128.0], -128),
        (ops::Negate.into(), DType::U8, &[1.0], 255),
        (ops::Abs.into(), DType::S8, &[-128.0], -128),
        (ops::Multiply.into(), DType::S32, &[high, 2.0], -2),
        (ops::Multiply.into(), DType::U64, &[9_223_372_036_854_775_808.0, 2.0], 0),
        (ops::Power.into(), DType::S32, &[-3.0, 31.0], -1_264_544_299),
        (ops::Power.into(), DType::S32, &[-1.0, -3.0], -1),
        (ops::Power.into(), DType::S32, &[2.0, -1.0], 0),
        (ops::Not.into(), DType::Pred, &[1.0], 0),
        (ops::Not.into(), DType::U8, &[1.0], 254),
        (ops::ShiftLeft.into(), DType::S32, &[1.0, 32.0], 0),
        (ops::ShiftLeft.into(), DType::S8, &[1.0, 7.0], -128),
        (ops::ShiftRightArithmetic.into(), DType::S32, &[-8.0, 40.0], -1),
        (ops::ShiftRightArithmetic.into(), DType::U8, &[128.0, 1.0], 192),
        (ops::ShiftRightLogical.into(), DType::S8, &[-128.0, 7.0], 1),
        (ops::ShiftRightLogical.into(), DType::S8, &[-128.0, -1.0], 0),
        (ops::Popcnt.into(), DType::S64, &[-1.0], 64),
        (ops::CountLeadingZeros.into(), DType::U8, &[0.0], 8),
        (ops::CountLeadingZeros.into(), DType::S32, &[-1.0], 0),
    ];
    for (op, dtype, args, expected) in table {
        let found = apply(op, *dtype, args).ints()[0];
        assert_eq!(found, *expected, "{} of {dtype} {args:?}", op.name());
    }
}

#[test]
fn comparisons_with_nan_are_false_but_for_unequal() {
    for &direction in Direction::ALL {
        let op = Op::from(ops::Compare { direction });
        assert_eq!(
            apply(&op, DType::F32, &[NAN, NAN]).ints(),
            [i128::from(direction == Direction::Ne)],
            "{direction:?}"
        );
    }
    let less = Op::from(ops::Compare { direction: Direction::Lt });
    assert_eq!(apply(&less, DType::F32, &[-0.0, 0.0]).ints(), [0]);
    assert_eq!(apply(&less, DType::Pred, &[0.0, 1.0]).ints(), [1]);
}

#[test]
fn integers_become_floats_with_one_rounding() {
    let convert = |x: i128, from: DType, dtype: DType| {
        let input = HostTensor::from_ints(from, [], [x]);
        run(vec![input], |b, args| vec![b.convert(args[0], dtype).unwrap()])[0].f64s()[0]
    };
    // Halfway between two `f32` but for the last bit, which `f64` cannot hold.
    let (tie, spacing) = ((1i128 << 62) + (1 << 38), (1u64 << 39) as f64);
    let base = (1u64 << 62) as f64;
    assert_eq!(convert(tie, DType::S64, DType::F32), base);
    assert_eq!(convert(tie + 1, DType::S64, DType::F32), base + spacing);
    assert_eq!(convert(tie - 1, DType::S64, DType::F32), base);
    assert_eq!(convert(-tie - 1, DType::S64, DType::F32), -base - spacing);
    assert_eq!(convert(i128::from(u64::MAX), DType::U64, DType::Bf16), 18_446_744_073_709_551_616.0);
    assert_eq!(convert(i128::from(u64::MAX), DType::U64, DType::F64), 18_446_744_073_709_551_616.0);
    assert_eq!(convert(1, DType::Pred, DType::F16), 1.0);
}

#[test]
fn gradients_at_the_edges() {
    let table: &[(Op, &[f64], &[f64])] = &[
        (ops::Maximum.into(), &[2.0, 2.0], &[0.5, 0.5]),
        (ops::Maximum.into(), &[3.0, 2.0], &[1.0, 0.0]),
        (ops::Maximum.into(), &[NAN, 2.0], &[0.0, 0.0]),
        (ops::Minimum.into(), &[3.0, 2.0], &[0.0, 1.0]),
        (ops::Minimum.into(), &[0.0, -0.0], &[0.5, 0.5]),
        (ops::Abs.into(), &[0.0], &[0.0]),
        (ops::Abs.into(), &[-3.0], &[-1.0]),
        (ops::Sign.into(), &[2.0], &[0.0]),
        (ops::Tanh.into(), &[0.0], &[1.0]),
        (ops::Tan.into(), &[0.0], &[1.0]),
        (ops::Sqrt.into(), &[0.0], &[INF]),
        (ops::Rsqrt.into(), &[0.0], &[-INF]),
        (ops::Rsqrt.into(), &[INF], &[-0.0]),
        (ops::Cbrt.into(), &[0.0], &[INF]),
        (ops::Log.into(), &[0.0], &[INF]),
        (ops::Logistic.into(), &[1e4], &[0.0]),
        (ops::Logistic.into(), &[-1e4], &[0.0]),
        (ops::Divide.into(), &[1.0, INF], &[0.0, -0.0]),
        (ops::Power.into(), &[0.0, 0.0], &[0.0, 0.0]),
        (ops::Power.into(), &[0.0, 1.0], &[1.0, 0.0]),
        (ops::Power.into(), &[0.0, 2.0], &[0.0, 0.0]),
        (ops::Power.into(), &[0.0, -1.0], &[-INF, 0.0]),
        (ops::Power.into(), &[3.0, 0.0], &[0.0, 3f64.ln()]),
        (ops::Remainder.into(), &[7.0, 2.0], &[1.0, -3.0]),
        (ops::LogPlusOne.into(), &[0.0], &[1.0]),
        (ops::Erf.into(), &[0.0], &[std::f64::consts::FRAC_2_SQRT_PI]),
        (ops::Clamp.into(), &[-1.0, -2.0, 1.0], &[1.0, 0.0, 0.0]),
        (ops::Clamp.into(), &[-1.0, 0.5, 1.0], &[0.0, 1.0, 0.0]),
        (ops::Clamp.into(), &[-1.0, 1.0, 1.0], &[0.0, 0.0, 0.0]),
    ];
    for (op, args, expected) in table {
        let found = slopes(op, args);
        let agree = found.len() == expected.len() && found.iter().zip(*expected).all(|(&x, &y)| same(x, y));
        assert!(agree, "gradient of {} at {args:?} is {found:?}, expected {expected:?}", op.name());
    }
}
