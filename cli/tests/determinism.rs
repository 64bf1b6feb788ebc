//! Equal input, equal bytes: processes of their own, in other folders, beside any number of others.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Every file below a folder by its path there.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}

/// A compile of a preset for Trainium that goes on in a folder.
fn start(preset: &str, folder: &Path, more: &[&str]) -> Child {
    std::fs::create_dir_all(folder).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command.args(["compile", preset, "--target", "trn1", "-o", "bundle", "--emit", "hlo-text,stablehlo,ir"]);
    command.args(more).env("TMPDIR", folder).current_dir(folder).stdout(Stdio::null()).spawn().unwrap()
}

/// Compiles a preset as often as there are processes in all waves; those of a wave run at once, on cores that they share.
fn assert_deterministic(preset: &str, waves: &[usize]) {
    let root = tempfile::tempdir().unwrap();
    let mut first: Option<BTreeMap<String, Vec<u8>>> = None;
    for (wave, &processes) in waves.iter().enumerate() {
        let folders: Vec<_> =
            (0..processes).map(|at| root.path().join(format!("{wave}/{}/x", "deep/".repeat(at)))).collect();
        let children: Vec<_> = folders.iter().map(|folder| start(preset, folder, &[])).collect();
        assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));
        for folder in folders {
            let found = files(&folder.join("bundle"));
            let first = first.get_or_insert_with(|| found.clone());
            let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&found), names(first));
            let other = first.iter().find(|(name, bytes)| found[*name] != **bytes);
            assert!(other.is_none(), "{} differs in {}", other.unwrap().0, folder.display());
        }
    }
}

#[test]
fn twenty_compiles_give_the_same_bundle() {
    assert_deterministic("tiny", &[1, 2, 4, 5, 8]);
}

/// Each module has a thread of its own.
#[test]
fn a_module_is_the_same_beside_any_others() {
    let root = tempfile::tempdir().unwrap();
    let compile = |roles: &str| {
        let folder = root.path().join(roles);
        assert!(start("tiny", &folder, &["--role", roles]).wait().unwrap().success());
        files(&folder.join("bundle"))
    };
    let all = compile("train_step,forward,eval");
    for some in ["train_step", "forward,eval", "eval,train_step"] {
        for (name, bytes) in compile(some).iter().filter(|(name, _)| *name != "manifest.json") {
            assert!(all[name] == *bytes, "{name} differs when compiled as one of {some}");
        }
    }
}

#[test]
fn a_preset_of_full_size_is_as_deterministic() {
    assert_deterministic("llama-7b", &[1, 3]);
}
