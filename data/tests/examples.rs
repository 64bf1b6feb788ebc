//! Examples in files: every one once in an epoch, in an order that follows from the seed, from anywhere on again.

use halite_data::{
    DataConfig, Dataset, Documents, Input, Mixture, OnError, Packing, Rows, SourceConfig, open_examples,
};
use halite_support::Result;
use halite_tensor::DType;
use safetensors::tensor::{Dtype, TensorView};
use std::path::Path;

/// `x` of `f32[.., 2]` and `label` of `s32[..]`.
fn inputs() -> Vec<Input> {
    let input = |name: &str, dtype, shape: &[usize]| Input { name: name.to_owned(), dtype, shape: shape.to_vec() };
    vec![input("x", DType::F32, &[2]), input("label", DType::S32, &[])]
}

fn bytes<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    values.into_iter().flatten().collect()
}

/// Tensors with their element types, shapes and bytes.
type Tensors<'a> = [(&'a str, Dtype, Vec<usize>, Vec<u8>)];

fn write(path: &Path, tensors: &Tensors<'_>) {
    let view = |(name, dtype, shape, bytes)| {
        (name, TensorView::new(dtype, shape, bytes).expect("the bytes are those of the shape"))
    };
    let views = tensors.iter().map(|(name, dtype, shape, bytes)| view((*name, *dtype, shape.clone(), &bytes[..])));
    let file = safetensors::serialize(views, None).expect("tensors have a form");
    std::fs::write(path, file).expect("the folder takes files");
}

/// Examples of which label and both numbers are the same, and another tensor that nobody asks for.
fn numbered(path: &Path, numbers: std::ops::Range<i64>, labels: Dtype) {
    let count = numbers.clone().count();
    let label = match labels {
        Dtype::I64 => bytes(numbers.clone().map(i64::to_le_bytes)),
        _ => bytes(numbers.clone().map(|number| (number as i32).to_le_bytes())),
    };
    let x = bytes(numbers.flat_map(|number| [number as f32; 2]).map(f32::to_le_bytes));
    let other = vec![0; count];
    write(
        path,
        &[
            ("label", labels, vec![count], label),
            ("other", Dtype::U8, vec![count], other),
            ("x", Dtype::F32, vec![count, 2], x),
        ],
    );
}

fn source(files: &str, weight: f64, part: Option<&str>) -> SourceConfig {
    SourceConfig {
        name: files.to_owned(),
        files: vec![files.to_owned()],
        format: None,
        column: "text".to_owned(),
        documents: Documents::File,
        part: part.map(str::to_owned),
        weight,
    }
}

fn open(folder: &Path, sources: &[SourceConfig], shuffle: bool, seed: u64) -> Result<Mixture> {
    let config = DataConfig {
        tokenizer: "bytes".to_owned(),
        bos: None,
        eos: None,
        pack: Packing::InOrder,
        shuffle,
        buffer: None,
        threads: None,
        on_error: OnError::Stop,
        sources: sources.to_vec(),
    };
    open_examples(&config, folder, &inputs(), seed)
}

/// The labels of rows, of which `x` has twice the same.
fn labels(rows: &Rows) -> Vec<i128> {
    let labels = rows.inputs["label"].ints();
    assert_eq!((rows.rows, labels.len()), (rows.rows, rows.rows));
    let twice: Vec<f64> = labels.iter().flat_map(|&label| [label as f64; 2]).collect();
    assert_eq!(rows.inputs["x"].f64s(), twice);
    assert_eq!(rows.inputs["x"].shape()[..], [rows.rows, 2]);
    labels
}

fn next(data: &mut Mixture, rows: usize) -> Vec<i128> {
    labels(&data.next(rows).expect("the files are whole"))
}

