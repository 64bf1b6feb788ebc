//! StableHLO on the command line: files beside the HLO, and programs that plugins get.

use crate::program::halite;
use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::sha256;
use halite_stablehlo::Form;
use std::path::Path;

/// The names of the texts in a bundle.
fn texts(bundle: &Path) -> Vec<String> {
    let names = std::fs::read_dir(bundle).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".mlir")).collect();
    names.sort();
    names
}

#[test]
fn texts_stand_beside_the_hlo_when_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("tiny");
    let compile = |more: &[&str]| {
        let output = halite(folder.path(), &[&["compile", "tiny", "-q", "-o", "tiny"], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        texts(&bundle)
    };
    assert_eq!(compile(&["--emit", "stablehlo"]), ["eval.mlir", "forward.mlir", "train_step.mlir"]);
    let entry = std::fs::read(bundle.join("forward.hlo.pb")).unwrap();
    let text = std::fs::read_to_string(bundle.join("forward.mlir")).unwrap();
    assert_eq!(text, halite_stablehlo::translate(&entry, Form::Program { num_replicas: 1 }).unwrap());
    // The bundle that takes its place has none.
    assert_eq!(compile(&[]), [""; 0]);
}

/// The bundle of `tiny`, an instruction of whose step waits for one that it does not read.
fn waiting() -> Bundle {
    let mut session = Session::new();
    let source = session.load("tiny", &["layers=1".to_owned()]).unwrap();
    let mut bundle = session.compile(&source, &CompileOptions::default()).unwrap().bundle;
    let entry = bundle.manifest.modules[0].clone();
    let mut module = halite_hlo::decode(bundle.hlo(&entry).unwrap()).unwrap();
    let instructions = &mut module.computations.last_mut().unwrap().instructions;
    let first = instructions[0].id;
    instructions.iter_mut().find(|inst| inst.opcode == "multiply").unwrap().control_predecessor_ids = vec![first];
    let bytes = halite_hlo::encode(&module);
    bundle.manifest.modules[0].sha256 = sha256(&bytes);
    bundle.files.insert(entry.file, bytes);
    bundle
}

#[test]
fn what_cannot_be_written_goes_to_no_plugin() {
    let folder = tempfile::tempdir().unwrap();
    waiting().write(&folder.path().join("waiting")).unwrap();
    std::fs::write(folder.path().join("text.txt"), "All work and no play. ".repeat(200)).unwrap();
    let train = ["train", "waiting", "--text", "text.txt", "--steps", "1", "-q", "-o", "run"];
    let refused = halite(folder.path(), &[&train[..], &["--program-format", "mlir"]].concat());
    let text = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{text}");
    let message = "cannot be written as StableHLO: it waits for instructions that it does not read";
    assert!(text.contains("E0215") && text.contains(message), "{text}");
    assert!(!folder.path().join("run/state.safetensors").exists());
    assert_eq!(halite(folder.path(), &train).status.code(), Some(0));
}

/// A plugin that is to get StableHLO compiles no program that is handed to it in HLO alone.
#[test]
fn commands_that_run_programs_take_the_format() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.txt"), "All work and no play. ".repeat(200)).unwrap();
    let verify = ["verify", "tiny", "--set", "parallel.data=2", "--set", "parallel.tensor=2"];
    let numerics = ["numerics", "mixed", "--text", "text.txt", "--steps", "1", "--seeds", "0", "-o", "study"];
    for command in [&verify[..], &numerics] {
        let arguments = [command, &["--set", "layers=1", "-q", "--program-format", "mlir"]].concat();
        let output = halite(folder.path(), &arguments);
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
