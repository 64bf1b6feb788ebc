//! States in parts that are written, replaced, and damaged.

use super::*;
use crate::tensor_file::Tensors;
use crate::{Buffer, BufferRole, shards, tensors};
use halite_disk::testing::assert_durable;
use halite_disk::{Disk, Fate};
use halite_support::Result;
use halite_tensor::{DType, DimShard, HostTensor, Init, Mesh, Shape, Sharding};
use std::io::ErrorKind;
use std::path::Path;

/// One that each rank has a quarter of, one in halves, and one that all have.
fn buffers() -> Vec<Buffer> {
    let on = |sub_axis, stride| DimShard { sub_axis, size: 2, stride };
    let buffer = |name: &str, shape: &[usize], sharding| Buffer {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: shape.to_vec(),
        role: BufferRole::Weight(Init::Zeros),
        packing: None,
        sharding,
    };
    vec![
        buffer("quarters", &[4, 6], Some(Sharding::replicated(2).with(0, on(0, 2)).with(1, on(1, 1)))),
        buffer("halves", &[8], Some(Sharding::replicated(1).with(0, on(1, 4)))),
        buffer("whole", &[3], None),
    ]
}

fn mesh() -> Mesh {
    Mesh::new([("data", 2), ("tensor", 2)]).unwrap()
}

/// A state in which all elements are different, from some number on.
fn state(start: i128) -> Tensors {
    let tensor = |shape: &[usize]| {
        let shape = Shape::from(shape);
        HostTensor::from_ints(DType::F32, shape.clone(), (0..shape.num_elements()).map(|at| start + at as i128))
    };
    let mut state: Tensors = buffers().into_iter().map(|buffer| (buffer.name.clone(), tensor(&buffer.shape))).collect();
    state.sort_keys();
    state
}

/// Saves a state as the ranks do, one after another.
fn save(disk: &Disk, place: &Path, state: &Tensors) -> Result<()> {
    save_stages(disk, place, state, 1, [0, 0, 0])
}

/// The same of so many stages, which write the buffers so.
fn save_stages(disk: &Disk, place: &Path, state: &Tensors, stages: usize, writers: [usize; 3]) -> Result<()> {
    let mesh = mesh();
    let written = buffers().into_iter().zip(writers).collect();
    let mut index = PartsIndex::new(place, next_series(place), (stages, &mesh), written);
    index.texts.insert("key".to_owned(), "text".to_owned());
    for process in 0..mesh.num_ranks() * stages {
        let (stage, rank) = (process / mesh.num_ranks(), process % mesh.num_ranks());
        let mut part = Tensors::new();
        for (buffer, writer) in buffers().into_iter().zip(writers) {
            if writer == stage && holder(&mesh, buffer.sharding.as_ref(), rank) == rank {
                let whole = &state[&buffer.name];
                let own = buffer.sharding.as_ref().map(|sharding| sharding.shard(&mesh, whole, rank).unwrap());
                part.insert(buffer.name, own.unwrap_or_else(|| whole.clone()));
            }
        }
        write_part(disk, place, &index, process, &part)?;
    }
    commit(disk, place, &index)
}

#[test]
fn each_part_is_written_once_by_the_first_that_holds_it() {
    let sharding = |name: usize| buffers()[name].sharding.clone();
    let holders = |sharding: Option<&Sharding>| [0, 1, 2, 3].map(|rank| holder(&mesh(), sharding, rank));
    assert_eq!(holders(sharding(0).as_ref()), [0, 1, 2, 3]);
    assert_eq!(holders(sharding(1).as_ref()), [0, 1, 0, 1]);
    assert_eq!(holders(None), [0, 0, 0, 0]);
}

#[test]
fn what_is_saved_is_read_by_all_doors() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state.safetensors");
    tensors::write(&place, &state(7)).unwrap();
    save(&Disk::default(), &place, &state(0)).unwrap();
    assert!(!place.exists(), "the state in one file is out of date");
    let index = index_path(&place);
    assert_eq!(tensors::read_marked(&index, "key").unwrap(), (state(0), Some("text".to_owned())));
    assert_eq!(shards::read(&index).unwrap(), state(0));
    tensors::write(&place, &state(7)).unwrap();
    remove(&Disk::default(), &place).unwrap();
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["state.safetensors"]);
}

