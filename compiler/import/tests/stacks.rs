//! Loops over layers whose weights are rows of arrays.

use crate::program;
use halite_import::Stack;
use halite_ir::text;
use halite_tensor::DType;

/// A loop of three rounds over rows of `%w` and `%b`: each gives `x * w[i] + b[i]` to the next, and puts the square of it into row `i` of an
/// array. What stands before the loop makes `%w` and `%b` of the parameters.
fn text(before: &str, rest: &str) -> String {
    format!(
        "func.func @main(%x: tensor<4xf32>, %weight: tensor<3x4xf32>, %bias: tensor<3x4xf32>) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %empty = stablehlo.constant dense<0.0> : tensor<3x4xf32>
{before}
  %end:5 = stablehlo.while(%i = %start, %y = %x, %ws = %w, %bs = %b, %squares = %empty)
    : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  cond {{
    %three = stablehlo.constant dense<3> : tensor<i32>
    %goes = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes : tensor<i1>
  }} do {{
    %none = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %wi = func.call @row(%ws, %i) : (tensor<3x4xf32>, tensor<i32>) -> tensor<4xf32>
    %bi = func.call @row(%bs, %i) : (tensor<3x4xf32>, tensor<i32>) -> tensor<4xf32>
    %p = stablehlo.multiply %y, %wi : tensor<4xf32>
    %q = stablehlo.add %p, %bi : tensor<4xf32>
    %s = stablehlo.multiply %q, %q : tensor<4xf32>
    %s1 = stablehlo.reshape %s : (tensor<4xf32>) -> tensor<1x4xf32>
    %all = stablehlo.dynamic_update_slice %squares, %s1, %i, %none
      : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %q, %ws, %bs, %all : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  }}
  %sum = stablehlo.reduce(%end#4 init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
{rest}
}}
func.func private @row(%w: tensor<3x4xf32>, %i: tensor<i32>) -> tensor<4xf32> {{
  %none = stablehlo.constant dense<0> : tensor<i32>
  %row = stablehlo.dynamic_slice %w, %i, %none, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  %flat = stablehlo.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
  return %flat : tensor<4xf32>
}}"
    )
}

const PLAIN: &str = "  %w = stablehlo.negate %weight : tensor<3x4xf32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %twos = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %b = stablehlo.multiply %twos, %bias : tensor<3x4xf32>";

const RETURN: &str = "  return %sum : tensor<f32>";

/// The rows are weights of their own, which each layer takes, with what is made of all rows; the array that is filled is its rows.
#[test]
fn rows_of_weights_are_weights_of_layers() {
    let program = program(&text(PLAIN, RETURN), "x | blocks.mlp.w blocks.b", &["loss"]).unwrap();
    let rows = |rest: &str| (0..3).map(|layer| format!("blocks.{layer}.{rest}")).collect();
    let stack = |name: &str, rest: &str| Stack { name: name.to_owned(), rows: rows(rest) };
    assert_eq!(program.stacks(), [stack("blocks.mlp.w", "mlp.w"), stack("blocks.b", "b")]);
    let expected = r#"halite.ir 1
module @test {phase = built, causal = false}

func @blocks(%x: f32[4], %b: f32[4], %mlp.w: f32[4]) -> (f32[4], f32[1,4]) {
  %0 = constant 2.0 : f32[]
  %1 = broadcast_in_dim %0 {dims = []} : f32[1,4]
  %2 = reshape %mlp.w : f32[1,4]
  %3 = negate %2 : f32[1,4]
  %4 = reshape %3 : f32[4]
  %5 = reshape %b : f32[1,4]
  %6 = multiply %1, %5 : f32[1,4]
  %7 = reshape %6 : f32[4]
  %8 = multiply %x, %4 : f32[4]
  %9 = add %8, %7 : f32[4]
  %10 = multiply %9, %9 : f32[4]
  %11 = reshape %10 : f32[1,4]
  return %9, %11
}

func @main(
  %x: f32[4] {batch},
  %blocks.0.mlp.w: f32[4] {weight, init = ones, layer = "blocks.0"},
  %blocks.1.mlp.w: f32[4] {weight, init = ones, layer = "blocks.1"},
  %blocks.2.mlp.w: f32[4] {weight, init = ones, layer = "blocks.2"},
  %blocks.0.b: f32[4] {weight, init = ones, layer = "blocks.0"},
  %blocks.1.b: f32[4] {weight, init = ones, layer = "blocks.1"},
  %blocks.2.b: f32[4] {weight, init = ones, layer = "blocks.2"},
) -> (loss: f32[] {loss}, count: f32[] {count}) {
  %0 = constant 0.0 : f32[]
  %1 = constant 0 : s32[]
  %2 = constant 0.0 : f32[3,4]
  %3 = constant 2.0 : f32[]
  %4 = broadcast_in_dim %3 {dims = []} : f32[3,4]
  %5 = constant 1 : s32[]
  %6 = broadcast_in_dim %3 {dims = []} : f32[1,4]
  %7 = add %1, %5 : s32[]
  %8 = add %7, %5 : s32[]
  %9 = add %8, %5 : s32[]
  %10, %11 = call %x, %blocks.0.b, %blocks.0.mlp.w {callee = @blocks} : f32[4], f32[1,4]     // blocks.0
  %12, %13 = call %10, %blocks.1.b, %blocks.1.mlp.w {callee = @blocks} : f32[4], f32[1,4]     // blocks.1
  %14, %15 = call %12, %blocks.2.b, %blocks.2.mlp.w {callee = @blocks} : f32[4], f32[1,4]     // blocks.2
  %16 = concatenate %11, %13, %15 {dim = 0} : f32[3,4]
  %17 = reduce %16 {kind = sum, dims = [0, 1], accumulate = f32} : f32[]
  %18 = constant 1.0 : f32[]
  return %17, %18
}
"#;
    let found = text::print(&program.elaborated(DType::F32).unwrap().module);
    assert_eq!(found, expected, "{found}");
}

