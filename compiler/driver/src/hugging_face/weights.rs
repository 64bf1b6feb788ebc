//! The names of tensors in checkpoints of Transformers.
//!
//! Built-in models name their parameters as Transformers does, so that most checkpoints need nothing. Some were written
//! without the name of the outer module, hold tensors that are no parameters, or repeat a shared one.

use super::FAMILIES;
use crate::convert::{Form, wanted};
use crate::tensors::Tensors;
use halite_spec::Manifest;
use halite_support::{Diagnostic, Result, codes};

/// How checkpoints of a family name tensors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    /// What the names of all parameters of the inner module begin with; some files leave it out.
    pub(super) base: &'static str,
    /// The last parts of the names of tensors that are computed, not trained.
    pub(super) buffers: &'static [&'static str],
    /// The output projection, which a file may repeat where it is the embedding table.
    pub(super) output: &'static str,
    /// The embedding table.
    pub(super) table: &'static str,
}

/// The names of Llama and those who took them over.
pub(super) const LLAMA_NAMES: Names = Names {
    base: "model.",
    buffers: &[".rotary_emb.inv_freq"],
    output: "lm_head.weight",
    table: "model.embed_tokens.weight",
};

/// The tensors of a checkpoint of Transformers under the names of the model that a bundle was compiled from: tensors of the
/// inner module get its name, what is no parameter is left out. Tensors of other models, and those that are not recognized,
/// stay as they are.
///
/// # Errors
/// When the file has an output projection of its own and the model takes the embedding table for it.
pub fn adopt(manifest: &Manifest, tensors: Tensors) -> Result<Tensors> {
    let model = manifest.model.name.as_str();
    let Some(family) = FAMILIES.iter().find(|family| family.models.contains(&model)) else { return Ok(tensors) };
    let (names, wanted) = (family.names, wanted(manifest, Form::Model));
    let mut adopted = Tensors::with_capacity(tensors.len());
    let mut output = None;
    for (name, tensor) in tensors {
        let based = format!("{}{name}", names.base);
        if wanted.contains_key(&name) {
            adopted.insert(name, tensor);
        } else if wanted.contains_key(&based) {
            adopted.insert(based, tensor);
        } else if name == names.output {
            output = Some(tensor);
        } else if !names.buffers.iter().any(|buffer| name.ends_with(buffer)) {
            adopted.insert(name, tensor);
        }
    }
    match output {
        Some(output) if adopted.get(names.table) != Some(&output) => {
            let message = format!("`{}` is not `{}`, but the model takes one for the other", names.output, names.table);
            Err(Diagnostic::error(codes::TENSORS, message)
                .help("compile the model with `tied = false`, or give a checkpoint whose weights are tied"))
        }
        _ => Ok(adopted),
    }
}
