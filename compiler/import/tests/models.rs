//! Programs as models.

use crate::program;
use halite_ir::text;
use halite_tensor::DType;

/// The IR of a program that is sound.
fn ir(text: &str, inputs: &str, outputs: &[&str], float: DType) -> String {
    let program = program(text, inputs, outputs).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let model = program.elaborated(float).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    text::print(&model.module)
}

const SQUARES: &str = "
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.multiply %x, %w : tensor<4xf32>
  %again = stablehlo.multiply %x, %w : tensor<4xf32>
  %square = stablehlo.multiply %y, %again : tensor<4xf32>
  %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %y, %sum : tensor<4xf32>, tensor<f32>
}";

/// The loss comes before what is shown; a loss without a count is a mean already; what is written twice is computed once.
#[test]
fn values_get_their_roles() {
    let expected = "\
halite.ir 1
module @test {phase = built, causal = false}

func @main(
  %x: f32[4] {batch},
  %w: f32[4] {weight, init = ones},
) -> (loss: f32[] {loss}, count: f32[] {count}, y: f32[4] {probe}) {
  %0 = constant 0.0 : f32[]
  %1 = multiply %x, %w : f32[4]
  %2 = multiply %1, %1 : f32[4]
  %3 = reduce %2 {kind = sum, dims = [0], accumulate = f32} : f32[]
  %4 = constant 1.0 : f32[]
  return %3, %4, %1
}
";
    assert_eq!(ir(SQUARES, "x | w", &["y", "loss"], DType::F32), expected);
}

/// Another element type stands wherever that of the weights does.
#[test]
fn weights_of_another_type_are_so_everywhere() {
    let wide = ir(SQUARES, "x | w", &["y", "loss"], DType::F64);
    assert!(!wide.contains("f32[4]") && wide.contains("%2 = multiply %1, %1 : f64[4]"), "{wide}");
    assert!(wide.contains("constant 0.0 : f64[]"), "{wide}");
}

/// The text of layers: each multiplies by its weight and adds what all read, which follows from constants, and what the caller says of it.
fn layers(count: usize, of_layer: impl Fn(usize) -> &'static str) -> (String, String) {
    let weights = (0..count).map(|at| format!(", %w{at}: tensor<4xf32>")).collect::<String>();
    let mut lines = String::new();
    for at in 0..count {
        let before = if at == 0 { "%x".to_owned() } else { format!("%y{}", at - 1) };
        lines += &format!(
            "  %i{at} = stablehlo.iota dim = 0 : tensor<4xf32>
  %a{at} = stablehlo.{} {before}, %i{at} : tensor<4xf32>
  %b{at} = stablehlo.multiply %a{at}, %w{at} : tensor<4xf32>
  %y{at} = stablehlo.add %b{at}, {before} : tensor<4xf32>\n",
            of_layer(at)
        );
    }
    let text = format!(
        "func.func @main(%x: tensor<4xf32>{weights}) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
{lines}  %sum = stablehlo.reduce(%y{} init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}}",
        count - 1
    );
    let names = (0..count).map(|at| format!(" layers.{at}.w")).collect::<String>();
    (text, format!("x |{names}"))
}

/// Layers that are alike are calls, cut where one value goes on; what follows from constants is computed in each.
#[test]
fn layers_that_are_alike_are_calls_of_one_function() {
    let (text, inputs) = layers(3, |_| "add");
    let expected = r#"halite.ir 1
module @test {phase = built, causal = false}

func @layers(%x: f32[4], %w: f32[4]) -> (f32[4]) {
  %0 = iota {dim = 0} : f32[4]
  %1 = add %x, %0 : f32[4]
  %2 = multiply %1, %w : f32[4]
  %3 = add %2, %x : f32[4]
  return %3
}

func @main(
  %x: f32[4] {batch},
  %layers.0.w: f32[4] {weight, init = ones, layer = "layers.0"},
  %layers.1.w: f32[4] {weight, init = ones, layer = "layers.1"},
  %layers.2.w: f32[4] {weight, init = ones, layer = "layers.2"},
) -> (loss: f32[] {loss}, count: f32[] {count}) {
  %0 = constant 0.0 : f32[]
  %1 = iota {dim = 0} : f32[4]
  %2 = call %x, %layers.0.w {callee = @layers} : f32[4]     // layers.0
  %3 = call %2, %layers.1.w {callee = @layers} : f32[4]     // layers.1
  %4 = call %3, %layers.2.w {callee = @layers} : f32[4]     // layers.2
  %5 = reduce %4 {kind = sum, dims = [0], accumulate = f32} : f32[]
  %6 = constant 1.0 : f32[]
  return %5, %6
}
"#;
    assert_eq!(ir(&text, &inputs, &["loss"], DType::F32), expected);
}

/// Layers of two kinds, one with a table of its own, are calls of a function for each.
#[test]
fn kinds_of_layers_have_a_function_each() {
    let (text, inputs) = layers(4, |_| "add");
    let text = ["%i1 =", "%i3 ="].iter().fold(text.clone(), |text, at| {
        text.replace(
            &format!("{at} stablehlo.iota dim = 0 : tensor<4xf32>"),
            &format!("{at} stablehlo.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>"),
        )
    });
    let ir = ir(&text, &inputs, &["loss"], DType::F32);
    let calls: Vec<&str> = ir.split("callee = @").skip(1).filter_map(|rest| rest.split('}').next()).collect();
    assert_eq!(calls, ["layers", "layers.1", "layers", "layers.1"], "{ir}");
    assert!(ir.contains("func @layers.1(%x: f32[4], %w: f32[4]) -> (f32[4])"), "{ir}");
}

/// One layer that is another keeps all of them as they are.
#[test]
fn layers_that_are_not_alike_stay() {
    for other in [0, 1, 2] {
        let (text, inputs) = layers(3, |at| if at == other { "subtract" } else { "add" });
        let ir = ir(&text, &inputs, &["loss"], DType::F32);
        assert!(!ir.contains("call"), "{ir}");
    }
}

/// The largest elements are the composite that targets have kernels for, whether `chlo.top_k` or a sort says so; what a model does not need
/// of a sort is left to the passes.
#[test]
fn largest_elements_are_a_composite() {
    let text = "
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %values, %indices = chlo.top_k(%y, k = 2) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %sum = stablehlo.reduce(%values init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}";
    let ir = ir(text, "x | w", &["loss"], DType::F32);
    assert_eq!(ir.matches("= top_k %").count(), 1, "{ir}");
    assert!(ir.contains("{k = 2} : f32[4,2], s32[4,2]"), "{ir}");
}