/// Values that each round reads another of, as rows of a constant, are arguments of its call.
#[test]
fn other_values_of_each_layer_are_arguments() {
    let scaled = "%table = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 8.0, 7.0, 6.0]]> : tensor<3x4xf32>
    %t = func.call @row(%table, %i) : (tensor<3x4xf32>, tensor<i32>) -> tensor<4xf32>
    %scaled = stablehlo.multiply %p, %t : tensor<4xf32>
    %q = stablehlo.add %scaled, %bi : tensor<4xf32>";
    let looped = text(PLAIN, RETURN).replace("%q = stablehlo.add %p, %bi : tensor<4xf32>", scaled);
    let program = program(&looped, "x | blocks.w blocks.b", &["loss"]).unwrap();
    let found = text::print(&program.elaborated(DType::F32).unwrap().module);
    assert!(
        found.contains("func @blocks(%x: f32[4], %b: f32[4], %w: f32[4], %own: f32[4]) -> (f32[4], f32[1,4])"),
        "{found}"
    );
    assert_eq!(found.matches("{callee = @blocks}").count(), 3, "{found}");
}

/// Where something reads a weight as a whole, it stays one.
#[test]
fn weights_that_are_read_as_a_whole_stay_whole() {
    let whole = "  %norm = stablehlo.reduce(%weight init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
  %loss = stablehlo.add %sum, %norm : tensor<f32>
  return %loss : tensor<f32>";
    let program = program(&text(PLAIN, whole), "x | w b", &["loss"]).unwrap();
    let names: Vec<&str> = program.stacks().iter().map(|stack| stack.name.as_str()).collect();
    assert_eq!(names, ["b"]);
}

/// Names of rows are those that no other weight has.
#[test]
fn names_of_rows_are_free() {
    let names = |inputs: &str| -> Vec<String> {
        let program = program(&text(PLAIN, RETURN), inputs, &["loss"]).unwrap();
        program.stacks().iter().map(|stack| stack.rows[2].clone()).collect()
    };
    assert_eq!(names("x | w b"), ["layers.2.w", "layers.2.b"]);
    assert_eq!(names("x | net.layers.block.w net.layers.block.b"), ["net.2.layers.block.w", "net.2.layers.block.b"]);
    assert_eq!(
        names("net.x | net.layers.block.w net.layers.block.b"),
        ["net.layers.2.block.w", "net.layers.2.block.b"]
    );
    assert_eq!(names("x | a.w c.b"), ["layers.2.a.w", "layers.2.c.b"]);
    assert_eq!(names("groups.x | groups.1.w groups.1.b"), ["groups_1.2.w", "groups_1.2.b"]);
}
