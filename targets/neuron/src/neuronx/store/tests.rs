use super::*;
use crate::neuronx::work::Work;
use crate::neuronx::{GcRule, State};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

fn key(letter: char) -> String {
    letter.to_string().repeat(64)
}

fn finished(key: &str) -> Finished {
    let neff = key.as_bytes().repeat(100);
    let entry = Entry {
        key: key.to_owned(),
        model: "model".to_owned(),
        module: "step".to_owned(),
        bytes: neff.len() as u64,
        sha256: sha256(&neff),
        hlo: String::new(),
        compiler: "2.27".to_owned(),
        flags: vec!["--target=trn1".to_owned()],
        flag_hash: "e30acd3a".to_owned(),
    };
    Finished { entry, neff, log: b"log".to_vec() }
}

fn free() -> AtomicBool {
    AtomicBool::new(false)
}

fn put(store: &Store, key: &str) -> KeyLock {
    let lock = store.lock(key, &free(), || ()).unwrap().unwrap();
    let work = Work::begin(store, key, &lock).unwrap();
    store.put(key, &finished(key), work.path(), &lock).unwrap();
    work.finish().unwrap();
    lock
}

#[test]
fn what_is_put_is_fetched() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let lock = put(&store, &key('a'));
    assert_eq!(store.fetch(&key('a'), &lock), Ok(Some(finished(&key('a')))));
    assert_eq!(store.fetch(&key('b'), &lock), Ok(None));
    store.discard(&key('a'), &lock).unwrap();
    assert_eq!(store.fetch(&key('a'), &lock), Ok(None));
}

#[test]
fn whatever_is_torn_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let tear: [fn(&Path); 6] = [
        |entry| std::fs::write(entry.join(NEFF), b"short").unwrap(),
        |entry| std::fs::write(entry.join(NEFF), vec![0; 6400]).unwrap(),
        |entry| std::fs::remove_file(entry.join(NEFF)).unwrap(),
        |entry| std::fs::write(entry.join(ENTRY), b"{").unwrap(),
        |entry| std::fs::remove_file(entry.join(LOG)).unwrap(),
        |entry| {
            let other = finished(&"0".repeat(64)).entry;
            std::fs::write(entry.join(ENTRY), other.to_json()).unwrap();
        },
    ];
    for (index, tear) in tear.into_iter().enumerate() {
        let key = key(char::from(b'a' + index as u8));
        let lock = put(&store, &key);
        tear(&store.entry(&key));
        assert!(store.fetch(&key, &lock).is_err(), "{index}");
    }
}

#[test]
fn one_has_the_lock_and_others_wait() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let lock = put(&store, &key('a'));
    assert!(store.try_lock(&key('a')).unwrap().is_none());
    assert!(store.try_lock(&key('b')).unwrap().is_some());
    let mut told = false;
    assert!(store.lock(&key('a'), &AtomicBool::new(true), || told = true).unwrap().is_none());
    assert!(!told, "an interrupt comes before waiting");
    drop(lock);
    assert!(store.try_lock(&key('a')).unwrap().is_some());
}

#[test]
fn what_a_killed_process_left_is_kept_as_failed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let lock = store.lock(&key('a'), &free(), || ()).unwrap().unwrap();
    let left = Work::begin(&store, &key('a'), &lock).unwrap();
    std::fs::write(left.path().join("output.txt"), "said").unwrap();
    drop(left);
    Work::begin(&store, &key('a'), &lock).unwrap();
    assert_eq!(std::fs::read_to_string(store.failed(&key('a')).join("output.txt")).unwrap(), "said");
}

/// Whose master was killed the moment after it was started, before anything could be noted of it.
#[test]
fn a_compiler_without_master_is_found_by_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let lock = store.lock(&key('a'), &free(), || ()).unwrap().unwrap();
    let left = Work::begin(&store, &key('a'), &lock).unwrap();
    let mut compiler = Command::new("sleep").arg("600").stdin(left.input().unwrap()).spawn().unwrap();
    drop(left);
    Work::begin(&store, &key('a'), &lock).unwrap();
    assert_eq!(compiler.wait().unwrap().signal(), Some(9));
}

#[test]
fn what_was_left_after_storing_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let lock = store.lock(&key('a'), &free(), || ()).unwrap().unwrap();
    drop(Work::begin(&store, &key('a'), &lock).unwrap());
    super::super::work::clear(&store, &key('a'), &lock).unwrap();
    assert!(!store.work(&key('a')).exists() && !store.failed(&key('a')).exists());
}

#[test]
fn a_look_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    assert_eq!(Store::look(&root).unwrap().list(), Ok(Vec::new()));
    assert!(!root.exists());
    drop(put(&Store::open(&root).unwrap(), &key('a')));
    std::fs::remove_dir_all(root.join(LOCKS)).unwrap();
    assert_eq!(Store::look(&root).unwrap().list().unwrap().len(), 1);
    assert!(!root.join(LOCKS).exists());
}

#[test]
fn room_is_made_by_rule_and_not_from_what_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    for letter in ['a', 'b'] {
        drop(put(&store, &key(letter)));
    }
    let past = SystemTime::now() - Duration::from_secs(1000);
    for name in [NEFF, LOG, ENTRY] {
        let file = File::options().append(true).open(store.entry(&key('a')).join(name)).unwrap();
        file.set_modified(past).unwrap();
    }
    let held = store.try_lock(&key('c')).unwrap().unwrap();
    drop(Work::begin(&store, &key('c'), &held).unwrap());
    let listed = || store.list().unwrap().into_iter().map(|one| (one.key, one.state)).collect::<Vec<_>>();
    let expected = |state| [(key('c'), state), (key('a'), State::Stored), (key('b'), State::Stored)];
    assert_eq!(listed(), expected(State::Working), "the longest unused first");
    let all = store.list().unwrap();
    let entry_bytes = all[1].bytes;
    let removed = store.gc(GcRule::Keep(entry_bytes)).unwrap();
    assert_eq!((removed.count, removed.bytes, removed.in_use), (1, entry_bytes, 1));
    drop(held);
    assert_eq!(listed()[0].1, State::Failed);
    assert_eq!(store.gc(GcRule::Older(Duration::from_secs(500))).unwrap().count, 0);
    assert_eq!(store.gc(GcRule::All).unwrap().count, 2);
    assert_eq!(store.list().unwrap(), []);
}

#[test]
fn a_store_needs_a_folder_that_can_be_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [file.as_path(), &file.join("below"), Path::new("/proc/halite")] {
        let error = Store::open(place).unwrap_err();
        assert_eq!(error.code(), codes::NEFF_STORE, "{}", place.display());
    }
}

#[test]
fn a_store_for_one_run_stays_only_with_something_to_look_at() {
    let store = Store::temporary().unwrap();
    let root = store.root().to_owned();
    store.close();
    assert!(!root.exists());
    let store = Store::temporary().unwrap();
    let root = store.root().to_owned();
    std::fs::create_dir(store.failed("x")).unwrap();
    drop(put(&store, &key('a')));
    store.close();
    let left: Vec<_> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [FAILED]);
    std::fs::remove_dir_all(root).unwrap();
}
