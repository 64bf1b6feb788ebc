//! Sorts of programs of others are in the order in which XLA has them, and what is no order is not taken for one.

use halite_hlo::{CheckedHlo, decode};
use halite_ir::{Interpreter, Registry};
use halite_lift::{Lifted, lift};
use halite_support::SourceFile;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;

/// Comparators of a sort of `f32`, `f32`, `s32` and `pred`: of each the elements are `%a` and `%b`, `%c` and `%d`, `%e` and `%f`, `%g` and
/// `%h`.
const ORDERS: [(&str, &str); 8] = [
    ("integers", "%r = stablehlo.compare LT, %e, %f, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>"),
    ("flags, descending", "%r = stablehlo.compare GT, %g, %h, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>"),
    ("total", "%r = stablehlo.compare LT, %c, %d, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>"),
    ("total, descending", "%r = stablehlo.compare GT, %c, %d, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>"),
    ("numbers", "%r = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>"),
    (
        "NaN and zeros made one",
        "%zero = stablehlo.constant dense<0.0> : tensor<f32>
%nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
%c0 = stablehlo.compare EQ, %c, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%c1 = stablehlo.select %c0, %zero, %c : tensor<i1>, tensor<f32>
%c2 = stablehlo.compare NE, %c, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%c3 = stablehlo.select %c2, %nan, %c1 : tensor<i1>, tensor<f32>
%d0 = stablehlo.compare EQ, %d, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%d1 = stablehlo.select %d0, %zero, %d : tensor<i1>, tensor<f32>
%d2 = stablehlo.compare NE, %d, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%d3 = stablehlo.select %d2, %nan, %d1 : tensor<i1>, tensor<f32>
%r = stablehlo.compare LT, %c3, %d3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>",
    ),
    (
        "two keys, one of them descending",
        "%0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%1 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%2 = stablehlo.compare LT, %e, %f, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
%3 = stablehlo.and %1, %2 : tensor<i1>
%r = stablehlo.or %0, %3 : tensor<i1>",
    ),
    (
        "two keys by a choice",
        "%0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%1 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%2 = stablehlo.compare GT, %g, %h, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
%r = stablehlo.select %1, %2, %0 : tensor<i1>, tensor<i1>",
    ),
];

/// Comparators that are no order of a few operands.
const OTHERS: [(&str, &str); 4] = [
    ("equal ones too", "%r = stablehlo.compare LE, %e, %f, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>"),
    ("of two operands", "%r = stablehlo.compare LT, %a, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>"),
    (
        "by a distance",
        "%0 = stablehlo.abs %a : tensor<f32>
%1 = stablehlo.abs %b : tensor<f32>
%r = stablehlo.compare LT, %0, %1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>",
    ),
    (
        "with a number",
        "%one = stablehlo.constant dense<1.0> : tensor<f32>
%0 = stablehlo.compare LT, %a, %one, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%1 = stablehlo.compare GE, %b, %one, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%r = stablehlo.and %0, %1 : tensor<i1>",
    ),
];

/// A sort along the second dimension of `[2, 12]`, as HLO.
fn sorted(comparator: &str) -> Vec<u8> {
    let types = ["f32", "f32", "i32", "i1"].map(|dtype| format!("tensor<2x12x{dtype}>")).join(", ");
    let text = format!(
        "func.func @main(%0: tensor<2x12xf32>, %1: tensor<2x12xf32>, %2: tensor<2x12xi32>, %3: tensor<2x12xi1>) -> ({types}) {{
%4:4 = \"stablehlo.sort\"(%0, %1, %2, %3) <{{dimension = 1 : i64, is_stable = true}}> ({{
^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>, %e: tensor<i32>, %f: tensor<i32>, %g: tensor<i1>, %h: tensor<i1>):
{comparator}
stablehlo.return %r : tensor<i1>
}}) : ({types}) -> ({types})
return %4#0, %4#1, %4#2, %4#3 : {types}
}}"
    );
    let read = halite_stablehlo::read(&SourceFile::new("sort.mlir", text));
    read.unwrap_or_else(|faults| panic!("{comparator}: {faults:?}")).encode()
}

pub(crate) fn lifted(bytes: &[u8]) -> Lifted {
    let hlo = CheckedHlo::new(decode(bytes).expect("it is HLO")).expect("it is sound");
    lift(hlo.graph(), 1).expect("it is lifted")
}

/// Numbers of which many are equal; floats with zeros and NaN of both signs; integers; flags.
fn inputs() -> Vec<HostTensor> {
    let many = |at: i32| (at * 7 + at / 5) % 4 - 2;
    let special = [0.0, f64::NAN, -0.0, 1.0, f64::INFINITY, -f64::NAN, -1.0, 0.0, -0.0, f64::NEG_INFINITY, f64::NAN];
    vec![
        HostTensor::from_f64s(DType::F32, [2, 12], (0..24).map(|at| f64::from(many(at)) / 2.0)),
        HostTensor::from_f64s(DType::F32, [2, 12], (0..24).map(|at| special[at % special.len()])),
        HostTensor::from_ints(DType::S32, [2, 12], (0..24).map(|at| i128::from(many(3 * at)))),
        HostTensor::from_ints(DType::Pred, [2, 12], (0..24).map(|at| i128::from(at % 3 == 0))),
    ]
}

#[test]
fn sorts_are_in_the_order_of_xla() {
    for (name, comparator) in ORDERS {
        let bytes = sorted(comparator);
        let lifted = lifted(&bytes);
        assert!(lifted.unfollowed.is_empty(), "{name}: {:?}", lifted.unfollowed);
        let entry = lifted.module.entry().expect("there is an entry");
        let found = Interpreter::of(&lifted.module, &Registry::builtin()).run(entry, inputs()).expect("it runs");
        assert_eq!(found, xla::evaluate(&bytes, &inputs()).expect("XLA runs it"), "{name}");
    }
}

#[test]
fn what_is_no_order_is_not_taken_for_one() {
    for (name, comparator) in OTHERS {
        assert_eq!(
            lifted(&sorted(comparator)).unfollowed.into_iter().collect::<Vec<_>>(),
            [("sort".into(), 1)],
            "{name}"
        );
    }
}
