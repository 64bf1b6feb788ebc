//! Tensors as Python has them: element type, shape, bytes.

use crate::errors::Failure;
use halite::bundle::tensors::Tensors;
use halite::support::{Diagnostic, codes};
use halite::tensor::{DType, HostTensor, Shape};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// A tensor from Python: its element type by name, its shape, its elements, which lie row by row.
pub(crate) type Array = (String, Vec<usize>, PyBackedBytes);

/// The same for Python.
pub(crate) type Given<'py> = (String, Vec<usize>, Bound<'py, PyBytes>);

pub(crate) fn from_python(arrays: Vec<(String, Array)>) -> PyResult<Tensors> {
    let tensor = |(name, array): (String, Array)| {
        let tensor = tensor(&name, &array)?;
        Ok((name, tensor))
    };
    let tensors = arrays.into_iter().map(tensor).collect::<Result<_, Diagnostic>>();
    tensors.map_err(|error| Python::attach(|py| Failure::from(error).raise(py)))
}

pub(crate) fn tensor(name: &str, (dtype, shape, bytes): &Array) -> Result<HostTensor, Diagnostic> {
    let fault = |what: &str| {
        Diagnostic::error(codes::TENSORS, format!("the array `{name}` {what}"))
            .help("pass an array of NumPy, of an element type that HLO has")
    };
    let known = DType::parse(dtype);
    let dtype = known.ok_or_else(|| fault(&format!("has the unknown element type `{dtype}`")))?;
    HostTensor::from_bytes(dtype, Shape::from(shape.as_slice()), bytes.to_vec())
        .map_err(|_| fault(&format!("has {} bytes, which are no `{dtype}` of {shape:?}", bytes.len())))
}

pub(crate) fn to_python<'py>(py: Python<'py>, tensors: &Tensors) -> Vec<(String, Given<'py>)> {
    let given =
        |tensor: &HostTensor| (tensor.dtype().to_string(), tensor.shape().to_vec(), PyBytes::new(py, tensor.bytes()));
    tensors.iter().map(|(name, tensor)| (name.clone(), given(tensor))).collect()
}