#[test]
fn a_state_of_stages_is_read_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state.safetensors");
    save_stages(&Disk::default(), &place, &state(0), 3, [2, 0, 1]).unwrap();
    let path = index_path(&place);
    assert_eq!(tensors::read(&path).unwrap(), state(0));
    let sound: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((sound["parts"].as_u64(), sound["files"].as_array().unwrap().len()), (Some(2), 12));
    for (key, value, part) in [
        ("stages", serde_json::json!([2, 0]), "it has stages of 2 buffers, and 3 buffers"),
        ("stages", serde_json::json!([2, 0, 3]), "it names stage 3 of 3"),
        ("stages", serde_json::json!([2, 0, 0]), "rank 0 has no `whole` of `f32[3]`"),
        ("stages", serde_json::json!([2, 1, 1]), "rank 4 has no `halves` of `f32[4]`"),
        ("files", serde_json::json!(["a", "b", "c"]), "it names 3 files of stages of 4 ranks"),
    ] {
        let mut index = sound.clone();
        index[key] = value;
        std::fs::write(&path, index.to_string()).unwrap();
        let error = tensors::read(&path).unwrap_err();
        assert!(error.message().contains(part), "{part}: {error}");
    }
    // One of a single stage is of the version that older builds read.
    save(&Disk::default(), &place, &state(0)).unwrap();
    let single: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((single["parts"].as_u64(), single.get("stages")), (Some(1), None));
}

#[test]
fn a_state_is_replaced_whole() {
    let calm = Disk::planned(|_, _| Fate::Done);
    for fate in [Fate::Fails(ErrorKind::StorageFull), Fate::Killed] {
        for n in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join("state.safetensors");
            save(&calm, &place, &state(0)).unwrap();
            let disk = Disk::planned(move |number, _| if number == n { fate } else { Fate::Done });
            let result = save(&disk, &place, &state(100));
            let found = tensors::read(&index_path(&place)).unwrap_or_else(|error| panic!("call {n} {fate:?}: {error}"));
            assert!(found == state(0) || found == state(100), "call {n} {fate:?}");
            if disk.calls() <= n {
                assert!(result.is_ok() && found == state(100) && n > 8, "call {n} {fate:?}");
                break;
            }
            // The rest goes with the next save.
            save(&calm, &place, &state(200)).unwrap();
            assert_eq!(tensors::read(&index_path(&place)).unwrap(), state(200));
            let parts = std::fs::read_dir(folder.path())
                .unwrap()
                .filter_map(|entry| entry.unwrap().file_name().into_string().ok());
            assert_eq!(
                parts.filter(|name| name.contains("-of-") && !name.starts_with('.')).count(),
                4,
                "call {n} {fate:?}"
            );
        }
    }
}

#[test]
fn a_state_is_on_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state.safetensors");
    assert_durable(|disk| save(disk, &place, &state(0)).unwrap());
}

#[test]
fn indices_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state.safetensors");
    save(&Disk::default(), &place, &state(0)).unwrap();
    let path = index_path(&place);
    let sound: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    type Change = fn(&mut serde_json::Value);
    let changes: [(Change, &str); 7] = [
        (|index| index["parts"] = 3.into(), "has version 3, this build reads versions up to 2"),
        (|index| index["files"][1] = "../x".into(), "it names `../x`, which is not a file beside it"),
        (|index| _ = index["files"].as_array_mut().unwrap().pop(), "it names 3 files of 4 ranks"),
        (|index| index["buffers"][0]["shape"] = serde_json::json!([3, 6]), "the buffer `quarters`"),
        (|index| index["buffers"][2]["shape"] = serde_json::json!([4]), "rank 0 has no `whole` of `f32[4]`"),
        (|index| index["series"] = 9.into(), "is of another save than its index"),
        (|index| index["more"] = 1.into(), "is not the index of a state in parts"),
    ];
    for (change, part) in changes {
        let mut index = sound.clone();
        change(&mut index);
        std::fs::write(&path, index.to_string()).unwrap();
        let error = tensors::read(&path).unwrap_err();
        assert!(error.message().contains(part), "{part}: {error}");
    }
    std::fs::write(&path, sound.to_string()).unwrap();
    assert_eq!(tensors::read(&path).unwrap(), state(0));
}
