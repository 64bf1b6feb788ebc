//! Another element type in the place of the one that a program computes in.

use halite_hlo::CheckedHlo;
use halite_hlo::proto::{LiteralProto, ShapeProto, Shared};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor, element_type};

/// The program with `to` wherever it has `from`: in shapes and constants.
///
/// # Errors
/// When it depends on the bytes of its numbers.
pub(crate) fn replaced(hlo: &CheckedHlo, (from, to): (DType, DType)) -> Result<CheckedHlo> {
    let mut module = hlo.graph().module().clone();
    let swap = |shape: &mut Shared<ShapeProto>| replace_in(shape, (from, to));
    for computation in &mut module.computations {
        computation
            .program_shape
            .iter_mut()
            .flat_map(|shape| shape.parameters.iter_mut().chain(&mut shape.result))
            .for_each(swap);
        for inst in &mut computation.instructions {
            inst.shape.iter_mut().for_each(swap);
            if let Some(tensor) =
                inst.literal.as_deref().and_then(LiteralProto::tensor).filter(|tensor| tensor.dtype() == from)
            {
                let other = HostTensor::from_f64s(to, tensor.shape().clone(), tensor.f64s());
                inst.literal = Some(Box::new(LiteralProto::of(&other)));
            }
        }
    }
    module
        .host_program_shape
        .iter_mut()
        .flat_map(|shape| shape.parameters.iter_mut().chain(&mut shape.result))
        .for_each(swap);
    CheckedHlo::new(module).map_err(|broken| {
        let message = format!("a program in `{from}` cannot be computed in `{to}`");
        Diagnostic::error(codes::FOREIGN, message)
            .note(broken.message().to_owned())
            .help(format!("export the program with weights of `{to}`"))
    })
}

/// Replaces an element type in a shape, and in those of its elements.
fn replace_in(shape: &mut ShapeProto, (from, to): (DType, DType)) {
    let mut left = vec![shape];
    while let Some(shape) = left.pop() {
        if shape.dtype() == Some(from) {
            shape.element_type = element_type::number(to);
        }
        left.extend(shape.tuple_shapes.iter_mut().map(|part| &mut **part));
    }
}
