//! Reductions and branches of programs of others give what XLA computes.

use super::orders::lifted;
use halite_ir::{Interpreter, Registry};
use halite_support::SourceFile;
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;

/// Programs of `%x: f32[3,7]`, `%n: s32[3,7]`, and a number `%k: s32`, with the type of `%y`, which they return.
const PROGRAMS: [(&str, &str, &str); 7] = [
    (
        "a product",
        "tensor<3xf32>",
        "%one = stablehlo.constant dense<1.0> : tensor<f32>
%y = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [1] : (tensor<3x7xf32>, tensor<f32>) -> tensor<3xf32>",
    ),
    (
        "exclusive or",
        "tensor<7xi32>",
        "%none = stablehlo.constant dense<0> : tensor<i32>
%y = stablehlo.reduce(%n init: %none) applies stablehlo.xor across dimensions = [0] : (tensor<3x7xi32>, tensor<i32>) -> tensor<7xi32>",
    ),
    (
        "functions one after another",
        "tensor<3xf32>",
        "%one = stablehlo.constant dense<1.0> : tensor<f32>
%zero = stablehlo.constant dense<0.0> : tensor<f32>
%z:2 = \"stablehlo.reduce\"(%x, %x, %one, %zero) <{dimensions = array<i64: 1>}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
%0 = stablehlo.multiply %a, %c : tensor<f32>
%1 = stablehlo.multiply %b, %c : tensor<f32>
%2 = stablehlo.add %1, %d : tensor<f32>
stablehlo.return %0, %2 : tensor<f32>, tensor<f32>
}) : (tensor<3x7xf32>, tensor<3x7xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
%y = stablehlo.negate %z#1 : tensor<3xf32>",
    ),
    (
        "a sum and a maximum",
        "tensor<f32>",
        "%zero = stablehlo.constant dense<0.0> : tensor<f32>
%least = stablehlo.constant dense<-2147483648> : tensor<i32>
%z:2 = \"stablehlo.reduce\"(%x, %n, %zero, %least) <{dimensions = array<i64: 0, 1>}> ({
^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
%0 = stablehlo.add %c, %a : tensor<f32>
%1 = stablehlo.maximum %b, %d : tensor<i32>
stablehlo.return %0, %1 : tensor<f32>, tensor<i32>
}) : (tensor<3x7xf32>, tensor<3x7xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
%0 = stablehlo.convert %z#1 : (tensor<i32>) -> tensor<f32>
%y = stablehlo.add %z#0, %0 : tensor<f32>",
    ),
    (
        "cumulative products",
        "tensor<3x7xf32>",
        "%one = stablehlo.constant dense<1.0> : tensor<f32>
%y = \"stablehlo.reduce_window\"(%x, %one) <{padding = dense<[[0, 0], [6, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 7>}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
%0 = stablehlo.multiply %a, %b : tensor<f32>
stablehlo.return %0 : tensor<f32>
}) : (tensor<3x7xf32>, tensor<f32>) -> tensor<3x7xf32>",
    ),
    (
        "cumulative from the end, with a start",
        "tensor<3x7xi32>",
        "%five = stablehlo.constant dense<2> : tensor<i32>
%y = \"stablehlo.reduce_window\"(%n, %five) <{padding = dense<[[0, 0], [0, 6]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 7>}> ({
^bb0(%a: tensor<i32>, %b: tensor<i32>):
%0 = stablehlo.maximum %a, %b : tensor<i32>
stablehlo.return %0 : tensor<i32>
}) : (tensor<3x7xi32>, tensor<i32>) -> tensor<3x7xi32>",
    ),
    (
        "branches",
        "tensor<3x7xf32>",
        "%0 = \"stablehlo.case\"(%k) ({
%1 = stablehlo.sqrt %x : tensor<3x7xf32>
stablehlo.return %1 : tensor<3x7xf32>
}, {
stablehlo.return %x : tensor<3x7xf32>
}, {
%1 = stablehlo.convert %n : (tensor<3x7xi32>) -> tensor<3x7xf32>
%2 = stablehlo.add %1, %x : tensor<3x7xf32>
stablehlo.return %2 : tensor<3x7xf32>
}) : (tensor<i32>) -> tensor<3x7xf32>
%one = stablehlo.constant dense<1> : tensor<i32>
%few = stablehlo.compare LT, %k, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
%y = \"stablehlo.if\"(%few) ({
%1 = stablehlo.negate %0 : tensor<3x7xf32>
stablehlo.return %1 : tensor<3x7xf32>
}, {
stablehlo.return %0 : tensor<3x7xf32>
}) : (tensor<i1>) -> tensor<3x7xf32>",
    ),
];

