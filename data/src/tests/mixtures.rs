//! Several sources.

use super::corpus::{config, source};
use crate::config::{DataConfig, SourceConfig};
use crate::dataset::Dataset;
use crate::documents::Documents;
use crate::mixture::Mixture;
use crate::open;
use crate::random::hash;
use tempfile::TempDir;

/// Sources whose bytes tell them apart, with these weights.
fn mixture(weights: &[f64]) -> (TempDir, Mixture) {
    let folder = tempfile::tempdir().unwrap();
    let sources = weights.iter().zip(b'a'..).map(|(weight, letter)| {
        let name = char::from(letter).to_string();
        let file = format!("{name}.txt");
        let text = format!("{}\n", name.repeat(50)).repeat(3);
        std::fs::write(folder.path().join(&file), text).unwrap();
        SourceConfig { documents: Documents::Line, weight: *weight, ..source(&name, &file) }
    });
    let config = DataConfig { buffer: Some(100), ..config(sources.collect()) };
    let mixture = open(&config, folder.path(), 20, 7).unwrap();
    (folder, mixture)
}

#[test]
fn shares_are_exact_to_a_row_after_any_number_of_rows() {
    let mut cases = vec![vec![1.0], vec![1.0, 1.0], vec![7.0, 2.0, 1.0], vec![0.9, 0.09, 0.01]];
    cases.extend((0..8).map(|seed| {
        let weight = |number| (hash(&[seed, number]) % 1000 + 1) as f64;
        (0..2 + seed).map(weight).collect()
    }));
    for weights in cases {
        let (_folder, mut mixture) = mixture(&weights);
        let total: f64 = weights.iter().sum();
        let mut given = vec![0.0; weights.len()];
        for row in 1..=400 {
            let rows = mixture.next(1).unwrap();
            given[(rows.tokens[0] - i32::from(b'a')) as usize] += 1.0;
            for (given, weight) in given.iter().zip(&weights) {
                let exact = weight / total * f64::from(row);
                assert!((given - exact).abs() < 1.0, "{given} rows, exactly {exact}, of {weights:?}");
            }
        }
    }
}

#[test]
fn mixtures_go_on_from_every_position() {
    let (_folder, mut undisturbed) = mixture(&[3.0, 2.0, 1.0]);
    let (_other_folder, mut other) = mixture(&[3.0, 2.0, 1.0]);
    for _ in 0..40 {
        let position = undisturbed.position();
        let rows = undisturbed.next(5).unwrap();
        other.seek(&position).unwrap();
        assert_eq!(other.position(), position);
        assert_eq!(other.next(2).unwrap().tokens, rows.tokens[..40]);
        assert_eq!(other.next(3).unwrap().tokens, rows.tokens[40..]);
        assert_eq!(other.position(), undisturbed.position());
    }
    let (_third_folder, mut fewer) = mixture(&[1.0, 1.0]);
    let error = fewer.seek(&undisturbed.position()).unwrap_err();
    assert_eq!(error.message(), "the position is one of the sources `a`, `b` and `c`");
}

#[test]
fn no_rows_are_no_rows() {
    let (_folder, mut mixture) = mixture(&[1.0, 1.0]);
    let before = mixture.position();
    let rows = mixture.next(0).unwrap();
    assert_eq!((rows.rows, rows.width, rows.tokens.len()), (0, 20, 0));
    assert_eq!(mixture.position(), before);
}

#[test]
fn identities_tell_data_apart_wherever_it_lies() {
    let (_one, first) = mixture(&[1.0, 2.0]);
    let (_two, same) = mixture(&[1.0, 2.0]);
    assert_eq!(first.identity(), same.identity());
    let (_three, other) = mixture(&[1.0, 3.0]);
    assert_ne!(first.identity()["a.share"], other.identity()["a.share"]);
    assert_eq!(first.identity()["a.files"], other.identity()["a.files"]);
    assert_ne!(first.identity()["a.files"], first.identity()["b.files"]);
}
