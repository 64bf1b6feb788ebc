//! The words for element types.

use halite_tensor::DType;

/// The element type a word names; `Some(None)` stands for the module's float type.
pub(crate) fn type_word(word: &str) -> Option<Option<DType>> {
    if word == "float" { Some(None) } else { DType::parse(word).map(Some) }
}
