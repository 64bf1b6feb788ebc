//! A small bundle, its round trip, and every way to break it.

use super::*;
use crate::fixtures::{NoTarget, packed, small};
use crate::{BufferRole, Port};
use halite_disk::testing::assert_durable;
use halite_disk::{Disk, Fate, Operation};
use halite_tensor::{Part, StateSpec};
use std::io::ErrorKind;

#[test]
fn a_bundle_reads_back_and_replaces_itself_with_equal_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out/bundle");
    let bundle = small();
    bundle.write(&target).unwrap();
    let first = std::fs::read(target.join(MANIFEST)).unwrap();
    assert_eq!(Bundle::read(&target, &NoTarget).unwrap(), bundle);
    bundle.write(&target).unwrap();
    assert_eq!(std::fs::read(target.join(MANIFEST)).unwrap(), first);
    assert!(first.ends_with(b"}\n"));
    assert_eq!(std::fs::read_dir(target.parent().unwrap()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn other_folders_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("thesis.txt"), "").unwrap();
    let error = small().write(folder.path()).unwrap_err();
    assert!(error.message().ends_with("is a folder with other files, not a bundle"), "{error}");
    let error = small().write(&folder.path().join("thesis.txt")).unwrap_err();
    assert!(error.message().ends_with("is a file, not a bundle"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_foreign_manifest_or_a_foreign_file_protects_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(MANIFEST), "{\"name\": \"web app\"}").unwrap();
    let error = small().write(folder.path()).unwrap_err();
    assert!(error.message().ends_with("is a folder with other files, not a bundle"), "{error}");
    let bundle = folder.path().join("bundle");
    small().write(&bundle).unwrap();
    std::fs::write(bundle.join("train_step.03-cse.after.ir"), "").unwrap();
    small().write(&bundle).unwrap();
    std::fs::write(bundle.join("state.safetensors"), "").unwrap();
    let error = small().write(&bundle).unwrap_err();
    assert!(error.message().ends_with("holds `state.safetensors`, which is not part of the bundle there"), "{error}");
    assert!(bundle.join("state.safetensors").exists());
}

#[test]
fn what_is_compiled_further_goes_with_its_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("bundle");
    small().write(&target).unwrap();
    let neffs = target.join(NEFFS);
    let fill = |names: &[&str]| {
        std::fs::create_dir_all(&neffs).unwrap();
        names.iter().for_each(|name| std::fs::write(neffs.join(name), "").unwrap());
    };
    fill(&["train_step.neff", "train_step.log", ".halite-x"]);
    assert_eq!(Bundle::read(&target, &NoTarget), Ok(small()));
    small().write(&target).unwrap();
    assert!(!neffs.exists(), "it was made of other modules");
    fill(&["notes.txt"]);
    let error = small().write(&target).unwrap_err();
    assert!(error.message().ends_with("holds `neff/notes.txt`, which is not part of the bundle there"), "{error}");
}

