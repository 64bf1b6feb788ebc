//! Roles that are written into a program.

use crate::hlo;
use halite_hlo::CheckedHlo;
use halite_import::Program;

/// A program whose module says these roles.
fn text(parameters: &str, results: &str, causal: &str) -> String {
    format!(
        r#"module @m attributes {{mhlo.frontend_attributes = {{"halite.parameters" = "{parameters}", "halite.results" = "{results}", "halite.causal" = "{causal}"}}}} {{
  func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> (tensor<f32>, tensor<4x4xf32>) {{
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %scaled = stablehlo.multiply %w, %s : tensor<4x4xf32>
    %y = stablehlo.multiply %x, %scaled : tensor<4x4xf32>
    %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
    return %sum, %y : tensor<f32>, tensor<4x4xf32>
  }}
}}"#
    )
}

const PARAMETERS: &str = "x: batch; w: weight = uniform(-0.5, 0.5); s: frozen = ones";
const RESULTS: &str = "loss: loss; y: shown";

/// Roles that are written are read again, from HLO too.
#[test]
fn written_roles_are_read() {
    let program =
        Program::read("test", hlo(&text(PARAMETERS, RESULTS, "true"))).unwrap_or_else(|faults| panic!("{faults}"));
    let [parameters, results, causal] = program.roles().map(|(_, text)| text);
    assert_eq!([&*parameters, &*results, &*causal], [PARAMETERS, RESULTS, "true"]);
    assert!(program.signature().causal);
    let again = Program::read("test", CheckedHlo::new(program.described()).unwrap())
        .unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(again.signature(), program.signature());
}

#[test]
fn what_is_no_role_is_refused() {
    let cases = [
        (["x: batch; w: weight", RESULTS, "false"], "the program has 3 parameters, roles are given of 2"),
        (["x: batch; w; s: frozen", RESULTS, "false"], "cannot read `w` in `halite.parameters` of the program"),
        (
            ["x: batch; w: waits; s: frozen", RESULTS, "false"],
            "cannot read `w: waits` in `halite.parameters` of the program",
        ),
        (
            ["x: batch; w: weight = normal(0.1; s: frozen", RESULTS, "false"],
            "cannot read `w: weight = normal(0.1` in `halite.parameters` of the program",
        ),
        (
            ["x: batch; w: weight = normal(-1.0); s: frozen", RESULTS, "false"],
            "cannot read `w: weight = normal(-1.0)` in `halite.parameters` of the program",
        ),
        ([PARAMETERS, "a: lost; b", "false"], "cannot read `a: lost` in `halite.results` of the program"),
        ([PARAMETERS, RESULTS, "perhaps"], "cannot read `perhaps` in `halite.causal` of the program"),
    ];
    for ([parameters, results, causal], expected) in cases {
        let mistakes = Program::read("test", hlo(&text(parameters, results, causal))).expect_err(expected);
        let found: Vec<&str> = mistakes.iter().map(|mistake| mistake.message()).collect();
        assert_eq!(found, [expected]);
        assert!(mistakes[0].help_text().is_some(), "{mistakes}");
    }
    let plain = text("", "", "").replace("halite.parameters", "parameters");
    let mistakes = Program::read("test", hlo(&plain)).unwrap_err();
    assert_eq!(mistakes[0].message(), "the program does not say what its parameters and results are");
}
