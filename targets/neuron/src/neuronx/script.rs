//! The tasks as a shell script.

use super::command::{arguments, input, output};
use super::flag_hash;
use super::task::Task;
use crate::settings::forbidden;
use crate::shell::{Script, word};
use indexmap::IndexMap;
use std::path::Path;

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
        script.code("\n").comment(&format!("{}: flag hash {}", task.modules.join(", "), flag_hash(&task.flags)));
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
    use super::super::command::with_target;
    use super::*;
    use crate::Generation;

    fn task(flags: &[&str]) -> Task {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Task {
            model: "m".to_owned(),
            modules: vec!["step".to_owned(), "decomposition".to_owned()],
            file: "step.hlo.pb".to_owned(),
            hlo: Vec::new(),
            canonical: String::new(),
            flags: with_target(&flags, Generation::Trn1),
            records: Vec::new(),
        }
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
# step, decomposition: flag hash 0a4e7a5b
work=$(mktemp -d)
cp -- 'my bundle/step.hlo.pb' \"$work\"/step.hlo.pb
(cd \"$work\" && neuronx-cc compile step.hlo.pb --framework XLA --target=trn1 '--tensorizer-options=--a --b' --output step.neff --logfile log-neuron-cc.txt)
cp -- \"$work\"/step.neff out/step.neff
cp -- \"$work\"/step.neff out/decomposition.neff
";
        let hash = flag_hash(&task(&["--tensorizer-options=--a --b"]).flags);
        assert!(text.ends_with(&expected.replace("0a4e7a5b", &hash)), "{text}");
        assert!(text.contains("NEURON_CC_FLAGS") && text.starts_with("set -eu\nunset "));
        assert!(text.contains("\n#   NEURON_RT_EXEC_TIMEOUT=600\n"), "{text}");
    }
}
