//! Element types of weights: what widens without loss does so by itself, what rounds must be asked for.

use crate::Manifest;
use crate::expected::shorten;
use crate::form::{Form, wanted};
use crate::tensors::Tensors;
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::{DType, HostTensor};
use indexmap::IndexMap;

/// Gives the weights among the tensors of a model the element types in which a bundle stores them. Each value stays what it
/// is.
///
/// # Errors
/// Every weight whose values the type of the bundle cannot hold all.
pub fn to_own_types(manifest: &Manifest, tensors: &mut Tensors) -> Result<(), Diagnostics> {
    let mut mistakes = Diagnostics::new();
    for (name, own) in weight_types(manifest) {
        let Some(tensor) = tensors.get_mut(&name) else { continue };
        match tensor.dtype() {
            found if found == own => {}
            found if widens(found, own) => *tensor = converted(tensor, own),
            found => {
                let message = format!("the weight `{name}` is `{found}`, the bundle stores it as `{own}`");
                let help = format!("round the weights with `--dtype {own}`, or compile a bundle that stores `{found}`");
                mistakes.push(Diagnostic::error(codes::TENSORS, message).help(help));
            }
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(shorten(mistakes)) }
}

/// Gives the weights among the tensors of a model another element type. Values that it cannot hold are rounded to the
/// nearest, ties to even.
pub fn to_dtype(manifest: &Manifest, tensors: &mut Tensors, dtype: DType) {
    for (name, (buffer, _)) in wanted(manifest, Form::Model) {
        if let Some(tensor) = tensors.get_mut(&name).filter(|_| buffer.is_weight()) {
            *tensor = converted(tensor, dtype);
        }
    }
}

/// The element type in which a bundle stores each weight of the model.
fn weight_types(manifest: &Manifest) -> IndexMap<String, DType> {
    let weights = manifest.buffers.iter().filter(|buffer| buffer.is_weight());
    weights.flat_map(|buffer| buffer.tensor_names().into_iter().map(|name| (name, buffer.dtype))).collect()
}

/// Whether one float type holds every value of another.
fn widens(from: DType, to: DType) -> bool {
    let narrow = matches!(from, DType::Bf16 | DType::F16);
    matches!((from, to), (DType::F32, DType::F64)) || (narrow && matches!(to, DType::F32 | DType::F64))
}

/// A tensor of floats in another element type, each value rounded once to the nearest, ties to even.
pub fn converted(tensor: &HostTensor, dtype: DType) -> HostTensor {
    if tensor.dtype() == dtype || !tensor.dtype().is_float() {
        return tensor.clone();
    }
    HostTensor::from_f64s(dtype, tensor.shape().clone(), tensor.f64s())
}
