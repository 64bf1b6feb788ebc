//! Tensors in files: one of them, or the parts of a state.

use crate::{parts, tensor_file};
use halite_support::{Result, files};
use std::path::Path;

pub use crate::tensor_file::{Tensors, to_bytes};

/// Reads every tensor of a file, or of the [parts](mod@crate::parts) that an index names, sorted by name.
///
/// # Errors
/// When the file cannot be read, is not in the format, or holds an element type that no program takes.
pub fn read(path: &Path) -> Result<Tensors> {
    read_marked(path, "").map(|(tensors, _)| tensors)
}

/// As [`read`], with the text under a key that a file carries beside its tensors.
///
/// # Errors
/// As [`read`].
pub fn read_marked(path: &Path, key: &str) -> Result<(Tensors, Option<String>)> {
    if path.extension().is_some_and(|extension| extension == "json") {
        return parts::read(path, &files::read_text(path)?, key);
    }
    tensor_file::read_one(path, key)
}

/// Writes tensors to a file, whole or not at all. Equal tensors give equal bytes, whatever their order.
///
/// # Errors
/// When the file cannot be written.
#[cfg(feature = "files")]
pub fn write(path: &Path, tensors: &Tensors) -> Result<()> {
    halite_disk::write(path, &to_bytes(tensors, None)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_tensor::{DType, HostTensor};
    use safetensors::tensor::{Dtype, TensorView};

    #[test]
    fn every_element_type_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let tensor = |dtype| HostTensor::from_f64s(dtype, [2, 2], [0.0, 1.0, 1.0, 0.0]);
        let mut tensors: Tensors = DType::ALL.iter().map(|dtype| (dtype.to_string(), tensor(*dtype))).collect();
        tensors.insert("scalar".into(), HostTensor::scalar(DType::Bf16, 1.5));
        tensors.insert("empty".into(), HostTensor::zeros(DType::F32, [0, 3]));
        write(&path, &tensors).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let back = read(&path).unwrap();
        tensors.sort_keys();
        assert_eq!(back, tensors);
        write(&path, &back).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "the order of the tensors does not show");
    }

    #[test]
    fn other_files_and_types_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        std::fs::write(&path, "no").unwrap();
        assert!(read(&path).unwrap_err().message().contains("is not a safetensors file"));
        let view = TensorView::new(Dtype::F8_E4M3, vec![2], &[1, 2]).unwrap();
        std::fs::write(&path, safetensors::serialize([("q", view)], None).unwrap()).unwrap();
        assert!(read(&path).unwrap_err().message().contains("element type F8_E4M3"), "{:?}", read(&path));
        let view = TensorView::new(Dtype::BOOL, vec![2], &[1, 2]).unwrap();
        std::fs::write(&path, safetensors::serialize([("q", view)], None).unwrap()).unwrap();
        assert!(read(&path).unwrap_err().message().contains("other than 0 and 1"));
    }
}
