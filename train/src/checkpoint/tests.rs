//! Checkpoints that are written, damaged and removed.

use super::*;
use halite_bundle::tensors::{self, Tensors};
use halite_disk::testing::assert_durable;
use halite_disk::{Disk, Fate};
use halite_recipe::CheckpointOptions;
use halite_support::codes;
use halite_tensor::{DType, HostTensor};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

fn state(value: f64) -> Tensors {
    Tensors::from([("w".to_owned(), HostTensor::from_f64s(DType::F32, [4], [value; 4]))])
}

fn save(disk: &Disk, run: &Path, update: u64, keep: u32) -> halite_support::Result<()> {
    let options = CheckpointOptions { keep, ..CheckpointOptions::default() };
    let state = state(update as f64);
    Save { run: run.to_path_buf(), disk: disk.clone(), options, update, state, text: ("key", "text".to_owned()) }
        .write()
}

/// The update of the newest whole checkpoint, whose state is that of this update.
fn newest(run: &Path) -> Option<u64> {
    let checkpoint = Checkpoints::new(run).newest().checkpoint?;
    assert_eq!(tensors::read(&checkpoint.state).unwrap(), state(checkpoint.update as f64));
    Some(checkpoint.update)
}

/// At whatever call the disk fails or the power goes, the checkpoints before are whole, the newest is found, and the next save works.
#[test]
fn a_checkpoint_is_there_as_a_whole_or_not_at_all() {
    let calm = Disk::planned(|_, _| Fate::Done);
    for fate in [Fate::Fails(ErrorKind::StorageFull), Fate::Killed] {
        for n in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let run = folder.path();
            save(&calm, run, 1, 2).unwrap();
            save(&calm, run, 2, 2).unwrap();
            let disk = Disk::planned(move |number, _| if number == n { fate } else { Fate::Done });
            let saved = save(&disk, run, 3, 2);
            let (found, case) = (newest(run).unwrap(), format!("call {n} {fate:?}"));
            assert!(found == 3 || (found == 2 && saved.is_err()), "{case}: {found}");
            assert!(Checkpoint::open(&Checkpoints::new(run).folder(2)).is_ok(), "{case}");
            assert!(found == 3 || Checkpoint::open(&Checkpoints::new(run).folder(1)).is_ok(), "{case}");
            let linked = tensors::read(&run.join(STATE)).unwrap();
            assert!(linked == state(2.0) || linked == state(3.0) && found == 3, "{case}");
            if disk.calls() <= n {
                assert!(saved.is_ok() && n > 12, "{case}");
                break;
            }
            // Also the same once more.
            for update in [3, 4] {
                save(&calm, run, update, 2).unwrap();
                assert_eq!(newest(run), Some(update), "{case}");
            }
            assert_eq!(tensors::read(&run.join(STATE)).unwrap(), state(4.0), "{case}");
            assert_eq!(Checkpoints::new(run).updates(), [3, 4], "{case}");
        }
    }
}

#[test]
fn a_checkpoint_is_on_the_device() {
    let folder = tempfile::tempdir().unwrap();
    assert_durable(|disk| save(disk, folder.path(), 7, 1).unwrap());
}

#[test]
fn what_is_broken_is_named_and_passed_over() {
    type Damage = fn(&Path);
    let damages: [(Damage, &str); 9] = [
        (|folder| std::fs::remove_file(folder.join("checkpoint.json")).unwrap(), "has no `checkpoint.json`"),
        (|folder| std::fs::remove_file(folder.join(STATE)).unwrap(), "`state.safetensors` cannot be read"),
        (|folder| shorten(&folder.join(STATE)), "bytes, "),
        (|folder| flip(&folder.join(STATE)), "does not have the bytes that were written"),
        (|folder| std::fs::write(folder.join("checkpoint.json"), "{").unwrap(), "is not in its format"),
        (|folder| std::fs::write(folder.join("checkpoint.json"), "[]").unwrap(), "is not in its format"),
        (|folder| replace(folder, "\"version\": 1", "\"version\": 9"), "has version 9"),
        (|folder| replace(folder, "\"update\": 2", "\"update\": 5"), "is of update 5"),
        (|folder| replace(folder, "\"state", "\"../state"), "which is not a file beside it"),
    ];
    for (damage, part) in damages {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path();
        save(&Disk::default(), run, 1, 3).unwrap();
        save(&Disk::default(), run, 2, 3).unwrap();
        let broken = Checkpoints::new(run).folder(2);
        damage(&broken);
        let found = Checkpoints::new(run).newest();
        assert_eq!(found.checkpoint.unwrap().update, 1, "{part}");
        let [error] = &found.passed_over[..] else { panic!("{part}: {:?}", found.passed_over) };
        assert!(error.code() == codes::CHECKPOINT && error.message().contains(part), "{part}: {error}");
        assert!(error.message().contains("00000002"), "{error}");
        assert!(Checkpoint::state_at(&broken).is_err(), "{part}");
        assert_eq!(Checkpoint::state_at(run).unwrap().0, Checkpoints::new(run).folder(1).join(STATE), "{part}");
    }
}

fn shorten(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[1..]).unwrap();
}

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(path, bytes).unwrap();
}

fn replace(folder: &Path, old: &str, new: &str) {
    let path = folder.join("checkpoint.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{text}");
    std::fs::write(path, text.replace(old, new)).unwrap();
}

#[test]
fn the_last_ones_and_every_so_many_stay() {
    let kept = |keep, keep_every| {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path());
        for update in 1..=7 {
            checkpoints.save(update, &state(0.0)).unwrap();
        }
        // An unfinished checkpoint is removed where it is old, and does not count; a newer one stays.
        std::fs::remove_file(checkpoints.folder(6).join("checkpoint.json")).unwrap();
        std::fs::create_dir(checkpoints.folder(9)).unwrap();
        checkpoints.prune(keep, keep_every).unwrap();
        checkpoints.updates()
    };
    assert_eq!(kept(2, 0), [5, 7, 9]);
    assert_eq!(kept(1, 3), [3, 7, 9]);
    assert_eq!(kept(0, 0), [7, 9], "one always stays");
    assert_eq!(kept(9, 0), [1, 2, 3, 4, 5, 7, 9]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("checkpoints/00000001")).unwrap();
    Checkpoints::new(folder.path()).prune(1, 0).unwrap();
    assert_eq!(Checkpoints::new(folder.path()).updates(), [1], "nothing is whole, nothing goes");
}

#[test]
fn minutes_are_those_of_a_clock_that_goes_on_alone() {
    let (start, minute) = (Instant::now(), Duration::from_secs(60));
    let mut due = Due::new(&CheckpointOptions { minutes: 2, ..CheckpointOptions::default() }, start);
    assert!(!due.is_over(start + minute) && due.is_over(start + 2 * minute));
    due.begun(start + 3 * minute);
    assert!(!due.is_over(start) && !due.is_over(start + 4 * minute) && due.is_over(start + 5 * minute));
    assert!(!Due::new(&CheckpointOptions::default(), start).is_over(start + 1000 * minute));
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = RunLock::take(&Disk::default(), folder.path()).unwrap();
    let error = RunLock::take(&Disk::default(), folder.path()).unwrap_err();
    assert_eq!(error.code(), codes::RUN_LOCKED);
    assert!(error.message().contains(&format!("process {} on ", std::process::id())), "{error}");
    drop(first);
    RunLock::take(&Disk::default(), folder.path()).unwrap();
}
