//! The logarithm of the gamma function and its derivative, as programs of others have them.

use crate::orders::lifted;
use halite_ir::{Interpreter, Module, ParamRole, Registry, ResultRole, WeightInfo};
use halite_support::SourceFile;
use halite_tensor::{DType, HostTensor, Init};
use halite_test_kit::xla::run_passes;

/// Numbers with `lgamma`, `digamma` and the derivative of that, by SciPy.
const KNOWN: [[f64; 4]; 9] = [
    [1e-30, 69.07755278982137, -9.999999999999999e+29, 9.999999999999998e+59],
    [1e-10, 23.025850929882733, -10000000000.577215, 1e+20],
    [0.3, 1.0957979948180756, -3.502524222200133, 12.245364546107734],
    [0.5, 0.5723649429247, -1.9635100260214235, 4.93480220054468],
    [1.46, -0.1214850010040075, -0.0015805619870834522, 0.9691196215098878],
    [10.5, 13.940625219403763, 2.3030010342976865, 0.09991695605912673],
    [100000000.0, 1742068066.1038349, 18.420680738952367, 1.000000005e-08],
    [1e+300, 6.897755278982137e+302, 690.7755278982137, 1e-300],
    [-2.7, -0.0714070853156458, -1.1153471291406887, 14.769375845132316],
];

/// A sum of a function of a tensor, and its gradient.
fn sum(name: &str) -> Module {
    let count = KNOWN.len();
    let text = format!(
        "func.func @main(%x: tensor<{count}xf64>) -> tensor<f64> {{
%0 = chlo.{name} %x : tensor<{count}xf64> -> tensor<{count}xf64>
%zero = stablehlo.constant dense<0.0> : tensor<f64>
%1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<{count}xf64>, tensor<f64>) -> tensor<f64>
return %1 : tensor<f64>
}}"
    );
    let read = halite_stablehlo::read(&SourceFile::new("gamma.mlir", text));
    let mut module = lifted(&read.expect("it is read").encode()).module;
    let mut entry = module.functions.pop().expect("there is an entry");
    entry.params[0].role = ParamRole::Weight(WeightInfo::new(Init::Zeros));
    (entry.results[0].role, entry.results[0].name) = (ResultRole::Loss, "loss".into());
    module.functions.push(entry);
    run_passes("auto-diff", &mut module, &Registry::builtin()).expect("it has a gradient");
    module
}

#[test]
fn functions_and_gradients_are_those_that_are_known() {
    let x = HostTensor::from_f64s(DType::F64, [KNOWN.len()], KNOWN.map(|row| row[0]));
    for (name, column) in [("lgamma", 1), ("digamma", 2)] {
        let module = sum(name);
        let entry = module.entry().expect("there is an entry");
        let results = Interpreter::of(&module, &Registry::builtin()).run(entry, vec![x.clone()]).expect("it runs");
        let total: f64 = KNOWN.iter().map(|row| row[column]).sum();
        assert!((results[0].f64s()[0] - total).abs() <= 1e-12 * total.abs(), "{name}: {}", results[0].f64s()[0]);
        for (found, row) in results[1].f64s().into_iter().zip(KNOWN) {
            let expected = row[column + 1];
            assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{name} at {}: {found}", row[0]);
        }
    }
}
