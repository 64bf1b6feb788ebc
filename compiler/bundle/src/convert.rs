//! Conversion between the tensors of a model and the buffers that store them.
//!
//! Compiling may store several weights of the model as one, and all state of these likewise; the manifest says how
//! ([`Buffer::packing`](crate::Buffer)). Tensors come in two forms, then: as the model names them, which is what states and
//! checkpoints are, and as the bundle stores them, which is what its modules take. Going from one to the other and back
//! changes no bit.

mod types;

use crate::expected::{shorten, unwanted};
pub use crate::form::{Form, wanted};
use crate::state::refuse_stored;
use crate::tensors::Tensors;
use crate::{Buffer, BufferRole, Manifest, adopt};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::DType;
use indexmap::IndexSet;
pub use types::converted;
pub use types::{to_dtype, to_own_types};

/// A conversion of tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// The names and the layout that they are to have.
    pub to: Form,
    /// The type that weights are rounded to, to nearest, ties to even; `None` keeps their types.
    pub dtype: Option<DType>,
    /// Whether moments, masters and counters are left out.
    pub weights_only: bool,
}

impl Conversion {
    /// Brings tensors to the form that is wanted, from either form or from a checkpoint of Hugging Face's Transformers. Tensors in the
    /// form of the bundle get its types, where that loses nothing.
    ///
    /// # Errors
    /// As [`adopt`], [`to_model`], [`to_own_types`] and [`to_stored`].
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

/// The tensors of a model from those that a bundle stores, or from themselves: weights alone, or with other state. Element types
/// stay as they are.
///
/// # Errors
/// Every tensor that is missing, not of the bundle or of the wrong shape, and where some have one form and some the other; copies
/// of a tensor that differ.
pub fn to_model(manifest: &Manifest, mut given: Tensors) -> Result<Tensors, Diagnostics> {
    let form = form_of(manifest, &given)?.unwrap_or(Form::Model);
    check(manifest, form, &given)?;
    if form == Form::Model {
        return Ok(given);
    }
    let mut tensors = Tensors::new();
    for buffer in manifest.saved() {
        if let Some(stored) = given.swap_remove(&buffer.name) {
            tensors.extend(buffer.unpack(stored)?);
        }
    }
    Ok(tensors)
}

/// The tensors that a bundle stores for those of a model, or for themselves: weights alone, or with other state. Element types stay as
/// they are.
///
/// # Errors
/// Every tensor that is missing, not of the model or of the wrong shape, and where some have one form and some the other; tensors
/// stored as one whose element types differ.
pub fn to_stored(manifest: &Manifest, mut given: Tensors) -> Result<Tensors, Diagnostics> {
    let form = form_of(manifest, &given)?.unwrap_or(Form::Stored);
    check(manifest, form, &given)?;
    if form == Form::Stored {
        return Ok(given);
    }
    let mut stored = Tensors::new();
    for buffer in manifest.saved() {
        stored.extend(buffer.pack(&mut given)?.map(|tensor| (buffer.name.clone(), tensor)));
    }
    Ok(stored)
}

/// Leaves out of the tensors of a model the moments, masters and counters of its training. Tensors that are not of the model stay.
pub fn retain_weights(manifest: &Manifest, tensors: &mut Tensors) {
    let wanted = wanted(manifest, Form::Model);
    tensors.retain(|name, _| wanted.get(name).is_none_or(|(buffer, _)| buffer.is_weight()));
}

/// The form that tensors have; `None` when they are the same in both.
///
/// # Errors
/// When some are of one form and some of the other.
pub fn form_of(manifest: &Manifest, tensors: &Tensors) -> Result<Option<Form>, Diagnostics> {
    let packed = || manifest.saved().filter(|buffer| buffer.packing.is_some());
    let given = |name: &String| tensors.contains_key(name);
    let stored = packed().map(|buffer| &buffer.name).find(|name| given(name));
    let part = packed().flat_map(Buffer::tensor_names).find(given);
    match (stored, part) {
        (Some(_), None) => Ok(Some(Form::Stored)),
        (None, Some(_)) => Ok(Some(Form::Model)),
        (None, None) => Ok(None),
        (Some(stored), Some(part)) => {
            let message = format!("`{stored}` is what the bundle stores, `{part}` is a tensor of the model");
            Err(Diagnostic::error(codes::TENSORS, message).help("remove all tensors of one of the two forms").into())
        }
    }
}

/// Packs those of the tensors of a model that the bundle stores together, whatever else there is; nothing is checked beyond that.
///
/// # Errors
/// When some are stored as one already; when some of those that are stored as one are missing or do not fit together.
pub fn pack_given(manifest: &Manifest, mut tensors: Tensors) -> Result<Tensors, Diagnostics> {
    refuse_stored(manifest, &tensors)?;
    let mut mistakes = Diagnostics::new();
    for buffer in manifest.saved().filter(|buffer| buffer.packing.is_some()) {
        let names = buffer.tensor_names();
        let (given, missing): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| tensors.contains_key(*name));
        match (given.first(), missing.first()) {
            (None, _) => {}
            (Some(part), Some(missing)) => {
                let message = format!("the tensor `{missing}` is missing");
                let whole = format!("the bundle stores it together with `{part}`");
                mistakes.push(Diagnostic::error(codes::TENSORS, message).note(whole).help("add it"));
            }
            (Some(_), None) => {
                if let Some(tensor) = buffer.pack(&mut tensors)? {
                    tensors.insert(buffer.name.clone(), tensor);
                }
            }
        }
    }
    if mistakes.is_empty() { Ok(tensors) } else { Err(shorten(mistakes)) }
}

