//! Refusals of programs.

use crate::program;
use halite_tensor::DType;

/// A program of one parameter of data and one weight of these types, with these lines, that returns `%y`.
fn text(types: [&str; 3], lines: &str) -> String {
    let [x, w, y] = types;
    format!("func.func @main(%x: {x}, %w: {w}) -> {y} {{\n{lines}\n  return %y : {y}\n}}")
}

fn dot(line: &str) -> String {
    let four = "tensor<4xf32>";
    let dot = "  %y = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>";
    text([four, four, "tensor<f32>"], &format!("{line}{dot}"))
}

#[test]
fn roles_that_do_not_fit_are_refused() {
    let plain = dot("");
    let whole = text(["tensor<4xf32>", "tensor<s32>", "tensor<4xf32>"], "  %y = stablehlo.negate %x : tensor<4xf32>");
    let whole = whole.replace("s32", "i32");
    let scalar = text(["tensor<f32>", "tensor<4xf32>", "tensor<4xf32>"], "  %y = stablehlo.negate %w : tensor<4xf32>");
    let cases: [(&str, &str, &[&str], &str); 9] = [
        (&plain, "x", &["loss"], "the program has 2 parameters, roles are given of 1"),
        (&plain, "x | w", &[], "the program has 1 results, roles are given of 0"),
        (&plain, "x | x", &["loss"], "two parameters of the program are called `x`"),
        (&plain, "x | 0.w", &["loss"], "a parameter cannot be named `0.w`"),
        (&plain, "x | w", &["y"], "the program returns 0 results as its objective"),
        (&plain, "x w |", &["loss"], "the program takes no weights, so that nothing can be trained"),
        (&plain, "| x w", &["loss"], "the program takes no batch: all its parameters are weights"),
        (&whole, "x | w", &["loss"], "the weight `w` of the program is `s32`, not of floats"),
        (&scalar, "x | w", &["loss"], "the batch `x` of the program is a single number"),
    ];
    for (text, inputs, outputs, expected) in cases {
        let mistakes = program(text, inputs, outputs).expect_err(expected);
        let found: Vec<&str> = mistakes.iter().map(|mistake| mistake.message()).collect();
        assert!(found.contains(&expected), "{found:?}, not `{expected}`");
        assert!(mistakes.iter().all(|mistake| mistake.help_text().is_some()), "{mistakes}");
    }
    let mistakes = program(&whole.replace("i32", "f32"), "x | w", &["loss"]).unwrap_err();
    let found: Vec<&str> = mistakes.iter().map(|mistake| mistake.message()).collect();
    assert_eq!(found, ["the objective that the program returns is no scalar number"]);
}

/// The refusals of a program with sound roles.
fn refused(text: &str) -> Vec<String> {
    let mistakes = program(text, "x | w", &["loss"]).expect_err("it is refused");
    assert!(mistakes.iter().all(|mistake| mistake.help_text().is_some()), "{mistakes}");
    mistakes.iter().map(|mistake| mistake.message().to_owned()).collect()
}

#[test]
fn what_a_model_does_not_do_is_refused() {
    let unread = dot("").replace("%x, %w", "%x, %x");
    assert_eq!(refused(&unread), ["the objective of the program does not depend on the weight `w`"]);
    let random = "  %key = stablehlo.constant dense<1> : tensor<2xui64>
  %state, %bits = stablehlo.rng_bit_generator %key, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)\n";
    assert_eq!(refused(&dot(random)), ["the program draws random bits, which would be the same in each update"]);
    let ranks = "  %rank = stablehlo.replica_id : tensor<ui32>\n";
    assert_eq!(refused(&dot(ranks)), ["the program has `replica_id`: it is the program of one device of several"]);
    let fft = "  %z = stablehlo.custom_call @unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>\n";
    assert_eq!(refused(&dot(fft)), ["the program has `unknown`, for which there is no op"]);
    let composite = |name: &str, operands: &str, types: &str| {
        let call = format!(
            "\"stablehlo.composite\"({operands}) <{{name = \"{name}\", decomposition = @other}}> : ({types}) -> tensor<4xf32>"
        );
        let other = types.split(", ").enumerate().map(|(at, ty)| format!("%{at}: {ty}")).collect::<Vec<_>>().join(", ");
        let other = format!("\nfunc.func private @other({other}) -> tensor<4xf32> {{\n  return %0 : tensor<4xf32>\n}}");
        refused(&(dot(&format!("  %z = {call}\n")) + &other))
    };
    let no_op = |name: &str| [format!("the program has `{name}`, for which there is no op")];
    assert_eq!(composite("halite.reluu", "%x", "tensor<4xf32>"), no_op("halite.reluu"));
    assert_eq!(composite("halite.relu", "%x, %w", "tensor<4xf32>, tensor<4xf32>"), no_op("halite.relu"));
}

/// A program that reads the bits of a number has no form in another type.
#[test]
fn bits_keep_a_program_in_its_type() {
    let bits = "  %b = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>\n";
    let program = program(&dot(bits), "x | w", &["loss"]).unwrap();
    assert!(program.elaborated(DType::F32).is_ok());
    let mistakes = program.elaborated(DType::F64).unwrap_err();
    assert_eq!(mistakes[0].message(), "a program in `f32` cannot be computed in `f64`");
}