#[test]
fn broken_bundles_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("bundle");
    small().write(&target).unwrap();
    let text = std::fs::read_to_string(target.join(MANIFEST)).unwrap();
    let read_changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is in\n{text}");
        std::fs::write(target.join(MANIFEST), text.replacen(from, to, 1)).unwrap();
        Bundle::read(&target, &NoTarget).unwrap_err().to_string()
    };
    let cases = [
        ("\"version\": 4", "\"version\": 9", "E0102", "has version 9"),
        ("\"version\": 4", "\"other\": 1", "E0502", "states no version"),
        ("\"schedule\"", "\"shedule\"", "E0403", "unknown key `shedule`"),
        ("\"name\": \"b\"", "\"name\": \"c\"", "E0502", "`b` of the module `train_step` is no buffer"),
        (
            "\"buffers\": [",
            "\"buffers\": [{\"name\": \"w\", \"dtype\": \"f32\", \"shape\": [], \"slot\": \"weight\", \"init\": \"zeros\"},",
            "E0502",
            "`w` is listed twice",
        ),
        ("train_step.hlo.pb", "../x.pb", "E0502", "outside the bundle"),
        (
            "\"outputs\": [",
            "\"outputs\": [{\"name\": \"z\", \"dtype\": \"f32\", \"shape\": [], \"role\": \"metric\", \"alias\": 7},",
            "E0502",
            "aliases an input that is not there",
        ),
        ("\"of\": \"w\"", "\"of\": \"u\"", "E0502", "belongs to `u`"),
        (
            "\"slot\": \"m\"",
            "\"slot\": \"weight\"",
            "E0502",
            "has the key `of`, which does not go with the slot `weight`",
        ),
        ("\"slot\": \"m\"", "\"slot\": \"m.x\"", "E0502", "the buffer `m.w`: a state cannot be named `m.x`"),
        ("\"init\": \"ones\"", "\"init\": \"weight\"", "E0502", "the weight `b` starts as a weight"),
        ("\"init\": \"ones\"", "\"transient\": false", "E0502", "the buffer `b` must have an initial value"),
        ("\"init\": \"zeros\"", "\"init\": {\"constant\": 1e39}", "E0502", "`m.w` starts at 1"),
        ("\"mode\": \"rne\"", "\"mode\": \"sr\"", "E0408", "the rounding is not that of its recipe"),
        ("\"weight\": \"f32\"", "\"weight\": \"f64\"", "E0409", "is `f64`, but"),
        ("\"update\": \"f32\"", "\"update\": \"s32\"", "E0405", "`precision.update` is `s32`"),
        ("{", "[", "E0502", "is not a manifest"),
    ];
    for (from, to, code, part) in cases {
        let error = read_changed(from, to);
        assert!(error.contains(code) && error.contains(part), "{error}");
    }
    std::fs::write(target.join(MANIFEST), &text).unwrap();
    std::fs::write(target.join("train_step.hlo.pb"), "hlO").unwrap();
    assert!(Bundle::read(&target, &NoTarget).unwrap_err().to_string().contains("E0503"));
    assert!(Bundle::read(folder.path(), &NoTarget).unwrap_err().to_string().contains("it has no `manifest.json`"));
}

#[test]
fn packings_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    type Change = fn(&mut Buffer);
    let read_changed = |name: &str, change: Change| {
        let mut bundle = packed();
        change(bundle.manifest.buffers.iter_mut().find(|buffer| buffer.name == name).unwrap());
        bundle.write(&folder.path().join("bundle")).unwrap();
        Bundle::read(&folder.path().join("bundle"), &NoTarget)
    };
    assert_eq!(read_changed("qkv", |_| {}).unwrap(), packed());
    fn parts(buffer: &mut Buffer) -> &mut Vec<Part> {
        &mut buffer.packing.as_mut().unwrap().parts
    }
    let cases: [(&str, Change, &str); 7] = [
        ("m.qkv", |buffer| buffer.packing = None, "`m.qkv` is stored otherwise than `qkv`"),
        (
            "m.qkv",
            |buffer| buffer.role = BufferRole::State(StateSpec::new("m")),
            "`m.qkv` stores several tensors without being a weight's",
        ),
        ("qkv", |buffer| parts(buffer)[0].shape = vec![6, 8], "`qkv` has another shape than its packing"),
        ("qkv", |buffer| parts(buffer)[0].shape = vec![usize::MAX, 8], "`qkv` packs a tensor that is too large"),
        ("qkv", |buffer| parts(buffer)[0].shape = vec![3, 8], "3 rows of `q`, 1 times, do not share out"),
        ("qkv", |buffer| parts(buffer)[0].name = "b".into(), "the tensor `b` is stored twice"),
        ("qkv", |buffer| parts(buffer)[0].name = "k".into(), "the tensor `k` is stored twice"),
    ];
    for (name, change, part) in cases {
        let error = read_changed(name, change).unwrap_err().to_string();
        assert!(error.contains("E0502") && error.contains(part), "{error}");
    }
}