/// Unpacks the tensors that the bundle stores for several of the model, whatever else there is: the inverse of [`pack_given`].
///
/// # Errors
/// When the copies of a tensor differ, or what is stored has another shape than the bundle's.
pub fn unpack_given(manifest: &Manifest, mut tensors: Tensors) -> Result<Tensors, Diagnostics> {
    for buffer in manifest.saved().filter(|buffer| buffer.packing.is_some()) {
        if let Some(stored) = tensors.swap_remove(&buffer.name) {
            tensors.extend(buffer.unpack(stored)?);
        }
    }
    Ok(tensors)
}

/// Compares names and shapes with those of a form. Of the weights, and of each kind of state, all or none must be there.
fn check(manifest: &Manifest, form: Form, tensors: &Tensors) -> Result<(), Diagnostics> {
    let error = |message: String| Diagnostic::error(codes::TENSORS, message);
    let wanted = wanted(manifest, form);
    let given: IndexSet<&str> = wanted
        .iter()
        .filter(|(name, _)| tensors.contains_key(*name))
        .map(|(_, (buffer, _))| buffer.role.word())
        .collect();
    let mut mistakes = Diagnostics::new();
    let mut missing = Vec::new();
    for (name, (buffer, shape)) in wanted.iter().filter(|(_, (buffer, _))| given.contains(buffer.role.word())) {
        match tensors.get(name) {
            None => {
                missing.push(name.as_str());
                let help = format!("add it with shape {shape}: {} are converted together", all_of(&buffer.role));
                mistakes.push(error(format!("the tensor `{name}` is missing")).help(help));
            }
            Some(tensor) if tensor.shape() != shape => {
                let found = tensor.shape();
                let message = format!("the tensor `{name}` has the shape {found}, the bundle has {shape}");
                let help = match (form, &buffer.packing) {
                    (Form::Stored, Some(_)) => {
                        "convert it with the bundle that stored it, which was for other ranks or sizes"
                    }
                    _ => "reshape it, or compile a bundle of that size",
                };
                mistakes.push(error(message).help(help));
            }
            Some(_) => {}
        }
    }
    for name in tensors.keys().filter(|name| !wanted.contains_key(*name)) {
        let help = unwanted(name, &missing, mistakes.len());
        mistakes.push(error(format!("the bundle has no tensor `{name}`")).help(help));
    }
    if tensors.is_empty() {
        mistakes.push(error("there are no tensors to convert".to_owned()).help("give the weights of the bundle"));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(shorten(mistakes)) }
}

/// The tensors of which all or none must be there, in words.
fn all_of(role: &BufferRole) -> String {
    match role {
        BufferRole::Weight(_) => "all weights".to_owned(),
        role => format!("all tensors of the kind `{}`", role.word()),
    }
}

#[cfg(test)]
mod tests;
