//! Tensors in a file: eight bytes with the size of the head, the head as JSON, the bytes of the tensors one after another.

use halite_support::files::read;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor, Shape};
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Serialize, Deserialize)]
struct Spec {
    dtype: DType,
    shape: Vec<usize>,
}

/// Writes tensors.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write<'t>(path: &Path, tensors: impl Iterator<Item = &'t HostTensor> + Clone) -> Result<()> {
    let spec = |tensor: &HostTensor| Spec { dtype: tensor.dtype(), shape: tensor.shape().to_vec() };
    let head: Vec<Spec> = tensors.clone().map(spec).collect();
    let head = serde_json::to_vec(&head).unwrap_or_default();
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend(head);
    tensors.for_each(|tensor| bytes.extend(tensor.bytes()));
    halite_disk::write(path, &bytes)
}

/// Reads tensors.
///
/// # Errors
/// When the file cannot be read, or is cut off.
pub(crate) fn load(path: &Path) -> Result<Vec<HostTensor>> {
    let bytes = read(path)?;
    parse(&bytes).ok_or_else(|| Diagnostic::error(codes::SELFTEST, "a file of tensors of the self-test is cut off"))
}

fn parse(bytes: &[u8]) -> Option<Vec<HostTensor>> {
    let (size, rest) = bytes.split_first_chunk::<8>()?;
    let (head, mut rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*size)).ok()?)?;
    let specs: Vec<Spec> = serde_json::from_slice(head).ok()?;
    let mut tensors = Vec::with_capacity(specs.len().min(rest.len()));
    for Spec { dtype, shape } in specs {
        let shape = Shape::from_iter(shape);
        let (own, others) = rest.split_at_checked(shape.num_bytes(dtype)?)?;
        tensors.push(HostTensor::from_bytes(dtype, shape, own.to_vec()).ok()?);
        rest = others;
    }
    rest.is_empty().then_some(tensors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_cut_off_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tensors");
        let tensors = [HostTensor::scalar(DType::F32, 1.5), HostTensor::from_ints(DType::U32, [2, 1], [7, 9])];
        write(&path, tensors.iter()).unwrap();
        assert_eq!(load(&path).unwrap(), tensors);
        let bytes = std::fs::read(&path).unwrap();
        for end in [0, 7, 20, bytes.len() - 1] {
            assert!(parse(&bytes[..end]).is_none(), "{end}");
        }
        assert!(parse(&[u8::MAX; 40]).is_none());
    }
}
