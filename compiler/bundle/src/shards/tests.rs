//! Checkpoints that are divided, replaced, and damaged.

use super::*;
use halite_disk::Fate;
use halite_disk::testing::assert_durable;
use halite_tensor::DType;
use std::io::ErrorKind;

fn tensors(sizes: &[(&str, usize)]) -> Tensors {
    let tensor = |size: usize| HostTensor::zeros(DType::F32, [size]);
    sizes.iter().map(|&(name, size)| (name.to_owned(), tensor(size))).collect()
}

#[test]
fn shards_are_full_and_no_tensor_is_split() {
    let all = tensors(&[("a", 1), ("b", 1), ("c", 5), ("d", 2)]);
    let names: Vec<Vec<&str>> =
        divide(&all, 8).into_iter().map(|shard| shard.into_iter().map(|(name, _)| name.as_str()).collect()).collect();
    assert_eq!(names, [vec!["a", "b"], vec!["c"], vec!["d"]]);
    assert_eq!(divide(&all, u64::MAX).len(), 1);
}

#[test]
fn an_index_that_its_files_do_not_follow_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let all = tensors(&[("a", 1), ("b", 2)]);
    let index = write(&folder.path().join("model.safetensors"), &all, 4).unwrap();
    assert_eq!(read(folder.path()).unwrap(), all);
    let text = std::fs::read_to_string(&index).unwrap();
    let messages = |text: String| {
        std::fs::write(&index, text).unwrap();
        let errors = read(&index).unwrap_err();
        errors.iter().map(|error| error.message().to_owned()).collect::<Vec<_>>()
    };
    let (first, second) = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors");
    let expected = [
        format!("`{second}` holds `b`, the index does not say so"),
        format!("`{second}` does not hold `c`, as the index says"),
    ];
    assert_eq!(messages(text.replace("\"b\"", "\"c\"")), expected);
    let away = messages(text.replace(first, "../other.safetensors"));
    assert_eq!(away, ["the index names `../other.safetensors`, which is not a file beside it"]);
    assert!(messages("{}".to_owned())[0].contains("is not the index of a checkpoint"));
}

/// Names and sizes of the files of a folder, by name.
fn listing(folder: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}

#[test]
fn an_older_checkpoint_of_the_same_name_makes_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    std::fs::write(folder.path().join("other-00001-of-00001.safetensors"), "").unwrap();
    let [three, two] = [&[("a", 1), ("b", 1), ("c", 1)][..], &[("a", 2), ("b", 3)]].map(tensors);
    for (all, limit, count) in [(&three, 4, 4), (&two, 8, 3), (&three, 99, 1), (&two, 8, 3), (&two, 99, 1)] {
        let place = write(&path, all, limit).unwrap();
        assert_eq!(read(folder.path()).unwrap(), *all);
        assert_eq!(read(&place).unwrap(), *all);
        assert_eq!(listing(folder.path()).len(), count + 1, "{:?}", listing(folder.path()));
    }
}

#[test]
fn a_folder_with_both_forms_or_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = || read(folder.path()).unwrap_err().remove(0).to_string();
    assert!(message().contains("holds neither `model.safetensors` nor `model.safetensors.index.json`"));
    std::fs::write(folder.path().join("pytorch_model.bin"), "").unwrap();
    let error = read(folder.path()).unwrap_err().remove(0);
    assert_eq!(error.notes(), ["`pytorch_model.bin` is there, but only safetensors are read"]);
    let path = folder.path().join("model.safetensors");
    let all = tensors(&[("a", 1), ("b", 2)]);
    let index = write(&path, &all, 4).unwrap();
    tensors::write(&path, &all).unwrap();
    assert!(message().contains("holds both `model.safetensors` and `model.safetensors.index.json`"));
    assert_eq!((read(&path).unwrap(), read(&index).unwrap()), (all.clone(), all));
}

/// A tensor for each size, all of one value.
fn filled(value: f64, sizes: &[(&str, usize)]) -> Tensors {
    let tensor = |size: usize| HostTensor::from_f64s(DType::F32, [size], vec![value; size]);
    sizes.iter().map(|&(name, size)| (name.to_owned(), tensor(size))).collect()
}

