//! Windows that programs of others address by indices mean to us what they mean to XLA.

use crate::orders::lifted;
use halite_hlo::decode;
use halite_hlo::graph::Graph;
use halite_ir::{Interpreter, Registry};
use halite_lift::lift;
use halite_support::SourceFile;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;

/// Sums of rows of two at positions of the first dimension.
const ROWS: &str = "func.func @main(%x: tensor<4x2xf32>, %at: tensor<3x1xi32>, %updates: tensor<3x2xf32>) -> tensor<4x2xf32> {
%r = \"stablehlo.scatter\"(%x, %at, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
^bb0(%l: tensor<f32>, %u: tensor<f32>):
%s = stablehlo.add %l, %u : tensor<f32>
stablehlo.return %s : tensor<f32>
}) : (tensor<4x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
return %r : tensor<4x2xf32>
}";

fn bytes(text: &str) -> Vec<u8> {
    let read = halite_stablehlo::read(&SourceFile::new("windows.mlir", text.to_owned()));
    read.unwrap_or_else(|faults| panic!("{faults:?}")).encode()
}

/// The window has one row of four and the dimension that is addressed whole: as many elements as rows at two positions would have.
#[test]
fn windows_of_a_scatter_that_are_no_slices_are_not_taken_for_slices() {
    let text = "func.func @main(%x: tensor<4x1x4xf32>, %at: tensor<2x1xi32>, %updates: tensor<1x2x1x4xf32>) -> tensor<4x1x4xf32> {
%r = \"stablehlo.scatter\"(%x, %at, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 2, 3], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>}> ({
^bb0(%l: tensor<f32>, %u: tensor<f32>):
%s = stablehlo.add %l, %u : tensor<f32>
stablehlo.return %s : tensor<f32>
}) : (tensor<4x1x4xf32>, tensor<2x1xi32>, tensor<1x2x1x4xf32>) -> tensor<4x1x4xf32>
return %r : tensor<4x1x4xf32>
}";
    let bytes = bytes(text);
    let lifted = lifted(&bytes);
    assert!(lifted.unfollowed.is_empty(), "{:?}", lifted.unfollowed);
    let entry = lifted.module.entry().expect("there is an entry");
    for at in [[0, 0], [0, 1], [-1, 3]] {
        let count = |shape: &[usize], first: i32| {
            let elements = shape.iter().product::<usize>();
            HostTensor::from_f64s(DType::F32, shape, (0..elements).map(|number| f64::from(first) + number as f64))
        };
        let inputs =
            vec![count(&[4, 1, 4], 0), HostTensor::from_ints(DType::S32, [2, 1], at), count(&[1, 2, 1, 4], 100)];
        let found = Interpreter::of(&lifted.module, &Registry::builtin()).run(entry, inputs.clone());
        assert_eq!(found.expect("it runs"), xla::evaluate(&bytes, &inputs).expect("XLA runs it"), "{at:?}");
    }
}

/// Analyses look at programs that no check has passed.
#[test]
fn a_scatter_that_names_dimensions_that_are_not_there_is_not_followed() {
    let mut module = decode(&bytes(ROWS)).expect("it is HLO");
    let instructions = module.computations.iter_mut().flat_map(|computation| &mut computation.instructions);
    let scatter = instructions.into_iter().find(|inst| inst.opcode == "scatter").expect("there is one");
    let dims = scatter.scatter_dimension_numbers.as_mut().expect("it has them");
    dims.update_window_dims = vec![11];
    let lifted = lift(&Graph::new(module), 1).expect("it is lifted");
    assert_eq!(lifted.unfollowed.keys().collect::<Vec<_>>(), ["scatter"]);
}
