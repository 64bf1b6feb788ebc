//! The command line.

use halite_tests::{command_line, standin_nrt};
use serde_json::Value;
use std::process::{Command, Output};

/// The command, without what this machine may have of Neuron.
fn selftest(words: &[&str]) -> Command {
    let mut command = Command::new(command_line::halite());
    command.args(["neuron", "selftest"]).args(words);
    for name in ["XLA_FLAGS", "HALITE_NEURONX_CC", "HALITE_NRT"] {
        command.env_remove(name);
    }
    command
        .env("STAND_IN_PROGRAMS", "1")
        .env("HALITE_STANDIN_NRT_XLA_FLAGS", std::env::var("XLA_FLAGS").unwrap_or_default());
    command
}

/// The same with the stand-ins.
fn on_stand_ins(words: &[&str]) -> Command {
    let mut command = selftest(words);
    command.arg("--neuronx-cc").arg(env!("CARGO_BIN_EXE_stand-in-neuronx-cc"));
    command.arg("--nrt").arg(standin_nrt::library());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

/// The JSON with its times left out.
fn without_times(mut report: Value) -> Value {
    for check in report["checks"].as_array_mut().unwrap() {
        check["seconds"] = Value::Null;
    }
    report
}

#[test]
fn what_is_not_there_is_not_run_and_counted() {
    let output = selftest(&[]).env("PATH", "/none").output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(code(&output), 1, "{said}{}", text(&output.stderr));
    assert_eq!(said.matches("not run: ").count(), 14, "{said}");
    assert!(
        said.contains("no `neuronx-cc` was found") && said.contains("0 checks passed, 0 failed, 14 not run"),
        "{said}"
    );
    assert!(!said.contains("confirmed by") && said.contains("open: no check tells"), "{said}");
    assert!(said.contains("Nothing could be asked"), "{said}");
    assert!(said.lines().take_while(|line| !line.contains("passed,")).all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn without_a_library_the_compiler_is_asked_alone() {
    let mut command = selftest(&["--only", "flags", "--only", "call"]);
    let output = command.arg("--neuronx-cc").arg(env!("CARGO_BIN_EXE_stand-in-neuronx-cc")).output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(code(&output), 0, "{said}");
    assert!(said.contains("no libnrt was found") && said.contains("1 check passed, 0 failed, 1 not run"), "{said}");
}

#[test]
fn collectives_are_not_run_on_one_core() {
    let output = on_stand_ins(&["--only", "collectives", "--quiet"]).output().unwrap();
    let said = text(&output.stdout);
    assert!(code(&output) == 1 && said.contains("not run: it needs 2 cores, and there is 1"), "{said}");
}

#[test]
fn mistakes_are_told_before_anything_is_made() {
    for (words, message) in [
        (["--only", "calls"], "there is no check `calls`"),
        (["--target", "cpu"], "`cpu` is no hardware of Neuron"),
        (["--neuronx-cc", "/none"], "there is no program `/none`"),
        (["--nrt", "/none"], "/none"),
    ] {
        let output = selftest(&words).output().unwrap();
        let said = text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code(&output) >= 2 && said.contains(message), "{words:?}: {said}");
    }
    let set = selftest(&["--only", "call"]).env("NEURON_CC_FLAGS", "-O1").output().unwrap();
    assert!(code(&set) == 2 && text(&set.stderr).contains("NEURON_CC_FLAGS"), "{}", text(&set.stderr));
}

#[test]
fn a_call_that_hangs_is_given_up() {
    let mut command = on_stand_ins(&["--only", "call", "--only", "flags", "--run-timeout", "2s", "--quiet"]);
    let output = command.env("HALITE_STANDIN_NRT_HANG", "nrt_execute@1").output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(code(&output), 1, "{said}");
    assert!(said.contains("`nrt_execute` did not come back within 2 s"), "{said}");
    assert!(said.contains("1 check passed, 1 failed, 0 not run"), "{said}");
}

#[test]
fn the_report_names_no_file_host_or_user() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let mut command = on_stand_ins(&["--only", "call", "--only", "barriers", "--json"]);
    command.arg("--output").arg(&path).arg("--work-dir").arg(folder.path().join("work"));
    let output = command.env("HALITE_STANDIN_NRT_FAIL", "nrt_load:101@1").output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(code(&output), 1, "{said}{}", text(&output.stderr));
    let host = text(rustix::system::uname().nodename().to_bytes());
    assert!(
        !said.contains(folder.path().to_str().unwrap()) && !said.contains("/target/") && !said.contains(&host),
        "{said}"
    );
    let written: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(&said).unwrap());
}

#[test]
fn the_form_of_reports_is_known() {
    let mut command = on_stand_ins(&["--only", "call", "--only", "aliasing", "--json"]);
    let output = command.env("HALITE_STANDIN_NRT_DEFECT", "call-arguments").output().unwrap();
    assert_eq!(code(&output), 1);
    let report = without_times(serde_json::from_slice(&output.stdout).unwrap());
    let found = serde_json::to_string_pretty(&report).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/selftest/report.json");
    if std::env::var_os("HALITE_BLESS").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(path).unwrap_or_default(), "HALITE_BLESS=1 writes it anew");
}

#[test]
fn every_check_says_what_it_tells_and_every_fact_what_would_change() {
    let listed = text(&selftest(&["--list"]).output().unwrap().stdout);
    let explained: Value =
        serde_json::from_slice(&selftest(&["--explain", "--json"]).output().unwrap().stdout).unwrap();
    for check in halite_selftest::CHECKS {
        assert!(listed.contains(check.name()), "{listed}");
        let tells = |fact: &Value| fact["checks"].as_array().unwrap().iter().any(|name| name == check.name());
        assert!(explained.as_array().unwrap().iter().any(tells), "{}", check.name());
    }
    for fact in explained.as_array().unwrap() {
        let is_told = !fact["checks"].as_array().unwrap().is_empty();
        assert_eq!(is_told, fact["refuted"].is_string() && fact["confirmed"].is_string(), "{fact}");
    }
}
