//! Programs of Neuron within JAX: their environment, and whether a process has it.
//!
//! There Neuron's plugin compiles what JAX hands it, functions of a bundle among it, and reads the flags for that from
//! `NEURON_CC_FLAGS`, as documented (AWS Neuron SDK 2.32, frameworks/jax/api-reference-guide/neuron-envvars.rst). For everything else that
//! is started the variable is forbidden, since its flags would pass by the checks of recipes; here it is the only way to give those that
//! passed them.

use crate::Tables;
use crate::shell::{split, word};
use halite_bundle::Manifest;
use halite_support::{Diagnostic, codes};
use serde::Serialize;
use std::collections::BTreeMap;

/// The variable from which Neuron's plugin for JAX reads the flags of `neuronx-cc`.
pub(super) const CC_FLAGS: &str = "NEURON_CC_FLAGS";

/// Flags as the value of [`CC_FLAGS`]. That the plugin takes words apart as a shell does, quotes among them, is inferred from values with
/// quotes in its environment (apple/axlearn eks/assets/run_trainer_multinode.sh).
pub(super) fn cc_flags(flags: &[String]) -> String {
    flags.iter().map(|flag| word(flag)).collect::<Vec<_>>().join(" ")
}

/// A difference between the environment of a process and that of a manifest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Mismatch {
    /// A variable is not set.
    Missing {
        /// Its name.
        name: String,
        /// The expected value.
        expected: String,
    },
    /// A variable is set to something else.
    Different {
        /// Its name.
        name: String,
        /// The expected value.
        expected: String,
        /// The value found.
        found: String,
    },
    /// A variable is set with which nothing starts.
    Forbidden {
        /// Its name.
        name: String,
        /// The value found.
        found: String,
        /// The setting to use instead.
        instead: String,
    },
}

impl Mismatch {
    /// The mismatch as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        let error = |message: String| Diagnostic::error(codes::ENVIRONMENT, message);
        match self {
            Self::Missing { name, expected } => {
                error(format!("`{name}` is not set, and the bundle needs `{expected}`"))
                    .help("start the program by the script of `halite env BUNDLE --profile jax --script`, or set it")
            }
            Self::Different { name, expected, found } => error(format!(
                "`{name}` is `{found}`, and the bundle needs `{expected}`"
            ))
            .help("remove it, and start the program by the script of `halite env BUNDLE --profile jax --script`"),
            Self::Forbidden { name, found, instead } => error(format!("`{name}` is `{found}`, and must not be set"))
                .help(format!("it is replaced by {instead}")),
        }
    }
}

/// Compares the environment of a process within JAX with a manifest. Returns the mismatches: first those of variables that the
/// manifest sets, in its order, then the forbidden ones. None for a program that is not for Neuron.
pub fn mismatches<'e>(manifest: &Manifest, environment: impl IntoIterator<Item = (&'e str, &'e str)>) -> Vec<Mismatch> {
    let Some(launch) = &manifest.launch else { return Vec::new() };
    let found: BTreeMap<&str, &str> = environment.into_iter().collect();
    let compare = |name: &str, expected: &str, is_same: &dyn Fn(&str) -> bool| match found.get(name) {
        None => Some(Mismatch::Missing { name: name.to_owned(), expected: expected.to_owned() }),
        Some(found) if is_same(found) => None,
        Some(&found) => {
            Some(Mismatch::Different { name: name.to_owned(), expected: expected.to_owned(), found: found.to_owned() })
        }
    };
    let variables =
        manifest.environment.iter().filter_map(|(name, expected)| compare(name, expected, &|found| found == expected));
    // The same words may be quoted otherwise.
    let has_flags = |found: &str| split(found).is_some_and(|found| found == manifest.flags);
    let flags = compare(CC_FLAGS, &cc_flags(&manifest.flags), &has_flags);
    let forbidden = launch.forbidden.iter().filter(|name| *name != CC_FLAGS).filter_map(|name| {
        let variable = Tables::builtin().variable(name).and_then(|variable| variable.instead.clone());
        let found = (*found.get(name.as_str())?).to_owned();
        Some(Mismatch::Forbidden { name: name.clone(), found, instead: variable.unwrap_or_default() })
    });
    variables.chain(flags).chain(forbidden).collect()
}
