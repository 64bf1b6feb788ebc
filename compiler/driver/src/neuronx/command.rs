//! The command line of `neuronx-cc`.

use super::task::Task;
use crate::neuron::forbidden;
use crate::neuron::shell::quoted;
use halite_spec::Target;
use halite_spec::target::Variable;
use halite_support::{Diagnostic, Diagnostics, codes};
use indexmap::IndexMap;
use std::path::Path;

/// The file in which the compiler itself logs, in its work folder.
pub(super) const COMPILER_LOG: &str = "log-neuron-cc.txt";

const TARGET: &str = "--target";

/// The flags of a manifest, with the target in front unless they name it.
pub(super) fn with_target(flags: &[String], target: Target) -> Vec<String> {
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

/// A shell script that does what [`compile`](super::compile) does, without store and checks: each task in a new folder, in
/// an environment without the variables that are refused. `environment`, that of the programs, stands in comments.
///
/// `program` is the compiler, by a name on the `PATH` or an absolute path, because it is started in those folders. `bundle`
/// is the folder that the tasks were [planned](super::plan) from, and `output_folder` gets `<module>.neff`; relative ones hold
/// where the script is started.
pub fn script(
    tasks: &[Task],
    program: &Path,
    bundle: &Path,
    output_folder: &Path,
    environment: &IndexMap<String, String>,
) -> String {
    let names: Vec<&str> = forbidden().map(|variable| variable.name.as_str()).collect();
    let mut text = format!("set -eu\nunset {}\nmkdir -p {}\n", names.join(" "), quoted_path(output_folder));
    text.push_str("\n# What is compiled here runs under these, which `halite env` sets:\n");
    environment.iter().for_each(|(name, value)| text.push_str(&format!("#   {name}={}\n", quoted(value))));
    for task in tasks {
        let arguments = arguments(task.name(), &task.flags);
        let words: Vec<String> =
            std::iter::once(quoted_path(program)).chain(arguments.iter().map(|word| quoted(word))).collect();
        text.push_str(&format!(
            "\n# {}: flag hash {}\nwork=$(mktemp -d)\ncp {} \"$work\"/{}\n(cd \"$work\" && {})\n",
            task.modules.join(", "),
            super::flag_hash(&task.flags),
            quoted_path(&bundle.join(&task.file)),
            quoted(&input(task.name())),
            words.join(" "),
        ));
        for module in &task.modules {
            let neff = output_folder.join(format!("{module}.neff"));
            text.push_str(&format!("cp \"$work\"/{} {}\n", quoted(&output(task.name())), quoted_path(&neff)));
        }
    }
    text
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(flags: &[&str]) -> Task {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Task {
            model: "m".to_owned(),
            modules: vec!["step".to_owned(), "twin".to_owned()],
            file: "step.hlo.pb".to_owned(),
            hlo: Vec::new(),
            canonical: String::new(),
            flags: with_target(&flags, Target::Trn1),
        }
    }

    #[test]
    fn the_target_is_named_once() {
        assert_eq!(task(&["-O1"]).flags, ["--target=trn1", "-O1"]);
        assert_eq!(task(&["-O1", "--target", "trn2"]).flags, ["-O1", "--target", "trn2"]);
        assert_eq!(task(&["--target=trn2"]).flags, ["--target=trn2"]);
    }

    #[test]
    fn the_script_is_one_that_a_shell_runs() {
        let text = script(
            &[task(&["--tensorizer-options=--a --b"])],
            Path::new("neuronx-cc"),
            Path::new("my bundle"),
            Path::new("out"),
            &IndexMap::from([("NEURON_RT_EXEC_TIMEOUT".to_owned(), "600".to_owned())]),
        );
        let expected = "\
# step, twin: flag hash 0a4e7a5b
work=$(mktemp -d)
cp 'my bundle/step.hlo.pb' \"$work\"/step.hlo.pb
(cd \"$work\" && neuronx-cc compile step.hlo.pb --framework XLA --target=trn1 '--tensorizer-options=--a --b' --output step.neff --logfile log-neuron-cc.txt)
cp \"$work\"/step.neff out/step.neff
cp \"$work\"/step.neff out/twin.neff
";
        let hash = super::super::flag_hash(&task(&["--tensorizer-options=--a --b"]).flags);
        assert!(text.ends_with(&expected.replace("0a4e7a5b", &hash)), "{text}");
        assert!(text.contains("NEURON_CC_FLAGS") && text.starts_with("set -eu\nunset "));
        assert!(text.contains("\n#   NEURON_RT_EXEC_TIMEOUT=600\n"), "{text}");
    }
}
