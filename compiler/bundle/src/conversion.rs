//! From tensors of others, of the model or of a bundle to what is wanted of them.

use crate::convert::{Form, retain_weights, to_dtype, to_model, to_own_types, to_stored};
use crate::tensors::Tensors;
use crate::{Manifest, adopt};
use halite_support::Diagnostics;
use halite_tensor::DType;

/// What is made of tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// What they are to be called and how they are to lie.
    pub to: Form,
    /// The type that weights are rounded to, to nearest, ties to even; `None` keeps their types.
    pub dtype: Option<DType>,
    /// Whether moments, masters and counters are left out.
    pub weights_only: bool,
}

impl Conversion {
    /// The tensors in the form that is wanted, from either form or from a checkpoint of Hugging Face's Transformers. What a bundle stores
    /// has the types of the bundle, where that loses nothing.
    ///
    /// # Errors
    /// As [`adopt`](crate::adopt()), [`to_model`], [`to_own_types`] and [`to_stored`].
    pub fn apply(self, manifest: &Manifest, tensors: Tensors) -> Result<Tensors, Diagnostics> {
        let tensors = adopt(manifest, tensors)?;
        match self.to {
            Form::Model => {
                let mut tensors = to_model(manifest, tensors)?;
                self.retain(manifest, &mut tensors);
                self.round(manifest, &mut tensors);
                Ok(tensors)
            }
            Form::Stored => {
                let mut tensors = tensors;
                self.round(manifest, &mut tensors);
                to_own_types(manifest, &mut tensors)?;
                self.retain(manifest, &mut tensors);
                to_stored(manifest, tensors)
            }
        }
    }

    fn round(self, manifest: &Manifest, tensors: &mut Tensors) {
        if let Some(dtype) = self.dtype {
            to_dtype(manifest, tensors, dtype);
        }
    }

    fn retain(self, manifest: &Manifest, tensors: &mut Tensors) {
        if self.weights_only {
            retain_weights(manifest, tensors);
        }
    }
}
