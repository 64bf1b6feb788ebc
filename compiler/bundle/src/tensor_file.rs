//! Tensors in one file: the safetensors format.

use halite_support::{Diagnostic, Result, codes, files};
use halite_tensor::{DType, HostTensor};
use indexmap::IndexMap;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::path::Path;

/// Tensors by name, in a stable order.
pub type Tensors = IndexMap<String, HostTensor>;

/// The element types that files and programs share.
const DTYPES: [(DType, Dtype); 13] = [
    (DType::Pred, Dtype::BOOL),
    (DType::S8, Dtype::I8),
    (DType::U8, Dtype::U8),
    (DType::S16, Dtype::I16),
    (DType::U16, Dtype::U16),
    (DType::S32, Dtype::I32),
    (DType::U32, Dtype::U32),
    (DType::S64, Dtype::I64),
    (DType::U64, Dtype::U64),
    (DType::Bf16, Dtype::BF16),
    (DType::F16, Dtype::F16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
];

/// Reads every tensor of one file, sorted by name, with the text under a key that the file carries beside them.
///
/// # Errors
/// When the file cannot be read, is not in the format, or holds an element type that no program takes.
pub(crate) fn read_one(path: &Path, key: &str) -> Result<(Tensors, Option<String>)> {
    let bytes = files::read(path)?;
    let fault = |error: SafeTensorError| {
        let message = format!("`{}` is not a safetensors file: {}", path.display(), error.to_string().to_lowercase());
        Diagnostic::error(codes::TENSOR_FILE, message).help("check the path, or write the file again")
    };
    let parsed = SafeTensors::deserialize(&bytes).map_err(fault)?;
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(fault)?;
    let text = header.metadata().as_ref().and_then(|texts| texts.get(key).cloned());
    let mut tensors = parsed
        .iter()
        .map(|(name, view)| Ok((name.to_owned(), to_host(name, &view, path)?)))
        .collect::<Result<Tensors>>()?;
    tensors.sort_keys();
    Ok((tensors, text))
}

fn to_host(name: &str, view: &TensorView<'_>, path: &Path) -> Result<HostTensor> {
    let refuse = |what: String| {
        let message = format!("`{name}` in `{}` {what}", path.display());
        let all: Vec<String> = DTYPES.iter().map(|(_, dtype)| dtype.to_string()).collect();
        Diagnostic::error(codes::TENSOR_FILE, message).help(format!("convert it to one of {}", all.join(", ")))
    };
    let dtype = DTYPES.iter().find(|(_, dtype)| *dtype == view.dtype()).map(|(dtype, _)| *dtype);
    let dtype =
        dtype.ok_or_else(|| refuse(format!("has the element type {}, which no program takes", view.dtype())))?;
    if dtype == DType::Pred && view.data().iter().any(|byte| *byte > 1) {
        return Err(refuse("is BOOL but has bytes other than 0 and 1".to_owned()));
    }
    HostTensor::from_bytes(dtype, view.shape().into(), view.data().to_vec())
        .map_err(|size| refuse(format!("has {} bytes, expected {}", size.found, size.expected)))
}

/// The bytes of a file of tensors, with a mark for readers of checkpoints beside them: a key and its value.
///
/// # Errors
/// A bug, where the tensors have no such form.
pub fn to_bytes<'a>(
    tensors: impl IntoIterator<Item = (&'a String, &'a HostTensor)>,
    mark: Option<(&str, &str)>,
) -> Result<Vec<u8>> {
    let mark = mark.map(|(key, value)| [(key.to_owned(), value.to_owned())].into());
    let views = tensors.into_iter().map(|(name, tensor)| Ok((name.as_str(), to_view(name, tensor)?)));
    let views = views.collect::<Result<Vec<_>>>()?;
    safetensors::serialize(views, mark)
        .map_err(|error| Diagnostic::bug(format!("tensors cannot be put into a file: {error}")))
}

fn to_view<'a>(name: &str, tensor: &'a HostTensor) -> Result<TensorView<'a>> {
    let dtype = DTYPES.iter().find(|(dtype, _)| *dtype == tensor.dtype()).map(|(_, dtype)| *dtype);
    dtype
        .and_then(|dtype| TensorView::new(dtype, tensor.shape().to_vec(), tensor.bytes()).ok())
        .ok_or_else(|| Diagnostic::bug(format!("the tensor `{name}` cannot be put into a file")))
}
