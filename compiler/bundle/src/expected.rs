//! Tensors by name, compared with what is expected.

use crate::tensors::Tensors;
use crate::{Buffer, Port};
use halite_support::nearest::nearest;
use halite_support::{Code, Diagnostic, Diagnostics, codes};
use halite_tensor::HostTensor;
use indexmap::IndexSet;

/// The expected name and type of a tensor; ports and buffers of a manifest are expectations.
pub trait Expected {
    /// The name by which it is found among the tensors that are given.
    fn name(&self) -> &str;
    /// Its type in words, e.g. `f32[2,3]`.
    fn describe(&self) -> String;
    /// Whether a tensor is of that type.
    fn fits(&self, tensor: &HostTensor) -> bool;
}

macro_rules! expected {
    ($($ty:ty),*) => {$(
        impl Expected for $ty {
            fn name(&self) -> &str {
                &self.name
            }

            fn describe(&self) -> String {
                format!("{}{}", self.dtype, halite_tensor::Shape::from(self.shape.as_slice()))
            }

            fn fits(&self, tensor: &HostTensor) -> bool {
                self.dtype == tensor.dtype() && self.shape == **tensor.shape()
            }
        }
    )*};
}

expected!(Port, &Buffer);

/// Compares tensors with those that are expected, by name; `who` names the reader of them in messages.
///
/// # Errors
/// Every tensor that is missing, of another type, or not expected, of which the first ten are shown.
pub fn check_tensors(tensors: &Tensors, expected: &[impl Expected], who: &str) -> std::result::Result<(), Diagnostics> {
    let code: Code = codes::TENSORS;
    let names: IndexSet<&str> = expected.iter().map(Expected::name).collect();
    let mut mistakes = Diagnostics::new();
    for expected in expected {
        let (name, needed) = (expected.name(), expected.describe());
        match tensors.get(name) {
            None => mistakes.push(
                Diagnostic::error(code, format!("the tensor `{name}` is missing"))
                    .help(format!("add it as `{needed}`, which {who} takes")),
            ),
            Some(tensor) if !expected.fits(tensor) => {
                let found = format!("{}{}", tensor.dtype(), tensor.shape());
                let message = format!("the tensor `{name}` is `{found}`, {who} takes `{needed}`");
                mistakes.push(Diagnostic::error(code, message).help("convert or reshape it"));
            }
            Some(_) => {}
        }
    }
    let missing: Vec<&str> = names.iter().copied().filter(|name| !tensors.contains_key(*name)).collect();
    for name in tensors.keys().filter(|name| !names.contains(name.as_str())) {
        let help = unwanted(name, &missing, mistakes.len());
        mistakes.push(Diagnostic::error(code, format!("{who} takes no tensor `{name}`")).help(help));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(shorten(mistakes)) }
}

/// The help for a tensor that is not wanted, where these are missing and so many mistakes came `before`.
pub(crate) fn unwanted(name: &str, missing: &[&str], before: usize) -> String {
    match nearest(name, missing.iter().copied().filter(|_| before < SHOWN)) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if missing.len() > 1 => "give the tensors of this model: these look like those of another".to_owned(),
        None => "remove it".to_owned(),
    }
}

/// The number of mistakes that are shown.
const SHOWN: usize = 10;

/// The first mistakes, with the number of the others.
pub(crate) fn shorten(mut mistakes: Diagnostics) -> Diagnostics {
    let others = mistakes.len().saturating_sub(SHOWN);
    mistakes.truncate(SHOWN);
    if others > 0 {
        let rest = mistakes.pop().map(|last| last.note(format!("{others} more tensors do not fit")));
        mistakes.extend(rest);
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_of_another_model_are_not_to_be_removed() {
        let help = "give the tensors of this model: these look like those of another";
        assert_eq!(unwanted("h.0.attn.weight", &["embed", "w"], 0), help);
        assert_eq!(unwanted("h.0.attn.weight", &["w"], 0), "remove it");
        assert_eq!(unwanted("embd", &["embed", "w"], 0), "did you mean `embed`?");
    }
}
