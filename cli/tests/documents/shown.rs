//! Running the commands of a document and comparing what they print.

use super::read::{Shown, shown};
use super::root;
use std::path::PathBuf;
use std::process::Command;

/// Commands that cannot run in a test, each with the reason. Their options are checked all the same.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "halite convert build/llama state.safetensors --weights-only --dtype bf16 --shard-size 5GB -o out/model.safetensors",
        "needs the weights of an 8B model",
    ),
    ("halite init build/llama --weights Llama-3.1-8B -o state.safetensors", "needs the weights of an 8B model"),
    ("halite neuron compile build/hlat-7b", "needs neuronx-cc"),
    ("halite neuron compile build/tiny", "needs neuronx-cc"),
    ("halite neuron selftest --output report.json", "needs a device; the test `selftest` holds it to the stand-ins"),
    ("halite train build/tiny --text book.txt --executor nrt", "needs a Neuron device"),
    (
        "bash launch.sh --nodes 1 --node-rank 0 --root 127.0.0.1:46820 -- --text book.txt --steps 300",
        "needs a Neuron device; the test `nrt` runs such a command on a stand-in",
    ),
    (
        "bash launch.sh --nodes 1 --node-rank 0 --root 127.0.0.1:46820 python train.py",
        "needs a Neuron device; the test `launch` runs such a script on small programs",
    ),
    ("halite neuron compile build/hlat-7b --jobs 2 --timeout 6h", "needs neuronx-cc"),
    (
        "halite numerics mixed bf16 bf16-sr --text tests/data/pride-and-prejudice.txt --steps 300 --seeds 0,1,2",
        "2,700 updates, which take minutes",
    ),
];

/// Commands whose output is shown as it once came: what is drawn follows from the last bits of weights, which differ among processors.
const AS_IT_CAME: [&str; 1] =
    ["halite generate book.toml --state runs/book --prompt \"It is a truth\" --tokens 60 --temperature 0.7"];

/// Commands whose programs run hundreds of times, which takes longer on plain code than XLA takes to make its own.
const OFTEN: [&str; 2] = [
    "halite train tiny --text tests/data/pride-and-prejudice.txt --steps 300 -o runs/tiny",
    "halite train book.toml -o runs/book",
];

/// Commands that compile for a minute, which the second tier runs.
pub(super) const LONG: [&str; 1] = ["halite plan --calibration"];

/// A folder to run commands in: the tests of the repository, the models that documents speak of, and the program on the path.
pub(super) struct Folder {
    folder: tempfile::TempDir,
    path: String,
}

