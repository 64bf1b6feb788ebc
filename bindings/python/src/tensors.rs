//! Tensors between Python and files.

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

/// A tensor as Python gives it: its name, that of its element type, its sizes, and its elements in row-major order.
pub(crate) type Given = (String, String, Vec<usize>, PyBackedBytes);

/// A tensor as Python gets it: likewise, in memory of Python.
pub(crate) type Handed = (String, &'static str, Vec<usize>, Py<PyByteArray>);

/// The tensors that Python gave.
pub(crate) fn taken(given: Vec<Given>) -> Result<Tensors, Failure> {
    let tensor = |(name, dtype, shape, bytes): Given| {
        let unknown = || Diagnostic::bug(format!("the element type `{dtype}` of `{name}` is none of ours"));
        let dtype = DType::parse(&dtype).ok_or_else(unknown)?;
        let tensor = HostTensor::from_bytes(dtype, Shape::from(shape.as_slice()), bytes.to_vec());
        Ok((name, tensor.map_err(Diagnostic::from)?))
    };
    given.into_iter().map(tensor).collect()
}

/// Hands tensors over, each of which is dropped as soon as Python has it.
pub(crate) fn handed(py: Python<'_>, tensors: Tensors) -> Vec<Handed> {
    let hand = |(name, tensor): (String, HostTensor)| {
        let elements = PyByteArray::new(py, tensor.bytes()).unbind();
        (name, tensor.dtype().name(), tensor.shape().to_vec(), elements)
    };
    tensors.into_iter().map(hand).collect()
}

/// The tensors in a file, the shards of an index, a folder with one of these, or the parts of a state.
#[pyfunction]
pub(crate) fn load_tensors(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Handed>> {
    let tensors = work::quietly(py, || Ok(shards::read(&path)?))?;
    Ok(handed(py, tensors))
}

/// Writes tensors to a file or, where they have more bytes than `limit`, to several and an index; gives the path of what to read.
#[pyfunction]
pub(crate) fn save_tensors(py: Python<'_>, path: PathBuf, tensors: Vec<Given>, limit: Option<u64>) -> PyResult<PathBuf> {
    work::quietly(py, || {
        if path.is_dir() {
            let message = format!("`{}` is a folder, tensors are written to a file", path.display());
            return Err(Diagnostic::error(codes::FILE, message).help("name a file in it, such as `model.safetensors`").into());
        }
        Ok(shards::write(&path, &taken(tensors)?, limit.unwrap_or(u64::MAX))?)
    })
}
