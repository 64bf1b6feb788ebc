//! Tensors as Python has them: element type, shape, bytes; and in files.

use crate::errors::Failure;
use crate::work;
use halite::bundle::shards;
use halite::bundle::tensors::Tensors;
use halite::support::{Diagnostic, codes};
use halite::tensor::{DType, HostTensor, Shape};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyByteArray;
use std::path::PathBuf;

/// A tensor from Python: its element type by name, its shape, its elements, which lie row by row.
pub(crate) type Array = (String, Vec<usize>, PyBackedBytes);

/// The same for Python, which may write into it.
pub(crate) type Given<'py> = (String, Vec<usize>, Bound<'py, PyByteArray>);

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

/// Hands tensors over, each of which is dropped as soon as Python has it.
pub(crate) fn to_python(py: Python<'_>, tensors: Tensors) -> Vec<(String, Given<'_>)> {
    let given = |tensor: HostTensor| {
        (tensor.dtype().to_string(), tensor.shape().to_vec(), PyByteArray::new(py, tensor.bytes()))
    };
    tensors.into_iter().map(|(name, tensor)| (name, given(tensor))).collect()
}

/// The tensors in a file, the shards of an index, a folder with one of these, or the parts of a state.
#[pyfunction]
pub(crate) fn load_tensors(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(String, Given<'_>)>> {
    let tensors = work::run(py, |_| Ok(shards::read(&path)?))?;
    Ok(to_python(py, tensors))
}

/// Writes tensors to a file or, where they have more bytes than `limit`, to several and an index; gives the path of what to read.
#[pyfunction]
pub(crate) fn save_tensors(
    py: Python<'_>,
    path: PathBuf,
    tensors: Vec<(String, Array)>,
    limit: Option<u64>,
) -> PyResult<PathBuf> {
    let tensors = from_python(tensors)?;
    work::run(py, |_| {
        if path.is_dir() {
            let message = format!("`{}` is a folder, and tensors are written to a file", path.display());
            let help = "name a file in it, such as `model.safetensors`";
            return Err(Diagnostic::error(codes::FILE, message).help(help).into());
        }
        Ok(shards::write(&path, &tensors, limit.unwrap_or(u64::MAX))?)
    })
}
