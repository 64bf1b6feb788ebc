//! The output of commands on terminals of several widths: no line is wider, and every word and number is one of those that a pipe
//! gets, or a name with an ellipsis.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

fn halite(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// The stream that is read.
#[derive(Clone, Copy, PartialEq)]
enum Stream {
    Out,
    Err,
}

/// The text that a command writes to a stream that is a terminal of so many columns; the other stream is discarded.
fn on_terminal(mut command: Command, stream: Stream, columns: u16) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("this system has terminals");
    grantpt(&ours).expect("this system has terminals");
    unlockpt(&ours).expect("this system has terminals");
    let name = ptsname(&ours, Vec::new()).expect("this system has terminals");
    let theirs = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name.to_str().expect("this system has terminals"))
        .expect("this system has terminals");
    tcsetwinsize(&ours, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })
        .expect("this system has terminals");
    match stream {
        Stream::Out => command.stdout(theirs).stderr(Stdio::null()),
        Stream::Err => command.stdout(Stdio::null()).stderr(theirs),
    };
    let mut child = command.spawn().expect("this system has terminals");
    // Our own copy of their end would keep the terminal open.
    drop(command);
    let (mut bytes, mut ours) = (Vec::new(), File::from(ours));
    // The end of a terminal is an error.
    let _ = ours.read_to_end(&mut bytes);
    child.wait().expect("this system has terminals");
    String::from_utf8(bytes).expect("UTF-8").replace("\r\n", "\n")
}

fn through_pipe(mut command: Command, stream: Stream) -> String {
    let output = command.output().expect("the program runs");
    String::from_utf8(if stream == Stream::Out { output.stdout } else { output.stderr }).expect("UTF-8")
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split_whitespace().collect()
}

/// Holds what a command shows at 60, 80 and 120 columns to the rule.
fn check(folder: &Path, arguments: &[&str], stream: Stream) {
    let whole = through_pipe(halite(folder, arguments), stream);
    assert!(!whole.is_empty() && !whole.contains('…'), "{arguments:?} through a pipe\n{whole}");
    for columns in [60, 80, 120] {
        let shown = on_terminal(halite(folder, arguments), stream, columns);
        let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= usize::from(columns), "{arguments:?}: {widest} of {columns} columns\n{shown}");
        assert!(
            !shown.chars().any(|character| character.is_control() && character != '\n'),
            "{arguments:?}\n{shown:?}"
        );
        let is_drawn = |word: &&str| word.chars().all(|character| "─│╭╰╮┬·├┤".contains(character));
        let broken: Vec<&str> = words(&shown)
            .difference(&words(&whole))
            .copied()
            .filter(|word| !word.contains('…') && !is_drawn(word))
            .collect();
        assert!(broken.is_empty(), "{arguments:?} at {columns} columns breaks {broken:?}\n{shown}");
        // Numbers are never shortened.
        let numbers = |text: &str| {
            words(text)
                .into_iter()
                .filter(|word| word.parse::<f64>().is_ok())
                .map(str::to_owned)
                .collect::<BTreeSet<_>>()
        };
        assert_eq!(numbers(&shown), numbers(&whole), "{arguments:?} at {columns} columns\n{shown}");
    }
}

#[test]
fn everything_fits_and_nothing_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let compiled =
        halite(folder, &["compile", "tiny", "--target", "trn1", "-o", "bundle", "--quiet"]).output().unwrap();
    assert_eq!(compiled.status.code(), Some(0), "{}", String::from_utf8_lossy(&compiled.stderr));
    for arguments in [
        &["inspect", "bundle"][..],
        &["inspect", "bundle", "--all"],
        &["inspect", "bundle/forward.hlo.pb", "--target", "trn2"],
        &["inspect", "bundle", "--precision"],
        &["hlo", "check", "bundle/train_step.hlo.pb", "--target", "trn1"],
        &["neuron", "cache", "ls", "--cache", "empty"],
        &["check", "tiny"],
    ] {
        check(folder, arguments, Stream::Out);
    }
    let recipe = format!(
        "halite = 1\nbatch = 2\n{}\n",
        "sequenze_length_of_the_text_in_tokens = 8 # \u{1b}[31m and more words after it, so that it is long"
    );
    std::fs::write(folder.join("recipe.toml"), recipe).unwrap();
    check(folder, &["compile", "recipe.toml", "-o", "out"], Stream::Err);
    check(folder, &["inspect", "bundel-that-is-not-there", "--quiet"], Stream::Err);
}

#[test]
fn a_script_is_the_same_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["env", "hlat-7b", "--set", "target=trn1", "--script"];
    let script = through_pipe(halite(folder.path(), &arguments), Stream::Out);
    assert_eq!(
        on_terminal(halite(folder.path(), &arguments), Stream::Out, 60).replace('\t', "        "),
        script.replace('\t', "        ")
    );
}
