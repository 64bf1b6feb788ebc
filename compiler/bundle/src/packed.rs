//! Parameters that store several tensors of the model, and the names of these in the model.

use crate::Buffer;
use crate::tensors::Tensors;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{HostTensor, Packing, Part, Shape};

/// The model's names for the tensors in `name`: those of the packing for a weight, and with the name of the slot before them for state
/// of the weight `of`.
pub fn part_names(packing: &Packing, name: &str, of: Option<&str>) -> Vec<String> {
    let slot = of.and_then(|weight| name.strip_suffix(weight)).unwrap_or_default();
    packing.parts.iter().map(|part| format!("{slot}{}", part.name)).collect()
}

/// Elements of the tensors of the model in a packing, copies not counted.
pub fn model_elements(packing: &Packing) -> u64 {
    packing.parts.iter().map(|part| part.num_elements() as u64).sum()
}

impl Buffer {
    /// The model's names for the tensors that it stores: its own name, or one for each that it packs.
    pub fn tensor_names(&self) -> Vec<String> {
        match &self.packing {
            Some(packing) => part_names(packing, &self.name, self.of()),
            None => vec![self.name.clone()],
        }
    }

    /// The sizes in the model of the tensors that it stores, in the order of their names.
    pub fn tensor_shapes(&self) -> Vec<Shape> {
        match &self.packing {
            Some(packing) => packing.parts.iter().map(|part| Shape::from(part.shape.as_slice())).collect(),
            None => vec![Shape::from(self.shape.as_slice())],
        }
    }

    /// The tensors of the model in what it stores, by name.
    ///
    /// # Errors
    /// When `stored` has another shape, or the copies of a tensor differ.
    pub fn unpack(&self, stored: HostTensor) -> Result<Vec<(String, HostTensor)>> {
        let parts = match &self.packing {
            Some(packing) => packing.unpack(&stored).map_err(|error| self.stored_here(error))?,
            None => vec![stored],
        };
        Ok(self.tensor_names().into_iter().zip(parts).collect())
    }

    /// Packs the tensors of a model that it stores, which are taken out; `None` when one of them is not there.
    ///
    /// # Errors
    /// Every tensor of another shape than the model has, or of another element type than the first of those that are stored as one;
    /// when there is no memory for them as one.
    pub fn pack(&self, tensors: &mut Tensors) -> std::result::Result<Option<HostTensor>, Diagnostics> {
        let Some(packing) = &self.packing else { return Ok(tensors.swap_remove(&self.name)) };
        let names = self.tensor_names();
        let parts = names.iter().map(|name| tensors.swap_remove(name)).collect::<Option<Vec<_>>>();
        let Some(parts) = parts else { return Ok(None) };
        let dtype = parts.first().map_or(self.dtype, HostTensor::dtype);
        let fits = |part: &Part, tensor: &HostTensor| tensor.dtype() == dtype && part.shape == tensor.shape()[..];
        let given = names.iter().zip(&packing.parts).zip(&parts);
        let wrong = given.filter(|((_, part), tensor)| !fits(part, tensor)).map(|((name, part), tensor)| {
            let (found, shape) = (format!("{}{}", tensor.dtype(), tensor.shape()), Shape::from(part.shape.as_slice()));
            let message = format!("the tensor `{name}` is `{found}`, `{}` stores it as `{dtype}{shape}`", self.name);
            Diagnostic::error(codes::TENSORS, message).help("convert or reshape it")
        });
        let wrong: Diagnostics = wrong.collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let packed = packing.pack(&parts.iter().collect::<Vec<_>>());
        packed.map(Some).map_err(|error| self.stored_here(error).into())
    }

    fn stored_here(&self, error: Diagnostic) -> Diagnostic {
        error.note(format!("stored in `{}`", self.name))
    }
}