/// At whatever call it fails or the power goes, the old checkpoint or the new one is read, never a mixture; and the next write
/// leaves nothing else behind. From each form to each, with and without equal numbers of shards.
#[test]
fn a_checkpoint_is_replaced_whole() {
    let old = filled(1.0, &[("a", 1), ("b", 1), ("c", 1)]);
    let (equal, fewer) = (filled(2.0, &[("a", 1), ("b", 1), ("c", 1)]), filled(2.0, &[("a", 1), ("b", 1)]));
    let calm = Disk::planned(|_, _| Fate::Done);
    let cases = [(4, &equal, 4), (4, &fewer, 4), (4, &equal, 99), (99, &equal, 4), (99, &equal, 99)];
    for ((before, new, after), fate) in
        cases.into_iter().flat_map(|case| [Fate::Fails(ErrorKind::StorageFull), Fate::Killed].map(|fate| (case, fate)))
    {
        for n in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model.safetensors");
            write_on(&calm, &path, &old, before).unwrap();
            std::fs::write(folder.path().join("config.json"), "{}").unwrap();
            let disk = Disk::planned(move |number, _| if number == n { fate } else { Fate::Done });
            let result = write_on(&disk, &path, new, after);
            let at = format!("{before} to {after}: call {n} {fate:?}");
            let found = read(folder.path()).unwrap_or_else(|errors| panic!("{at}: {}", errors[0]));
            assert!(found == old || found == *new, "{at}");
            if disk.calls() <= n {
                assert!(result.is_ok() && found == *new && n > 4, "{at}");
                break;
            }
            write_on(&calm, &path, new, after).unwrap();
            let count = if after == 4 { new.len() + 1 } else { 1 };
            assert_eq!(listing(folder.path()).len(), count + 1, "{at}: {:?}", listing(folder.path()));
        }
    }
}

#[test]
fn checkpoints_are_on_the_device() {
    let folder = tempfile::tempdir().unwrap();
    for limit in [4, 4, 99] {
        let all = tensors(&[("a", 1), ("b", 2)]);
        assert_durable(|disk| _ = write_on(disk, &folder.path().join("model.safetensors"), &all, limit).unwrap());
    }
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // Named by the old index, but not written here; and in the way of a shard, but not named.
    std::fs::write(path("adapter.safetensors"), "mine").unwrap();
    std::fs::write(path("model-00002-of-00002.safetensors"), "mine").unwrap();
    let index =
        serde_json::json!({"weight_map": {"a": "adapter.safetensors", "b": "model-00001-of-00001.safetensors"}});
    std::fs::write(path("model.safetensors.index.json"), index.to_string()).unwrap();
    std::fs::write(path("model-00001-of-00001.safetensors"), "of the checkpoint").unwrap();
    let all = tensors(&[("a", 1), ("b", 2)]);
    write(&path("model.safetensors"), &all, 4).unwrap();
    assert_eq!(read(folder.path()).unwrap(), all);
    for name in ["adapter.safetensors", "model-00002-of-00002.safetensors"] {
        assert_eq!(std::fs::read(path(name)).unwrap(), b"mine");
    }
    assert_eq!(listing(folder.path()).len(), 5, "{:?}", listing(folder.path()));
}

#[test]
fn a_journal_of_others_removes_nothing_of_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let all = tensors(&[("a", 1), ("b", 2)]);
    let index = write(&path("model.safetensors"), &all, 4).unwrap();
    std::fs::write(path("notes.txt"), "").unwrap();
    let (head, shard) = ("model.safetensors.index.json", "model-00001-of-00002.safetensors");
    let journal =
        serde_json::json!({"head": head, "new": [], "old": ["../x", "notes.txt", "/etc/passwd", shard, head]});
    std::fs::write(path(".halite-model.json"), journal.to_string()).unwrap();
    Journal::settle_old(&Disk::default(), folder.path(), "model").unwrap();
    assert_eq!(read(&index).unwrap(), all);
    assert!(path("notes.txt").is_file() && !path(".halite-model.json").exists());
}

#[test]
fn names_that_are_no_text_are_whole_or_refused() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"m\xff.safetensors"));
    let all = tensors(&[("a", 1), ("b", 2)]);
    assert!(write(&path, &all, 4).unwrap_err().message().contains("which is not UTF-8"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(read(&write(&path, &all, 99).unwrap()).unwrap(), all);
    assert!(path.is_file());
}
