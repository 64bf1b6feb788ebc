//! Runs that signals end, as processes. Needs the PJRT plugin: `halite plugin install`.

use crate::program::CORPUS;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `halite train` on a small model for so many updates. Whoever runs the tests in the background may have them ignore signals.
fn train(folder: &Path, name: &str, steps: &str, more: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_halite")]);
    let model = ["--set", "layers=1", "--set", "batch=2", "--set", "seq=16"];
    command.args(["train", "tiny", "--text", CORPUS, "--eval-every", "0", "--eval-batches", "1"]).args(model);
    command.args(["--steps", steps, "-o", name]).args(more).current_dir(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits until something holds of a process that runs.
fn wait_until(running: &mut Child, what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(running.try_wait().unwrap().is_none(), "it ended before {what}");
        assert!(start.elapsed() < Duration::from_secs(120), "waited for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(running: &Child, signal: Signal) {
    kill_process(Pid::from_child(running), signal).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Its state is that after the last update, with the seed that the run had. A run that is resumed from it has that seed too,
/// and goes on to where one ends that nobody stopped, bit for bit; with another recipe it is refused.
#[test]
fn a_signal_ends_a_run_that_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let seed = ["--seed", "7", "--checkpoint-every", "2"];
    let mut running = train(folder.path(), "run", "1000000", &seed).spawn().unwrap();
    let state = folder.path().join("run/state.safetensors");
    wait_until(&mut running, "a state is saved", || state.is_file());
    send(&running, Signal::TERM);
    let stopped = running.wait_with_output().unwrap();
    let said = text(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(143), "{said}");
    assert!(said.contains("SIGTERM stopped the run after update "), "{said}");
    assert!(said.contains("the same command goes on from there"), "{said}");
    let record = halite_train::Record::read(&state).unwrap().unwrap();
    let (steps, resume) = ((record.step + 3).to_string(), ["--resume", "run/state.safetensors"]);
    let run = |name: &str, more: &[&str]| train(folder.path(), name, &steps, more).output().unwrap();

    let refused = run("run", &[&resume[..], &["--seed", "8", "--set", "optimizer.adamw.lr=0.02"]].concat());
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("`seed` was 7, now it is 8") && said.contains("`optimizer.adamw.lr` was "), "{said}");

    for output in [run("run", &resume), run("whole", &seed[..2])] {
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    for file in ["state.safetensors", "metrics.jsonl", "loss.svg", "recipe.toml"] {
        let read = |run: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
        assert!(read("run") == read("whole"), "{file}");
    }
}

/// Signals that whoever started the run has it ignore, as `nohup` does, do not end it.
#[test]
fn an_interrupt_exits_as_shells_expect_and_a_hangup_can_be_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let train = train(folder.path(), "run", "1000000", &["--checkpoint-every", "2"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap "" HUP; exec "$0" "$@""#]).arg(train.get_program()).args(train.get_args());
    shell.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = shell.spawn().unwrap();
    let state = folder.path().join("run/state.safetensors");
    wait_until(&mut running, "a state is saved", || state.is_file());
    send(&running, Signal::HUP);
    let step = || halite_train::Record::read(&state).unwrap().unwrap().step;
    let then = step();
    wait_until(&mut running, "it goes on", || step() > then + 10);
    send(&running, Signal::INT);
    let stopped = running.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(130), "{}", text(&stopped.stderr));
}

/// The first signal comes while XLA compiles, so that there is no update yet after which to end.
#[test]
fn an_interrupt_after_a_signal_ends_a_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = train(folder.path(), "run", "1000000", &["--set", "layers=8"]).spawn().unwrap();
    let status = format!("/proc/{}/status", running.id());
    let catches = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
        u64::from_str_radix(mask, 16).unwrap_or(0) & (1 << (15 - 1)) != 0
    };
    wait_until(&mut running, "it catches SIGTERM", catches);
    send(&running, Signal::TERM);
    send(&running, Signal::INT);
    let output = running.wait_with_output().unwrap();
    assert!([Some(130), Some(143)].contains(&output.status.code()), "{:?}", output.status);
    assert!(!folder.path().join("run/state.safetensors").exists(), "{}", text(&output.stderr));
}

/// A scheduler signals all processes of a job, and the launch script passes on what it gets.
#[test]
fn a_signal_that_comes_several_times_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = train(folder.path(), "run", "1000000", &["--checkpoint-every", "2"]).spawn().unwrap();
    let state = folder.path().join("run/state.safetensors");
    wait_until(&mut running, "a state is saved", || state.is_file());
    for _ in 0..3 {
        send(&running, Signal::TERM);
        std::thread::sleep(Duration::from_millis(5));
    }
    let stopped = running.wait_with_output().unwrap();
    let said = text(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(143), "{said}");
    assert!(said.contains("SIGTERM stopped the run after update "), "{said}");
}
