//! Saved states: the tensors of the model, whatever a bundle stores together.
//!
//! A state is the same for every layout over ranks and with or without merged projections, so that a run can go on with another
//! program of the same model. Only what runs modules packs.

use crate::expected::{Expected, check_tensors};
use crate::tensors::Tensors;
use crate::{Buffer, Manifest};
use halite_support::{Diagnostic, Diagnostics, codes, nearest};
use halite_tensor::{HostTensor, Shape};

/// One tensor of a saved state.
#[derive(Clone, Debug)]
struct StateTensor<'m> {
    name: String,
    /// Sizes in the model.
    shape: Shape,
    /// The buffer that stores it.
    buffer: &'m Buffer,
}

impl Expected for StateTensor<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn describe(&self) -> String {
        format!("{}{}", self.buffer.dtype, self.shape)
    }

    fn fits(&self, tensor: &HostTensor) -> bool {
        self.buffer.dtype == tensor.dtype() && self.shape == *tensor.shape()
    }
}

/// Compares tensors with those of a saved state of a bundle.
///
/// # Errors
/// When some are stored as one; every tensor that is missing, not wanted, or of the wrong type.
pub fn check_state(manifest: &Manifest, tensors: &Tensors) -> Result<(), Diagnostics> {
    refuse_stored(manifest, tensors)?;
    let of = |buffer| {
        let tensors = Buffer::tensor_names(buffer).into_iter().zip(buffer.tensor_shapes());
        tensors.map(move |(name, shape)| StateTensor { name, shape, buffer })
    };
    check_tensors(tensors, &manifest.saved().flat_map(of).collect::<Vec<_>>(), "the training state")
}

/// Refuses tensors that are several of the model, stored as one as the bundle has them.
///
/// # Errors
/// When there is one.
pub(crate) fn refuse_stored(manifest: &Manifest, tensors: &Tensors) -> Result<(), Diagnostics> {
    let mut packed = manifest.saved().filter(|buffer| buffer.packing.is_some());
    let Some(stored) = packed.find(|buffer| tensors.contains_key(&buffer.name)) else { return Ok(()) };
    let names = stored.tensor_names();
    let parts = nearest::list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let message = format!("`{}` is several tensors stored as one, as a bundle has them: {parts}", stored.name);
    Err(Diagnostic::error(codes::TENSORS, message)
        .note("what is read holds each tensor under its own name, whatever a bundle stores together")
        .help("convert the file with the bundle that it is of: `halite convert BUNDLE FILE -o NEW`")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{apart, packed};
    use crate::init::initial_state;
    use halite_tensor::DType;

    fn messages(state: &Tensors) -> Vec<String> {
        let errors = check_state(&packed().manifest, state).unwrap_err();
        errors.iter().map(|error| error.message().to_owned()).collect()
    }

    #[test]
    fn a_state_fits_whatever_is_stored_together() {
        let state = initial_state(&apart(), 3).unwrap();
        for bundle in [apart(), packed()] {
            assert_eq!(check_state(&bundle.manifest, &state), Ok(()));
        }
    }

    #[test]
    fn tensors_that_do_not_fit_are_named_as_in_the_model() {
        let mut state = initial_state(&apart(), 3).unwrap();
        state.swap_remove("m.k");
        state.insert("v".into(), HostTensor::zeros(DType::Bf16, [2, 8]));
        state.insert("master.q".into(), HostTensor::zeros(DType::Bf16, [4, 8]));
        let expected = [
            "the tensor `v` is `bf16[2,8]`, the training state takes `bf16[8,2]`",
            "the tensor `m.k` is missing",
            "the tensor `master.q` is `bf16[4,8]`, the training state takes `f32[4,8]`",
        ];
        assert_eq!(messages(&state), expected);
    }

    #[test]
    fn tensors_that_are_stored_as_one_are_refused() {
        let mut state = initial_state(&apart(), 3).unwrap();
        state.insert("m.qkv".into(), HostTensor::zeros(DType::F32, [2, 5, 8]));
        let expected = "`m.qkv` is several tensors stored as one, as a bundle has them: `m.q`, `m.k` and `m.v`";
        assert_eq!(messages(&state), [expected]);
    }
}
