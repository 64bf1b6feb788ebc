//! Programs of others that calculate with truth values, integers and random bits mean to us what they mean to XLA.

use crate::orders::lifted;
use halite_ir::{Interpreter, Registry};
use halite_support::SourceFile;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;

/// Functions of `pred[2,3]` and `pred[3,2]`.
const OF_TRUTHS: [&str; 7] = [
    "%r = stablehlo.maximum %x, %x2 : tensor<2x3xi1>",
    "%r = stablehlo.minimum %x, %x2 : tensor<2x3xi1>",
    "%r = stablehlo.add %x, %x2 : tensor<2x3xi1>",
    "%r = stablehlo.multiply %x, %x2 : tensor<2x3xi1>",
    "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xi1>, tensor<3x2xi1>) -> tensor<2x2xi1>
%1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<2x2xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
%r = stablehlo.xor %1, %x : tensor<2x3xi1>",
    "%c = stablehlo.constant dense<false> : tensor<i1>
%0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xi1>, tensor<i1>) -> tensor<2xi1>
%r = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2xi1>) -> tensor<2x3xi1>",
    "%c = stablehlo.constant dense<true> : tensor<i1>
%0 = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = [0] : (tensor<2x3xi1>, tensor<i1>) -> tensor<3xi1>
%r = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xi1>) -> tensor<2x3xi1>",
];

/// A clamp of truth values, and the same by ops that XLA has for them: CPU XLA compiles such a clamp only where it makes its kernels by MLIR.
const CLAMP: (&str, &str) = (
    "%r = stablehlo.clamp %x, %x2, %y2 : tensor<2x3xi1>",
    "%0 = stablehlo.maximum %x, %x2 : tensor<2x3xi1>
%r = stablehlo.minimum %0, %y2 : tensor<2x3xi1>",
);

/// Products of integers, and of integers as floats.
const OF_INTEGERS: [(DType, &str, &str); 5] = [
    (DType::U64, "ui64", "ui64"),
    (DType::S64, "i64", "i64"),
    (DType::S32, "i32", "i32"),
    (DType::S8, "i8", "i32"),
    (DType::S32, "i32", "f64"),
];

fn module(text: &str) -> Vec<u8> {
    let read = halite_stablehlo::read(&SourceFile::new("truths.mlir", text.to_owned()));
    read.unwrap_or_else(|faults| panic!("{text}: {faults:?}")).encode()
}

/// Lifted, `text` gives what XLA gives for `same`.
fn agree_with(text: &str, same: &str, inputs: Vec<HostTensor>) {
    let lifted = lifted(&module(text));
    assert!(lifted.unfollowed.is_empty(), "{text}: {:?}", lifted.unfollowed);
    let entry = lifted.module.entry().expect("there is an entry");
    let found = Interpreter::of(&lifted.module, &Registry::builtin()).run(entry, inputs.clone()).expect("it runs");
    assert_eq!(found, xla::evaluate(&module(same), &inputs).expect("XLA runs it"), "{text}");
}

fn agree(text: &str, inputs: Vec<HostTensor>) {
    agree_with(text, text, inputs);
}

fn of_truths(lines: &str) -> String {
    format!(
        "func.func @main(%x: tensor<2x3xi1>, %y: tensor<3x2xi1>) -> tensor<2x3xi1> {{
%x2 = stablehlo.reshape %y : (tensor<3x2xi1>) -> tensor<2x3xi1>
%y2 = stablehlo.reverse %x, dims = [1] : tensor<2x3xi1>
{lines}
return %r : tensor<2x3xi1>
}}"
    )
}

#[test]
fn truth_values_are_or_ed_and_and_ed() {
    for (lines, same) in OF_TRUTHS.map(|lines| (lines, lines)).into_iter().chain([CLAMP]) {
        let bits =
            |shape: [usize; 2], bits: i128| HostTensor::from_ints(DType::Pred, shape, (0..6).map(|at| bits >> at & 1));
        for (x, y) in [(0b01_1010, 0b00_0111), (0b11_1000, 0b10_0110), (0, 0b11_1111)] {
            agree_with(&of_truths(lines), &of_truths(same), vec![bits([2, 3], x), bits([3, 2], y)]);
        }
    }
}

#[test]
fn products_of_integers_are_exact_and_wrap() {
    for (dtype, operand, result) in OF_INTEGERS {
        let text = format!(
            "func.func @main(%x: tensor<2x3x{operand}>, %y: tensor<3x2x{operand}>) -> tensor<2x2x{result}> {{
%r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3x{operand}>, tensor<3x2x{operand}>) -> tensor<2x2x{result}>
return %r : tensor<2x2x{result}>
}}"
        );
        let (least, greatest) = dtype.int_range().expect("it is an integer");
        let numbers = [greatest, greatest - 2, least, 3, least + 5, greatest / 2 + 1];
        let tensor = |shape: [usize; 2], first: usize| {
            HostTensor::from_ints(dtype, shape, (0..6).map(|at| numbers[(at * first + 1) % 6]))
        };
        agree(&text, vec![tensor([2, 3], 1), tensor([3, 2], 5)]);
    }
}

#[test]
fn random_bits_are_those_of_the_generator_that_is_named() {
    for algorithm in ["THREE_FRY", "PHILOX", "DEFAULT"] {
        for bits in ["5x3xui32", "5xui64", "ui16", "7xui8"] {
            let text = format!(
                "func.func @main(%x: tensor<2xui64>) -> (tensor<2xui64>, tensor<{bits}>) {{
%0, %1 = stablehlo.rng_bit_generator %x, algorithm = {algorithm} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<{bits}>)
return %0, %1 : tensor<2xui64>, tensor<{bits}>
}}"
            );
            agree(&text, vec![HostTensor::from_ints(DType::U64, [2], [0x1234_5678_9abc_def0, i128::from(u64::MAX)])]);
        }
    }
}
