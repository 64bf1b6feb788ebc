//! The command line of `neuronx-cc`.

use crate::Generation;
use crate::settings::forbidden;
use crate::tables::Variable;
use halite_support::{Diagnostic, Diagnostics, codes};

/// The file in which the compiler itself logs, in its work folder.
pub(super) const COMPILER_LOG: &str = "log-neuron-cc.txt";

const TARGET: &str = "--target";

/// The flags of a manifest, with the target in front unless they name it.
pub(super) fn with_target(flags: &[String], target: Generation) -> Vec<String> {
    let named = flags.iter().any(|flag| flag.split('=').next() == Some(TARGET));
    let own = (!named).then(|| format!("{TARGET}={target}"));
    own.into_iter().chain(flags.iter().cloned()).collect()
}

/// The file with the HLO of a task of this name in its work folder.
pub(super) fn input(name: &str) -> String {
    format!("{name}.hlo.pb")
}

/// The file in which the compiler is to leave the NEFF.
pub(super) fn output(name: &str) -> String {
    format!("{name}.neff")
}

/// The words after the program's name for a task of this name under these flags, target included; files are relative to the
/// work folder.
pub fn arguments(name: &str, flags: &[String]) -> Vec<String> {
    let framework = ["--framework", "XLA"].map(str::to_owned);
    let files = ["--output".to_owned(), output(name), "--logfile".to_owned(), COMPILER_LOG.to_owned()];
    let head = ["compile".to_owned(), input(name)].into_iter().chain(framework);
    head.chain(flags.iter().cloned()).chain(files).collect()
}

/// Each [forbidden] variable that this process has set, if only to nothing, as an error: the compiler would inherit it.
pub fn check_environment() -> Diagnostics {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let refuse = |Variable { name, meaning, instead, .. }: &Variable| {
        let message = format!("the variable `{name}` is set, and the compiler would inherit it");
        let help = format!("run `unset {name}`; it is replaced by {}", instead.as_deref().unwrap_or("nothing"));
        Diagnostic::error(codes::ENVIRONMENT, message).note(&**meaning).help(help)
    };
    forbidden().filter(|variable| is_set(&variable.name)).map(refuse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(flags: &[&str]) -> Vec<String> {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        with_target(&flags, Generation::Trn1)
    }

    #[test]
    fn the_target_is_named_once() {
        assert_eq!(flags(&["-O1"]), ["--target=trn1", "-O1"]);
        assert_eq!(flags(&["-O1", "--target", "trn2"]), ["-O1", "--target", "trn2"]);
        assert_eq!(flags(&["--target=trn2"]), ["--target=trn2"]);
    }
}
