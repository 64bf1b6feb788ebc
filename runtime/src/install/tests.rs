//! Wheels that are swapped, and disks that fail.

use super::*;
use halite_disk::{Fate, Operation};
use std::io::ErrorKind;

#[test]
fn only_linux_has_wheels() {
    assert!(wheel_for("linux", "aarch64").is_ok());
    let error = wheel_for("macos", "aarch64").err().unwrap().to_string();
    assert!(error.contains("no wheel for macos on aarch64"), "{error}");
}

/// A wheel with this plugin.
fn wheel(plugin: &[u8]) -> Vec<u8> {
    let mut wheel = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    wheel.start_file(MEMBER, zip::write::SimpleFileOptions::default()).unwrap();
    wheel.write_all(plugin).unwrap();
    wheel.finish().unwrap().into_inner()
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_wheel_that_is_swapped_after_its_check_is_not_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let (archive, destination) = (folder.path().join("x.whl"), folder.path().join("plugin.so"));
    let (good, evil) = (wheel(b"good"), wheel(b"evil"));
    for in_place in [false, true] {
        std::fs::write(&archive, &good).unwrap();
        let (path, evil) = (archive.clone(), evil.clone());
        // The first call that changes files comes after the check.
        let swap = move |number, _| {
            if number == 0 && in_place {
                std::fs::write(&path, &evil).unwrap();
            } else if number == 0 {
                std::fs::write(path.with_extension("evil"), &evil).unwrap();
                std::fs::rename(path.with_extension("evil"), &path).unwrap();
            }
            Fate::Done
        };
        put(&Disk::planned(swap), &archive, &sum(&good), &destination, &mut |_| {}).unwrap();
        assert_ne!(std::fs::read(&archive).unwrap(), good);
        assert_eq!(std::fs::read(&destination).unwrap(), b"good");
    }
}

/// At whatever call it fails or the power goes, the old plugin or the new one is there, whole; after the next installation
/// nothing else is.
#[test]
fn a_plugin_is_replaced_whole() {
    let old = vec![1; 3_000_000];
    let new = vec![2; 2_500_000];
    let archive = tempfile::tempdir().unwrap();
    let path = archive.path().join("x.whl");
    std::fs::write(&path, wheel(&new)).unwrap();
    let install = |disk: &Disk, place: &Path| put(disk, &path, &sum(&wheel(&new)), place, &mut |_| {});
    for fate in [Fate::Fails(ErrorKind::StorageFull), Fate::Killed] {
        for n in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join("plugin.so");
            std::fs::write(&place, &old).unwrap();
            let disk = Disk::planned(move |number, _| if number == n { fate } else { Fate::Done });
            let result = install(&disk, &place);
            let found = std::fs::read(&place).unwrap();
            assert!(found == new || found == old, "call {n}");
            if disk.calls() <= n {
                assert!(result.is_ok() && found == new && n > 5);
                break;
            }
            assert!(result.is_err(), "call {n} failed and nobody says so");
            install(&Disk::planned(|_, _| Fate::Done), &place).unwrap();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "call {n}");
        }
    }
}

#[test]
fn a_link_stays_and_the_folder_is_synced_last() {
    let folder = tempfile::tempdir().unwrap();
    let (archive, link) = (folder.path().join("x.whl"), folder.path().join("link.so"));
    std::fs::write(&archive, wheel(b"plugin")).unwrap();
    std::os::unix::fs::symlink("real/plugin.so", &link).unwrap();
    let calls = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = calls.clone();
    let disk = Disk::planned(move |_, call| {
        log.lock().unwrap().push(call);
        Fate::Done
    });
    put(&disk, &archive, &sum(&wheel(b"plugin")), &link, &mut |_| {}).unwrap();
    assert!(link.is_symlink());
    assert_eq!(std::fs::read(folder.path().join("real/plugin.so")).unwrap(), b"plugin");
    use Operation::{Create, MakeFolder, Rename, Sync, SyncFolder, Write};
    assert_eq!(*calls.lock().unwrap(), [MakeFolder, Create, Write, Sync, Rename, SyncFolder]);
}
