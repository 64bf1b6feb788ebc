//! The outputs of a program, by the names of the model.

use halite_support::Name;
use halite_tensor::{DType, HostTensor};
use indexmap::IndexMap;

/// Results by the names of the model.
pub(super) type Outputs = IndexMap<String, Output>;

/// One result of a program.
pub(super) struct Output {
    /// The tensor that the program returned.
    pub(super) written: HostTensor,
    /// The same in `f64`, minus the parameter that it replaces.
    pub(super) change: HostTensor,
    /// The weight that it is a copy of in another type, if it is one.
    pub(super) copy_of: Option<Name>,
}

impl Output {
    pub(super) fn new(written: HostTensor, replaced: Option<&HostTensor>) -> Self {
        let mut values = written.f64s();
        if let Some(old) = replaced {
            values.iter_mut().zip(old.f64s()).for_each(|(value, old)| *value -= old);
        }
        let change = HostTensor::from_f64s(DType::F64, written.shape().clone(), values);
        Self { written, change, copy_of: None }
    }
}
