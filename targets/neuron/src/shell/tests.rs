use super::{Script, split, word};
use crate::Generation;
use crate::neuronx::{arguments, plan, script};
use crate::settings::{Profile, Surroundings};
use halite_bundle::fixtures::small;
use indexmap::IndexMap;
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Texts that mean something to shells, and some that do not.
const PARTS: &[&str] = &[
    "touch owned",
    "$(touch owned)",
    "`touch owned`",
    ";touch owned;",
    "\ntouch owned\n",
    "'\ntouch owned\n'",
    "\r",
    "\n",
    "\t",
    "\\",
    "'",
    "\"",
    "$",
    "${",
    "}",
    "#",
    " ",
    "=",
    "-",
    "--",
    "if",
    "fi",
    "{",
    "(",
    ")",
    "<",
    ">owned",
    "|",
    "&",
    "~",
    "*",
    "!",
    "é",
    "\u{1b}",
    "\u{85}",
    "\u{2028}",
    "a",
    "A",
    "_",
    "0",
    "a[$(touch owned)]",
    "V=",
];

fn nasty() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PARTS), 0..6).prop_map(|parts| parts.concat())
}

/// One that can name a file.
fn file_name() -> impl Strategy<Value = String> {
    nasty().prop_map(|text| format!("{text}x").trim_start_matches(['-', '.']).to_owned())
}

