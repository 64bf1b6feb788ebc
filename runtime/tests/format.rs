//! Programs in the formats that plugins take.

use crate::common::{add, add_in_place, client};
use halite_runtime::{
    CompileOptions, Executable, Executor, Pjrt, Program, ProgramFormat, Result, RuntimeError, evaluate,
};
use halite_stablehlo::Form;
use halite_tensor::{DType, HostTensor};

/// Compiles a module with the CPU plugin in the format of the executor, where this text stands for its StableHLO.
fn compile(executor: &Pjrt, hlo: &[u8], text: &str) -> Result<Box<dyn Executable>> {
    let program = Program::new(hlo, CompileOptions::default())?;
    executor.compile(&program.in_format(executor.format(), |_| Ok::<_, RuntimeError>(text.to_owned()))?)
}

/// The text computes something else than the HLO, which shows which of the two the plugin was given.
#[test]
fn plugins_get_one_of_the_two() {
    let text = "func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {\n  \
                %z = stablehlo.multiply %x, %y : tensor<4xf32>\n  return %z : tensor<4xf32>\n}\n";
    let [x, y] = [3.0, 5.0].map(|value| HostTensor::from_f64s(DType::F32, [4], [value; 4]));
    for (format, expected) in [(ProgramFormat::Hlo, 8.0), (ProgramFormat::Mlir, 15.0)] {
        let executor = client(1).with_format(format);
        let executable = compile(&executor, &add(DType::F32), text).unwrap();
        let outputs = evaluate(&executor, executable.as_ref(), &[x.clone(), y.clone()]).unwrap();
        assert_eq!(outputs, [HostTensor::from_f64s(DType::F32, [4], [expected; 4])], "{format}");
    }
}

#[test]
fn a_text_that_is_none_is_refused() {
    let executor = client(1).with_format(ProgramFormat::Mlir);
    let refused = |text: &str| match compile(&executor, &add(DType::F32), text) {
        Ok(_) => panic!("`{text}` compiles"),
        Err(error) => error,
    };
    assert!(matches!(refused("func.func @main("), RuntimeError::Compile(_)));
    // XLA finds the number of results, which must be that of the HLO.
    let none = refused("func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) {\n  return\n}\n");
    assert!(none.to_string().contains("the program shape states 1 outputs, the entry has 0"), "{none}");
}

/// As the HLO says of aliases, so does the text: XLA takes the memory of what is donated.
#[test]
fn donations_are_the_same_in_both() {
    let alias = |format| {
        let executor = client(1).with_format(format);
        let text = halite_stablehlo::translate(&add_in_place(), Form::Program { num_replicas: 1 }).unwrap();
        compile(&executor, &add_in_place(), &text).unwrap().memory_stats().unwrap().alias
    };
    assert_eq!(ProgramFormat::OF_PLUGINS.map(alias), [16, 16]);
}
