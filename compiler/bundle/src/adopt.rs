//! The names of tensors in checkpoints of Transformers.
//!
//! Built-in models name their parameters as Transformers does, so that most checkpoints need nothing. Some were written
//! without the name of the outer module, hold tensors that are no parameters, or have a shared one twice or under its other name.

use crate::Manifest;
use crate::form::{Form, wanted};
use crate::tensors::Tensors;
use halite_support::{Diagnostic, Result, codes};

/// The tensors of a checkpoint of Transformers under the names of the model that a bundle was compiled from: tensors of the
/// inner module get its name, what is no parameter is left out, a tied output projection is the embedding table where that is
/// missing. Tensors of other models, and those that are not recognized, stay as they are.
///
/// # Errors
/// When the file has an output projection of its own and the model takes the embedding table for it, or a tensor both with and
/// without the name of the inner module.
pub fn adopt(manifest: &Manifest, tensors: Tensors) -> Result<Tensors> {
    let model = manifest.model.name.as_str();
    let Some(names) = halite_models::checkpoint_names(model) else { return Ok(tensors) };
    let wanted = wanted(manifest, Form::Model);
    let mut adopted = Tensors::with_capacity(tensors.len());
    let mut output = None;
    for (name, tensor) in tensors {
        let based = format!("{}{name}", names.base);
        let name = if !wanted.contains_key(&name) && wanted.contains_key(&based) { based } else { name };
        let is_weight = wanted.contains_key(&name);
        if !is_weight && name == names.output {
            output = Some(tensor);
        } else if is_weight || !names.buffers.iter().any(|buffer| name.ends_with(buffer)) {
            if adopted.contains_key(&name) {
                return Err(twice(&name, names.base));
            }
            adopted.insert(name, tensor);
        }
    }
    match output {
        Some(output) if wanted.contains_key(names.table) && !adopted.contains_key(names.table) => {
            adopted.insert(names.table.to_owned(), output);
            Ok(adopted)
        }
        Some(output) if adopted.get(names.table) != Some(&output) => {
            let message = format!("`{}` is not `{}`, but the model takes one for the other", names.output, names.table);
            Err(Diagnostic::error(codes::TENSORS, message)
                .help("compile the model with `tied = false`, or give a checkpoint whose weights are tied"))
        }
        _ => Ok(adopted),
    }
}

fn twice(name: &str, base: &str) -> Diagnostic {
    let short = name.strip_prefix(base).unwrap_or(name);
    Diagnostic::error(
        codes::TENSORS,
        format!("the checkpoint has both `{short}` and `{name}`, one tensor of the model"),
    )
    .help("keep the one that was trained")
}
