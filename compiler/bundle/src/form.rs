//! The two forms of tensors: as a model has them, and as a bundle stores them.

use crate::{Buffer, Manifest};
use halite_tensor::Shape;
use indexmap::IndexMap;

/// The form of tensors: their names and their layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As the model has them.
    Model,
    /// As the bundle stores them.
    Stored,
}

impl Form {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Form::Model => "model",
            Form::Stored => "bundle",
        }
    }
}

/// Every tensor of a saved state in a form, by name: the buffer that stores it, and its shape.
pub fn wanted(manifest: &Manifest, form: Form) -> IndexMap<String, (&Buffer, Shape)> {
    let mut wanted = IndexMap::new();
    for buffer in manifest.saved() {
        match form {
            Form::Model => {
                let shapes = buffer.tensor_shapes().into_iter().map(|shape| (buffer, shape));
                wanted.extend(buffer.tensor_names().into_iter().zip(shapes));
            }
            Form::Stored => {
                wanted.insert(buffer.name.clone(), (buffer, Shape::from(buffer.shape.as_slice())));
            }
        }
    }
    wanted
}