impl Folder {
    /// A new folder in which some commands have run.
    pub(super) fn new(prepared: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tests = root().canonicalize().unwrap().join("tests");
        std::os::unix::fs::symlink(&tests, folder.path().join("tests")).unwrap();
        for model in ["typo.hal", "off-by-one.hal"] {
            std::fs::copy(tests.join("documents").join(model), folder.path().join(model)).unwrap();
        }
        let config = folder.path().join("Llama-3.1-8B");
        std::fs::create_dir(&config).unwrap();
        std::fs::copy(tests.join("hugging_face/configs/llama-3.1-8b.json"), config.join("config.json")).unwrap();
        let program = PathBuf::from(env!("CARGO_BIN_EXE_halite"));
        let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
        let new = Self { folder, path };
        prepared.iter().for_each(|command| drop(new.run(command)));
        new
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The output of a command: standard output and standard error, as lines.
    fn run(&self, command: &str) -> [Vec<String>; 2] {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", &self.path).current_dir(self.folder.path());
        if OFTEN.contains(&command) {
            shell.env_remove("XLA_FLAGS");
        }
        let output = shell.output().unwrap();
        let code = output.status.code();
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().lines().map(str::to_owned).collect();
        let (out, err): (Vec<String>, Vec<String>) = (lines(&output.stdout), lines(&output.stderr));
        assert!(matches!(code, Some(0..=2)), "`{command}` ends with {code:?}\n{}", err.join("\n"));
        [out, err]
    }
}

/// The number of commands of a document that train for long.
pub(super) fn long_runs(document: &str) -> usize {
    shown(document).iter().filter(|shown| OFTEN.contains(&shown.command.as_str())).count()
}

/// Runs the commands of a document in their order, each in the folder that those before it left, and gives the shown lines that were
/// not printed.
pub(super) fn run(document: &str, folder: &Folder) -> Vec<String> {
    let mut wrong = Vec::new();
    for shown in &shown(document) {
        let Shown { place, command, output } = shown;
        if LONG.contains(&command.as_str()) {
            continue;
        }
        if NOT_RUN.iter().any(|(own, _)| own == command) {
            assert!(output.is_empty(), "{place}: output is shown of a command that is not run");
            continue;
        }
        // A file that is shown is made by being shown.
        if let Some(file) = command.strip_prefix("cat ") {
            std::fs::write(folder.path(file), output.join("\n") + "\n").unwrap();
            continue;
        }
        wrong.extend(differs(shown, folder));
    }
    wrong
}

/// Runs a command, and says what it prints where that is not what is shown.
pub(super) fn differs(Shown { place, command, output }: &Shown, folder: &Folder) -> Option<String> {
    let [out, err] = folder.run(command);
    if AS_IT_CAME.contains(&command.as_str()) {
        assert!(!out.is_empty() && err.is_empty() && out[0].starts_with("It is a truth"), "{place}: {out:?} {err:?}");
        return None;
    }
    let both = [err.clone(), out.clone()].concat();
    if [&out, &err, &both].into_iter().any(|lines| prints(output, lines)) {
        return None;
    }
    let [out, err, shown] = [&out, &err, output].map(|lines| lines.join("\n"));
    Some(format!("{place}: `{command}` shows\n{shown}\n\nbut prints\n{out}\n\nand as messages\n{err}"))
}

/// Whether a program prints what a document shows, line by line, where `...` stands for any number of lines.
fn prints(shown: &[String], printed: &[String]) -> bool {
    let parts: Vec<&[String]> = shown.split(|line| line.trim() == "...").collect();
    let starts = |lines: &[String], part: &[String]| {
        lines.len() >= part.len() && lines.iter().zip(part).all(|(printed, shown)| same(shown, printed))
    };
    let [first, between @ .., last] = &parts[..] else {
        return shown.is_empty() || shown.len() == printed.len() && starts(printed, shown);
    };
    if !starts(printed, first) {
        return false;
    }
    let mut rest = &printed[first.len()..];
    for part in between {
        match (0..=rest.len()).find(|&start| starts(&rest[start..], part)) {
            Some(start) => rest = &rest[start + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && starts(&rest[rest.len() - last.len()..], last)
}

/// Whether two lines say the same. Milliseconds and speeds may differ, losses by 3%, and errors, with what stands beside them, by a
/// factor of 2: XLA compiles for the processor at hand, sums in another order on another one, and training carries that on.
fn same(shown: &str, printed: &str) -> bool {
    let words = |line: &'_ str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (shown, printed) = (words(shown), words(printed));
    let number = |word: &str| word.parse::<f64>().ok();
    let is_loss = |word: &str| word.split_once('.').is_some_and(|(_, digits)| digits.len() == 4);
    // How fast the machine at hand is.
    if [&shown, &printed].into_iter().all(|line| line.starts_with(&["tokens", "per", "second"].map(str::to_owned))) {
        return true;
    }
    let has_errors = shown.iter().any(|word| word.contains("e-") && number(word).is_some());
    let alike = |index: usize| {
        let (a, b) = (&shown[index], &printed[index]);
        let (Some(x), Some(y)) = (number(a), number(b)) else { return a == b };
        let milliseconds = shown.get(index + 1).is_some_and(|unit| unit == "ms");
        let close = is_loss(a) && is_loss(b) && (x - y).abs() <= 0.03 * x.abs();
        let same_size = has_errors && a.contains('.') && x <= 2.0 * y && y <= 2.0 * x;
        a == b || milliseconds || close || same_size
    };
    shown.len() == printed.len() && (0..shown.len()).all(alike)
}

/// Every command that is not run, or is run in another way, is in a document.
#[test]
fn commands_with_a_way_of_their_own_are_shown() {
    let all: Vec<String> =
        super::documents().iter().flat_map(|document| shown(document)).map(|shown| shown.command).collect();
    let named = NOT_RUN.iter().map(|(command, _)| command).chain(&AS_IT_CAME).chain(&OFTEN).chain(&LONG);
    let gone = named.filter(|command| !all.iter().any(|own| own == *command));
    assert_eq!(gone.collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn lines_are_compared() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let printed = lines("a 12 ms\nb 2.1250\nc 2.17e-2\nd");
    for shown in [
        "",
        "a 7 ms\nb 2.1250\nc 2.17e-2\nd",
        "a 12 ms\n...",
        "...\nd",
        "a 0 ms\n...\nc 2.17e-2\n  ...\nd",
        "...\nb 2.1322\nc 3.17e-2\n...",
    ] {
        assert!(prints(&lines(shown), &printed), "{shown}");
    }
    for shown in [
        "a 7 ms",
        "b 2.1250\n...",
        "...\nb 2.2250\n...",
        "...\nc 4.77e-2\n...",
        "...\nc 2.17e-2",
        "...\nd\na 12 ms\n...",
        "a 7 ms\n...\ne\n...",
        "a 7 s\n...",
    ] {
        assert!(!prints(&lines(shown), &printed), "{shown}");
    }
}
