//! The command line of `neuronx-cc`.

use super::task::Task;
use crate::Generation;
use crate::settings::forbidden;
use crate::shell::{Script, word};
use crate::tables::Variable;
use halite_support::{Diagnostic, Diagnostics, codes};
use indexmap::IndexMap;
use std::path::Path;

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
    let mut script = Script::default();
    script.code("set -eu\nunset ").words(forbidden().map(|variable| &variable.name));
    script.code("\nmkdir -p -- ").path(output_folder);
    script.code("\n\n# What is compiled here runs under these, which `halite env` sets:\n");
    for (name, value) in environment {
        script.comment(&format!("  {name}={}", word(value)));
    }
    for task in tasks {
        let (input, neff) = (input(task.name()), output(task.name()));
        script.code("\n").comment(&format!("{}: flag hash {}", task.modules.join(", "), super::flag_hash(&task.flags)));
        script.code("work=$(mktemp -d)\ncp -- ").path(&bundle.join(&task.file)).code(" \"$work\"/").word(&input);
        script.code("\n(cd \"$work\" && ").path(program).code(" ").words(arguments(task.name(), &task.flags));
        script.code(")\n");
        for module in &task.modules {
            script.code("cp -- \"$work\"/").word(&neff).code(" ").path(&output_folder.join(format!("{module}.neff")));
            script.code("\n");
        }
    }
    script.into_text()
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
            flags: with_target(&flags, Generation::Trn1),
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
cp -- 'my bundle/step.hlo.pb' \"$work\"/step.hlo.pb
(cd \"$work\" && neuronx-cc compile step.hlo.pb --framework XLA --target=trn1 '--tensorizer-options=--a --b' --output step.neff --logfile log-neuron-cc.txt)
cp -- \"$work\"/step.neff out/step.neff
cp -- \"$work\"/step.neff out/twin.neff
";
        let hash = super::super::flag_hash(&task(&["--tensorizer-options=--a --b"]).flags);
        assert!(text.ends_with(&expected.replace("0a4e7a5b", &hash)), "{text}");
        assert!(text.contains("NEURON_CC_FLAGS") && text.starts_with("set -eu\nunset "));
        assert!(text.contains("\n#   NEURON_RT_EXEC_TIMEOUT=600\n"), "{text}");
    }
}