/// As many cases as `HALITE_SHELL_CASES` says.
fn cases() -> ProptestConfig {
    let cases = std::env::var("HALITE_SHELL_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases.unwrap_or(16)) }
}

/// Runs a shell in a folder.
fn run(shell: &str, folder: &Path, arguments: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new(shell).args(arguments).current_dir(folder).env_clear().env("PATH", path).output().unwrap()
}

/// Writes a script that can be run. Another process does so: what this one has open for writing its children hold too until they run,
/// and such a file cannot be run.
fn write_program(path: &Path, text: &str) {
    let write = "printf %s \"$2\" > \"$1\" && chmod +x \"$1\"";
    let written = run("sh", Path::new("/"), &["-c", write, "sh", path.to_str().unwrap(), text]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The texts that a program printed, each with a zero byte behind it.
fn printed(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// The settings of a recipe with these variables, and more with names that are none.
fn surroundings(values: &[String], names: &[String]) -> Surroundings {
    let recipe = crate::testing::tiny(&[]);
    let mut surroundings = Surroundings::of(&recipe, Profile::Program).unwrap();
    surroundings.environment = IndexMap::new();
    for (index, value) in values.iter().enumerate() {
        surroundings.environment.insert(format!("V{index}"), value.clone());
        surroundings.forbidden.insert(format!("F{index}"), value.clone());
    }
    for name in names.iter().filter(|name| !super::is_name(name)) {
        surroundings.environment.insert(name.clone(), name.clone());
        surroundings.forbidden.insert(name.clone(), name.clone());
    }
    surroundings
}

/// As `shlex.split` of Python 3.11 takes them apart.
#[test]
fn quotes_are_read_as_python_reads_them() {
    let cases: [(&str, Option<&[&str]>); 10] = [
        ("", Some(&[])),
        (" a\t b\n", Some(&["a", "b"])),
        ("'' \"\"", Some(&["", ""])),
        ("a'b c'd", Some(&["ab cd"])),
        (r#""a\"b\\c\d$e""#, Some(&[r#"a"b\c\d$e"#])),
        (r"a\ b\'", Some(&["a b'"])),
        ("#a", Some(&["#a"])),
        ("'a", None),
        ("\"a", None),
        ("a\\", None),
    ];
    for (text, words) in cases {
        let words = words.map(|words| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(split(text), words, "{text}");
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_shell_reads_words_back(values in prop::collection::vec(nasty(), 1..8)) {
        let folder = tempfile::tempdir().unwrap();
        for shell in ["sh", "bash"] {
            let mut script = Script::default();
            for value in &values {
                script.comment(value);
            }
            script.code("printf '%s\\0' ").words(&values);
            let output = run(shell, folder.path(), &["-c", &script.clone().into_text()]);
            prop_assert_eq!(printed(&output.stdout), values.clone());
            prop_assert!(output.stderr.is_empty() && files(folder.path()).is_empty());
        }
    }

    /// Words with spaces between them are taken apart by us, by shells that are told to, and whatever their quotes are.
    #[test]
    fn words_are_taken_apart_as_they_were_joined(values in prop::collection::vec(nasty(), 0..8)) {
        let joined = values.iter().map(|value| word(value)).collect::<Vec<_>>().join(" ");
        prop_assert_eq!(split(&joined), Some(values.clone()));
        let folder = tempfile::tempdir().unwrap();
        let program = "eval \"set -- $1\"; [ $# = 0 ] || printf '%s\\0' \"$@\"";
        for shell in ["sh", "bash"] {
            let output = run(shell, folder.path(), &["-c", program, shell, &joined]);
            prop_assert_eq!(printed(&output.stdout), values.clone());
            prop_assert!(output.stderr.is_empty() && files(folder.path()).is_empty());
        }
    }

    /// A word is one where a command stands, too.
    #[test]
    fn a_shell_runs_the_program_that_a_word_names(name in file_name()) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(&name);
        write_program(&program, "#!/bin/sh\nprintf ran\n");
        let text = format!("PATH=$PWD:$PATH\n{}\n", word(&name));
        let output = run("sh", folder.path(), &["-c", &text]);
        prop_assert_eq!(output.stdout, b"ran", "{}", String::from_utf8_lossy(&output.stderr));
        prop_assert_eq!(files(folder.path()), [program]);
    }

    #[test]
    fn the_environment_is_exported_and_nothing_else_runs(
        values in prop::collection::vec(nasty(), 1..6),
        names in prop::collection::vec(nasty(), 0..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let surroundings = surroundings(&values, &names);
        let show: String = (0..values.len()).map(|index| format!(" \"$V{index}\"")).collect();
        let program = format!("printf '%s\\0'{show}");
        for shell in ["sh", "bash"] {
            let taken = run(shell, folder.path(), &["-c", &format!("eval \"$1\" && {program}"), shell, &surroundings.shell()]);
            prop_assert_eq!(printed(&taken.stdout), values.clone());
            prop_assert!(taken.stderr.is_empty());
            let refused = format!("F0=; eval \"$1\" && {program}");
            let refused = run(shell, folder.path(), &["-c", &refused, shell, &surroundings.shell()]);
            let said = format!("F0 is set, and must not be; it is replaced by {}\n", values[0]);
            prop_assert_eq!(String::from_utf8(refused.stderr).unwrap(), said);
            prop_assert!(refused.stdout.is_empty() && !refused.status.success());
            prop_assert!(files(folder.path()).is_empty());
        }
        let place = tempfile::tempdir().unwrap();
        let launch = place.path().join("launch.sh");
        std::fs::write(&launch, surroundings.script(None)).unwrap();
        let launched = run("bash", folder.path(), &[launch.to_str().unwrap(), "sh", "-c", &program]);
        prop_assert_eq!(printed(&launched.stdout), values, "{}", String::from_utf8_lossy(&launched.stderr));
        prop_assert!(launched.stderr.is_empty() && files(folder.path()).is_empty());
    }

    #[test]
    fn the_compiler_gets_its_words_and_nothing_else_runs(
        (bundle_name, output_name, program_name) in (file_name(), file_name(), file_name()),
        module in file_name().prop_filter("a module", |name| !name.contains(|c: char| c.is_control() || c == '/')),
        flags in prop::collection::vec(nasty(), 0..4),
        environment in prop::collection::vec((nasty(), nasty()), 0..4),
    ) {
        let root = tempfile::tempdir().unwrap();
        let at = |folder: &str, name: &str| root.path().join(folder).join(name.replace('/', "_"));
        let (bundle_folder, output) = (at("bundles", &bundle_name), at("outputs", &output_name));
        let program = at("programs", &program_name);
        let mut bundle = small();
        bundle.manifest.recipe.target = Generation::Trn1.into();
        bundle.manifest.flags = flags;
        bundle.manifest.modules[0].name = module.clone();
        std::fs::create_dir_all(&bundle_folder).unwrap();
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        let hlo = bundle_folder.join(&bundle.manifest.modules[0].file);
        std::fs::write(&hlo, b"hlo").unwrap();
        let stub = "#!/bin/sh\nprintf '%s\\0' \"$@\" >\"$CALLED\"\nwhile [ \"$1\" != --output ]; do shift; done\n: >\"$2\"\n";
        write_program(&program, stub);
        let tasks = plan(&bundle).unwrap();
        let text = script(&tasks, &program, &bundle_folder, &output, &environment.into_iter().collect());
        let (work, called) = (root.path().join("work"), root.path().join("called"));
        std::fs::create_dir(&work).unwrap();
        let prefix = format!("TMPDIR={0} CALLED={1}; export TMPDIR CALLED; cd {0}\n", word(work.to_str().unwrap()), word(called.to_str().unwrap()));
        let ran = run("sh", root.path(), &["-c", &(prefix + &text)]);
        prop_assert!(ran.status.success() && ran.stderr.is_empty(), "{text}\n{}", String::from_utf8_lossy(&ran.stderr));
        prop_assert_eq!(printed(&std::fs::read(&called).unwrap()), arguments(&module, tasks[0].flags()));
        std::fs::remove_dir_all(&work).unwrap();
        let mut expected = vec![hlo, program, called, output.join(format!("{module}.neff"))];
        expected.sort();
        prop_assert_eq!(files(root.path()), expected);
    }
}