#[test]
fn ports_that_clash_are_refused() {
    type Change = fn(&mut ModuleEntry);
    let cases: [(Change, &str); 3] = [
        (
            |module| module.inputs.push(module.inputs[1].clone()),
            "the input `b` of the module `train_step` is listed twice",
        ),
        (
            |module| module.outputs.push(Port { alias: None, ..module.outputs[0].clone() }),
            "the output `b` of the module `train_step` is listed twice",
        ),
        (|module| module.outputs[1].alias = Some(1), "two outputs of the module `train_step` alias its input `b`"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (change, expected) in cases {
        let mut bundle = small();
        change(&mut bundle.manifest.modules[0]);
        bundle.write(&folder.path().join("bundle")).unwrap();
        let error = Bundle::read(&folder.path().join("bundle"), &NoTarget).unwrap_err();
        assert!(error.code() == codes::BUNDLE && error.message().ends_with(expected), "{error}");
    }
}

#[test]
fn a_bundle_without_a_folder_is_checked_as_one_with() {
    let Bundle { manifest, mut files } = small();
    files.insert("notes/why.txt".into(), Vec::new());
    let bundle = Bundle::new(manifest, files, &NoTarget).unwrap();
    assert_eq!((&bundle.manifest, bundle.files.len()), (&small().manifest, 2));
    type Change = fn(&mut Bundle);
    let cases: [(Change, &str); 7] = [
        (|bundle| bundle.manifest.version = 9, "the manifest has version 9, this build reads version 4"),
        (|bundle| bundle.manifest.buffers[2].name = "w".into(), "contradicts itself: the buffer `w` is listed twice"),
        (
            |bundle| bundle.manifest.modules[0].inputs[1].name = "c".into(),
            "`c` of the module `train_step` is no buffer",
        ),
        (|bundle| bundle.manifest.recipe.target = "trn9".into(), "the manifest: "),
        (|bundle| bundle.files.clear(), "its file `train_step.hlo.pb` is missing"),
        (|bundle| bundle.files[0].push(0), "`train_step.hlo.pb` is not the file that the manifest describes"),
        (|bundle| _ = bundle.files.insert("../x".into(), Vec::new()), "the file `../x` is outside the bundle"),
    ];
    for (change, expected) in cases {
        let mut bundle = small();
        change(&mut bundle);
        let error = Bundle::new(bundle.manifest, bundle.files, &NoTarget).unwrap_err();
        assert!(error.message().contains(expected), "{error}");
    }
}

#[test]
fn no_file_is_written_outside_the_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let mut bundle = small();
    bundle.files.insert("../x".into(), Vec::new());
    let error = bundle.write(&folder.path().join("made")).unwrap_err();
    assert!(error.message().ends_with("the file `../x` is outside the bundle"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn modules_are_found_by_name_and_role() {
    let bundle = small();
    assert!(bundle.module("train_step").is_ok());
    let error = bundle.module("train_stp").unwrap_err();
    assert_eq!(error.help_text(), Some("did you mean `train_step`?"));
    let error = bundle.module_with_role(&ModuleRole::EVAL).unwrap_err();
    assert_eq!(error.help_text(), Some("compile it with `--role eval`"));
}

/// At whatever call it fails or the power goes, the old bundle or the new one is read, and the next one that is written leaves
/// nothing else behind: on file systems that exchange folders and on those that do not.
#[test]
fn a_bundle_is_replaced_whole() {
    let (old, mut new, calm) = (small(), packed(), Disk::planned(|_, _| Fate::Done));
    new.files.insert("notes/why.txt".into(), vec![1; 100]);
    for (fate, exchanges) in [(Fate::Fails(ErrorKind::StorageFull), true), (Fate::Killed, true), (Fate::Killed, false)]
    {
        for n in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("bundle");
            write::write(&calm, &old, &target).unwrap();
            let disk = Disk::planned(move |number, call| match call {
                _ if number == n => fate,
                Operation::Exchange if !exchanges => Fate::Fails(ErrorKind::Unsupported),
                _ => Fate::Done,
            });
            let result = write::write(&disk, &new, &target);
            // Reading compares checksums.
            let found = Bundle::read(&target, &NoTarget)
                .unwrap_or_else(|error| panic!("call {n} of {fate:?}: {error}"))
                .manifest;
            assert!(found == new.manifest || found == old.manifest, "call {n} of {fate:?}");
            assert!(Bundle::is_at(&target));
            if disk.calls() <= n {
                assert!(result.is_ok() && found == new.manifest && n > 10);
                break;
            }
            std::fs::remove_dir_all(target.join("notes")).ok();
            write::write(&calm, &old, &target).unwrap();
            assert_eq!(Bundle::read(&target, &NoTarget).unwrap(), old);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "call {n} of {fate:?}");
        }
    }
}

#[test]
fn bundles_are_on_the_device() {
    let folder = tempfile::tempdir().unwrap();
    for bundle in [small(), packed()] {
        assert_durable(|disk| write::write(disk, &bundle, &folder.path().join("bundle")).unwrap());
    }
}

/// Where the old bundle can neither be exchanged nor put back, it is not deleted, and the message says where it is.
#[test]
fn a_bundle_that_cannot_be_put_back_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("bundle");
    small().write(&target).unwrap();
    let renames = std::sync::atomic::AtomicUsize::new(0);
    let disk = Disk::planned(move |_, call| match call {
        Operation::Exchange => Fate::Fails(ErrorKind::Unsupported),
        Operation::Rename if renames.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0 => {
            Fate::Fails(ErrorKind::PermissionDenied)
        }
        _ => Fate::Done,
    });
    let error = write::write(&disk, &packed(), &target).unwrap_err();
    let kept = folder.path().join(".halite-bundle.old");
    assert!(kept.join(MANIFEST).is_file() && error.notes()[0].contains(kept.to_str().unwrap()), "{error}");
    assert_eq!(Bundle::read(&target, &NoTarget).unwrap(), small());
    packed().write(&target).unwrap();
    assert_eq!(Bundle::read(&target, &NoTarget).unwrap(), packed());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_link_to_a_bundle_stays() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("latest");
    std::os::unix::fs::symlink("builds/one", &link).unwrap();
    for bundle in [small(), packed()] {
        bundle.write(&link).unwrap();
        assert!(link.is_symlink());
        assert_eq!(Bundle::read(&folder.path().join("builds/one"), &NoTarget).unwrap(), bundle);
    }
}

#[test]
fn a_name_that_is_no_text_is_not_ours() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("bundle");
    small().write(&target).unwrap();
    std::fs::write(target.join(std::ffi::OsStr::from_bytes(b"train_step.\xff.ir")), "").unwrap();
    let error = small().write(&target).unwrap_err();
    assert!(error.message().ends_with("which is not part of the bundle there"), "{error}");
}

/// The manifest of an older build is refused for its version, not for its other form.
#[test]
fn a_manifest_of_version_3_is_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    small().write(folder.path().join("bundle").as_path()).unwrap();
    let path = folder.path().join("bundle").join(MANIFEST);
    let mut manifest: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    manifest["version"] = 3.into();
    manifest["schedule"] = serde_json::json!([{"module": "train_step", "repeat": 1}]);
    std::fs::write(&path, manifest.to_string()).unwrap();
    let error = Bundle::read(&folder.path().join("bundle"), &NoTarget).unwrap_err();
    assert_eq!(error.code(), codes::VERSION);
    assert!(error.message().ends_with("has version 3, this build reads version 4"), "{error}");
    assert_eq!(error.help_text(), Some("compile the recipe again"));
}
