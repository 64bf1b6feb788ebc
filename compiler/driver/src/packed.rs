//! Parameters that store several tensors of the model.

use halite_bundle::model_elements;
use halite_ir::{Function, Param};

/// Elements of the tensors of the model that a parameter stores, copies not counted.
pub(crate) fn elements(entry: &Function, param: &Param) -> u64 {
    let stored = || entry.ty(param.value).shape().num_elements() as u64;
    entry.packing(param).map_or_else(stored, model_elements)
}