fn hlo(ty: &str, lines: &str) -> Vec<u8> {
    let text = format!(
        "func.func @main(%x: tensor<3x7xf32>, %n: tensor<3x7xi32>, %k: tensor<i32>) -> {ty} {{\n{lines}\nreturn %y : {ty}\n}}"
    );
    let read = halite_stablehlo::read(&SourceFile::new("foreign.mlir", text));
    read.unwrap_or_else(|faults| panic!("{lines}: {faults:?}")).encode()
}

#[test]
fn reductions_and_branches_are_those_of_xla() {
    for (name, ty, lines) in PROGRAMS {
        let bytes = hlo(ty, lines);
        let lifted = lifted(&bytes);
        assert!(lifted.unfollowed.is_empty(), "{name}: {:?}", lifted.unfollowed);
        let entry = lifted.module.entry().expect("there is an entry");
        for number in -1..4 {
            let inputs = vec![
                HostTensor::from_f64s(DType::F32, [3, 7], (0..21).map(|at| f64::from(at * 5 % 8 - 2) / 2.0)),
                HostTensor::from_ints(DType::S32, [3, 7], (0..21).map(|at| at * 5 % 8 - 2)),
                HostTensor::from_ints(DType::S32, [], [number]),
            ];
            let expected = xla::evaluate(&bytes, &inputs).expect("XLA runs it");
            let found = Interpreter::of(&lifted.module, &Registry::builtin()).run(entry, inputs).expect("it runs");
            let is_same = found == expected || difference(&found[0], &expected[0]).relative() < 1e-6;
            assert!(is_same, "{name} of {number}: {found:?}, XLA has {expected:?}");
        }
    }
}

/// Only ranks that take it would take part in what a branch exchanges.
#[test]
fn branches_that_talk_to_other_ranks_are_not_followed() {
    let lines = "%few = stablehlo.compare LT, %k, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
%y = \"stablehlo.if\"(%few) ({
%1 = \"stablehlo.all_reduce\"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
%2 = stablehlo.add %a, %b : tensor<f32>
stablehlo.return %2 : tensor<f32>
}) : (tensor<3x7xf32>) -> tensor<3x7xf32>
stablehlo.return %1 : tensor<3x7xf32>
}, {
stablehlo.return %x : tensor<3x7xf32>
}) : (tensor<i1>) -> tensor<3x7xf32>";
    let unfollowed = lifted(&hlo("tensor<3x7xf32>", lines)).unfollowed;
    assert_eq!(unfollowed.into_iter().collect::<Vec<_>>(), [("conditional".into(), 1)]);
}

/// NaN is the extreme of those that have one, and the first of several has its place.
#[test]
fn places_of_extremes_are_those_of_xla() {
    for direction in ["GT", "LT"] {
        let lines = format!(
            "%none = stablehlo.constant dense<0> : tensor<i32>
%start = stablehlo.constant dense<{}> : tensor<f32>
%at = stablehlo.iota dim = 1 : tensor<3x7xi32>
%z:2 = \"stablehlo.reduce\"(%x, %at, %start, %none) <{{dimensions = array<i64: 1>}}> ({{
^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
%0 = stablehlo.compare {direction}, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%2 = stablehlo.or %0, %1 : tensor<i1>
%3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
%5 = stablehlo.and %3, %4 : tensor<i1>
%6 = stablehlo.or %2, %5 : tensor<i1>
%7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
%8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
}}) : (tensor<3x7xf32>, tensor<3x7xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
%0 = stablehlo.convert %z#1 : (tensor<3xi32>) -> tensor<3xf32>
%1 = stablehlo.compare NE, %z#0, %z#0, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
%far = stablehlo.constant dense<100.0> : tensor<3xf32>
%2 = stablehlo.select %1, %far, %z#0 : tensor<3xi1>, tensor<3xf32>
%y = stablehlo.add %0, %2 : tensor<3xf32>",
            if direction == "GT" { "0xFF800000" } else { "0x7F800000" }
        );
        let bytes = hlo("tensor<3xf32>", &lines);
        let lifted = lifted(&bytes);
        assert!(lifted.unfollowed.is_empty(), "{:?}", lifted.unfollowed);
        let entry = lifted.module.entry().expect("there is an entry");
        // One row has no NaN, one has one, one has several.
        let numbers = (0..21).map(|at| if [9, 16, 18].contains(&at) { f64::NAN } else { f64::from(at * 5 % 8) });
        let inputs = vec![
            HostTensor::from_f64s(DType::F32, [3, 7], numbers),
            HostTensor::from_ints(DType::S32, [3, 7], [0; 21]),
            HostTensor::from_ints(DType::S32, [], [0]),
        ];
        let expected = xla::evaluate(&bytes, &inputs).expect("XLA runs it");
        let found = Interpreter::of(&lifted.module, &Registry::builtin()).run(entry, inputs).expect("it runs");
        assert_eq!(found, expected, "{direction}");
    }
}
