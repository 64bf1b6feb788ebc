//! `--deny` and `--deny unproven`, which make a command fail because of its warnings.

use crate::context::Output;
use crate::table::counted;
use clap::ValueEnum;
use halite_support::{Diagnostic, Diagnostics, Severity};
use serde_json::json;
use std::ffi::OsString;

/// The warnings that `--deny` turns into a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Deny {
    /// All of them.
    Warnings,
    /// Claims of causality or of what ranks hold that are not proven.
    Unproven,
}

impl Deny {
    /// The warnings that are not taken. Notes are none.
    pub(super) fn count(self, warnings: &Diagnostics) -> usize {
        let is_denied = |warning: &&Diagnostic| match self {
            Self::Warnings => warning.severity() >= Severity::Warning,
            Self::Unproven => warning.is_unproven(),
        };
        warnings.iter().filter(is_denied).count()
    }

    fn describe(self, count: usize) -> String {
        match self {
            Self::Warnings => counted(count, "warning"),
            Self::Unproven => format!("{} of what is not proven", counted(count, "warning")),
        }
    }
}

/// The failure of a command because of warnings; `None` where none is denied.
pub(super) fn denied(deny: Option<Deny>, warnings: &Diagnostics) -> Option<Output> {
    let deny = deny?;
    let count = deny.count(warnings);
    let text = format!("denied because of {}: nothing was written\n", deny.describe(count));
    let output = || Output { warnings: warnings.clone(), failed: true, ..Output::new(text, json!({"denied": count})) };
    (count > 0).then(output)
}

/// The number of warnings that say that something is not proven.
pub(super) fn unproven(warnings: &Diagnostics) -> usize {
    Deny::Unproven.count(warnings)
}

/// Arguments in which what follows `--deny` is part of it where it is a word of its own: an input may stand there too.
pub(super) fn joined(arguments: &[OsString]) -> Vec<OsString> {
    let is_word = |argument: &OsString| {
        Deny::value_variants().iter().filter_map(ValueEnum::to_possible_value).any(|word| argument == word.get_name())
    };
    let mut joined: Vec<OsString> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match joined.last_mut() {
            Some(last) if last == "--deny" && is_word(argument) => {
                last.push("=");
                last.push(argument);
            }
            _ => joined.push(argument.clone()),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_may_follow() {
        let joined = |text: &str| {
            let arguments: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            joined(&arguments).iter().map(|own| own.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(joined("halite check --deny unproven m.hal"), "halite check --deny=unproven m.hal");
        assert_eq!(joined("halite check --deny m.hal"), "halite check --deny m.hal");
        assert_eq!(joined("halite check m.hal --deny"), "halite check m.hal --deny");
    }
}