#[test]
fn every_example_comes_once_in_an_epoch() {
    let folder = tempfile::tempdir().unwrap();
    numbered(&folder.path().join("a.safetensors"), 0..7, Dtype::I32);
    numbered(&folder.path().join("b.safetensors"), 7..10, Dtype::I64);
    let all = [source("*.safetensors", 1.0, None)];
    let mut plain = open(folder.path(), &all, false, 5).unwrap();
    assert_eq!(next(&mut plain, 10), (0..10).collect::<Vec<_>>());
    assert_eq!(plain.epochs(), 1);
    assert_eq!(next(&mut plain, 12)[9..], [9, 0, 1]);
    let mut orders = Vec::new();
    for seed in [5, 5, 6] {
        let mut data = open(folder.path(), &all, true, seed).unwrap();
        let epochs: Vec<Vec<i128>> = (0..2).map(|_| next(&mut data, 10)).collect();
        for epoch in &epochs {
            let mut sorted = epoch.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..10).collect::<Vec<_>>());
        }
        assert_ne!(epochs[0], epochs[1], "each epoch has an order of its own");
        orders.push(epochs);
    }
    assert!(orders[0] == orders[1] && orders[0] != orders[2]);
    let mut part = open(folder.path(), &[source("a.safetensors", 1.0, Some("0.5..1"))], false, 5).unwrap();
    assert_eq!(next(&mut part, 3), [4, 5, 6]);
    assert_eq!(part.epochs(), 1);
}

/// However it is cut into batches, and in epochs to come.
#[test]
fn it_goes_on_from_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    numbered(&folder.path().join("a.safetensors"), 0..7, Dtype::I32);
    numbered(&folder.path().join("b.safetensors"), 100..103, Dtype::I32);
    let sources = [source("a.safetensors", 3.0, None), source("b.safetensors", 1.0, None)];
    let open = || open(folder.path(), &sources, true, 1).unwrap();
    let expected = next(&mut open(), 40);
    assert_eq!(expected.iter().filter(|label| **label >= 100).count(), 10, "each source has its share");
    for at in 0..40 {
        let mut first = open();
        let _ = next(&mut first, at);
        let mut second = open();
        second.seek(&first.position()).unwrap();
        assert_eq!(next(&mut second, 40 - at), expected[at..], "from {at}");
    }
    let mut other = open();
    assert!(other.seek(&halite_data::Position(serde_json::json!({"a": 1}))).is_err());
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let f32s = |count: usize| vec![0; count * 4];
    let good = ("x", Dtype::F32, vec![3, 2], f32s(6));
    let label = |values: [i64; 3]| ("label", Dtype::I64, vec![3], bytes(values.map(i64::to_le_bytes)));
    let cases: [(&Tensors<'_>, &str); 5] = [
        (std::slice::from_ref(&good), "has no tensor `label`, which the model takes"),
        (
            &[good.clone(), ("label", Dtype::F32, vec![3], f32s(3))],
            "has `label` as f32[3], the model takes s32[examples]",
        ),
        (
            &[("x", Dtype::F32, vec![2, 3], f32s(6)), label([0; 3])],
            "has `x` as f32[2, 3], the model takes f32[examples, 2]",
        ),
        (&[("x", Dtype::F32, vec![2, 2], f32s(4)), label([0; 3])], "has 2 examples of `x` and 3 of `label`"),
        (&[good.clone(), ("label", Dtype::I32, vec![], f32s(1))], "has a scalar `label`"),
    ];
    let path = folder.path().join("x.safetensors");
    let refused = || {
        let opened = open(folder.path(), &[source("x.safetensors", 1.0, None)], false, 0);
        opened.and_then(|mut data| data.next(3)).map(|_| ()).unwrap_err()
    };
    for (tensors, message) in cases {
        write(&path, tensors);
        let error = refused();
        assert!(error.message().contains(&format!("x.safetensors` {message}")), "{error:?}");
        assert!(error.help_text().is_some());
    }
    write(&path, &[good.clone(), label([0, 1 << 40, 0])]);
    let message = refused().message().to_owned();
    assert!(message.starts_with("example 1 of `") && message.ends_with("has the number 1099511627776 in `label`"));
    write(&path, &[good, label([0; 3])]);
    let whole = std::fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(7) {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(refused().message().contains("is not a safetensors file"), "{length}");
    }
    write(&path, &[("x", Dtype::F32, vec![0, 2], vec![]), ("label", Dtype::I32, vec![0], vec![])]);
    assert!(refused().message().contains("there is no example in"));
}
