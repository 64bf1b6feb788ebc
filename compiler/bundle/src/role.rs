//! The computations of modules, by name.

use halite_support::{Name, Result};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// The computation of a module: an open name, which is also that of the module, of its files and on the command line. Those that
/// Halite comes with are constants; whoever compiles may define others.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct ModuleRole(Cow<'static, str>);

impl ModuleRole {
    /// One update: state and batch to state and metrics.
    pub const TRAIN_STEP: Self = Self(Cow::Borrowed("train_step"));
    /// Batch and weights to probes.
    pub const FORWARD: Self = Self(Cow::Borrowed("forward"));
    /// Batch and weights to loss sum and count.
    pub const EVAL: Self = Self(Cow::Borrowed("eval"));
    /// Batch and weights to loss sum, count and the gradient of the sum by each weight.
    pub const GRADS: Self = Self(Cow::Borrowed("grads"));
    /// A micro-batch, weights and sums of gradients to these sums: called once for each micro-batch of an update.
    pub const GRAD_STEP: Self = Self(Cow::Borrowed("grad_step"));
    /// State and sums of gradients to state and metrics; what follows the calls of `grad_step`.
    pub const UPDATE_STEP: Self = Self(Cow::Borrowed("update_step"));

    /// Those of a bundle of which no others are asked for.
    pub const DEFAULT: [Self; 3] = [Self::TRAIN_STEP, Self::FORWARD, Self::EVAL];

    /// A role of this name: an ASCII letter, then ASCII letters, digits, `_` and `-`.
    ///
    /// # Errors
    /// When the name is not of that form.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Result<Self> {
        let name = name.into();
        Name::from(&*name).check("role", "_-")?;
        Ok(Self(name))
    }

    /// The name in manifests, files and on the command line.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for ModuleRole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(|error| D::Error::custom(error.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_well_formed_name_is_read_and_written() {
        for name in ["train_step", "logprobs", "stage-2"] {
            let json = format!("{name:?}");
            let role: ModuleRole = serde_json::from_str(&json).unwrap();
            assert_eq!((role.name(), serde_json::to_string(&role).unwrap()), (name, json));
        }
        assert_eq!(ModuleRole::new("train_step").unwrap(), ModuleRole::TRAIN_STEP);
    }

    #[test]
    fn a_name_that_no_file_could_have_is_refused() {
        for name in ["", "../eval", "a b", "a.b", "2nd"] {
            assert!(ModuleRole::new(name).is_err(), "{name}");
        }
        let error = serde_json::from_str::<ModuleRole>("\"../eval\"").unwrap_err();
        assert!(error.to_string().starts_with("a role cannot be named `../eval`"), "{error}");
    }
}
