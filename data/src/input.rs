//! Inputs of a model that an example holds.

use halite_tensor::DType;

/// An input of a model as it is in one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub dtype: DType,
    /// Its sizes but for the first, which is that of the batch.
    pub shape: Vec<usize>,
}
