//! The names of tensors in checkpoints of Transformers.
//!
//! Built-in models name their parameters as Transformers does, so that most checkpoints need nothing. Some were written
//! without the name of the outer module or under names of old, hold tensors that are no parameters of the model, or have a shared
//! one twice or under its other name.

use crate::Manifest;
use crate::form::{Form, wanted};
use crate::tensors::Tensors;
use halite_models::CheckpointNames;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::HostTensor;
use indexmap::IndexMap;

/// The tensors of a checkpoint of Transformers under the names of the model that a bundle was compiled from: tensors of the
/// inner module get its name and those of older files their name of today, what is no parameter or of another task is left out, a tied
/// tensor of the output, such as the projection, is the one it is tied to where that is missing. Tensors of other models, and those that
/// are not recognized, stay as they are.
///
/// # Errors
/// When the file has a tensor of the output of its own and the model takes another for it, or a tensor under two names, such as both with
/// and without the name of the inner module.
pub fn adopt(manifest: &Manifest, tensors: Tensors) -> Result<Tensors> {
    let model = manifest.model.name.as_str();
    let Some(names) = halite_models::checkpoint_names(model) else { return Ok(tensors) };
    let wanted = wanted(manifest, Form::Model);
    let is_weight = |name: &str| wanted.contains_key(name);
    let mut adopted: IndexMap<String, (String, HostTensor)> = IndexMap::with_capacity(tensors.len());
    let mut outputs = Vec::new();
    for (given, tensor) in tensors {
        let name = name_of_today(&names, &given, is_weight);
        match names.tied.iter().find(|(output, _)| *output == name) {
            Some(tied) if !is_weight(&name) => outputs.push((tied, tensor)),
            _ if !is_weight(&name) && is_left_out(&names, &name) => {}
            _ => {
                if let Some((earlier, _)) = adopted.get(&name) {
                    return Err(if given == name { twice(earlier, &given) } else { twice(&given, earlier) });
                }
                adopted.insert(name, (given, tensor));
            }
        }
    }
    let mut adopted: Tensors = adopted.into_iter().map(|(name, (_, tensor))| (name, tensor)).collect();
    for (&(output, of), tensor) in outputs {
        match adopted.get(of) {
            None if is_weight(of) => _ = adopted.insert(of.to_owned(), tensor),
            known if known != Some(&tensor) => return Err(not_tied(manifest, output, of)),
            _ => {}
        }
    }
    Ok(adopted)
}

/// The name that the model has for a tensor, if it has the tensor; else the name as it is.
fn name_of_today(names: &CheckpointNames, given: &str, is_weight: impl Fn(&str) -> bool) -> String {
    let renamed = names.renamed.iter().find_map(|(old, new)| Some(format!("{}{new}", given.strip_suffix(old)?)));
    let name = renamed.unwrap_or_else(|| given.to_owned());
    let based = format!("{}{name}", names.base);
    let is_of_inner = |name: &str| is_weight(name) || names.others.iter().any(|other| name.starts_with(other));
    if !is_weight(&name) && is_of_inner(&based) { based } else { name }
}

/// Whether a tensor that is no weight of the model is known to be left out: a buffer, or of another task.
fn is_left_out(names: &CheckpointNames, name: &str) -> bool {
    names.buffers.iter().any(|buffer| name.ends_with(buffer))
        || names.others.iter().any(|other| name.starts_with(other))
}

fn not_tied(manifest: &Manifest, output: &str, of: &str) -> Diagnostic {
    let message = format!("`{output}` is not `{of}`, but the model takes one for the other");
    let help = match manifest.model.config.contains_key("tied") {
        true => "compile the model with `tied = false`, or give a checkpoint whose weights are tied",
        false => "give a checkpoint whose weights are tied",
    };
    Diagnostic::error(codes::TENSORS, message).help(help)
}

fn twice(name: &str, again: &str) -> Diagnostic {
    let message = format!("the checkpoint has both `{name}` and `{again}`, one tensor of the model");
    Diagnostic::error(codes::TENSORS, message).help("keep the one that was trained")
}
