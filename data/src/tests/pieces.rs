//! Every token of every document is a label exactly once in an epoch.

use super::corpus::{cut, epochs, pieces, random};
use crate::config::Packing;
use crate::dataset::Dataset;
use crate::documents::Documents;
use std::collections::BTreeMap;

const CORPORA: u64 = 300;
const EPOCHS: u64 = 3;

#[test]
fn best_fit_gives_each_piece_of_each_document_once_in_an_epoch() {
    let mut tried = 0;
    for seed in 0..CORPORA {
        let (corpus, case) = random(seed);
        if case.layout.pack != Packing::BestFit {
            continue;
        }
        tried += 1;
        let rows = epochs(&corpus, &case, EPOCHS as usize);
        let documents = corpus.documents(case.eos);
        let once = documents.iter().flat_map(|document| cut(document, case.layout.width));
        let mut expected: Vec<_> = once.flat_map(|piece| vec![piece; EPOCHS as usize]).collect();
        let mut given = pieces(&rows);
        expected.sort();
        given.sort();
        assert_eq!(given, expected, "seed {seed}: {case:?}");
    }
    assert!(tried > 100);
}

#[test]
fn in_order_gives_the_documents_as_they_stand() {
    let mut tried = 0;
    for seed in 0..CORPORA {
        let (corpus, case) = random(seed);
        if case.layout.pack != Packing::InOrder || case.layout.seed.is_some() {
            continue;
        }
        tried += 1;
        let rows = corpus.open(&case).next(40).unwrap();
        let documents = corpus.documents(case.eos);
        let stride = case.layout.width - 1;
        let mut stream = documents
            .iter()
            .zip(1..)
            .cycle()
            .flat_map(|(document, number)| document.iter().map(move |token| (*token, number)).collect::<Vec<_>>());
        let stream: Vec<(i32, i32)> = stream.by_ref().take(40 * stride + 1).collect();
        for row in 0..40 {
            let own = row * case.layout.width..(row + 1) * case.layout.width;
            let expected = &stream[row * stride..row * stride + case.layout.width];
            let tokens: Vec<i32> = expected.iter().map(|(token, _)| *token).collect();
            assert_eq!(rows.tokens[own.clone()], tokens, "seed {seed}, row {row}: {case:?}");
            let segments = &rows.segments[own];
            for at in 1..case.layout.width {
                // One document after itself is not told from one that goes on.
                if documents.len() > 1 {
                    let goes_on = expected[at].1 == expected[at - 1].1;
                    assert_eq!(segments[at] == segments[at - 1], goes_on, "seed {seed}, row {row}");
                }
            }
        }
    }
    assert!(tried > 50);
}

#[test]
fn in_order_makes_each_token_a_label_once_in_an_epoch_in_any_order() {
    for seed in 0..CORPORA {
        let (corpus, case) = random(seed);
        if case.layout.pack != Packing::InOrder {
            continue;
        }
        let pairs = |documents: &[Vec<i32>]| {
            let mut counts = BTreeMap::new();
            for pair in documents.iter().flat_map(|document| document.windows(2)) {
                *counts.entry((pair[0], pair[1])).or_insert(0) += 1;
            }
            counts
        };
        let documents = corpus.documents(case.eos);
        let tokens = EPOCHS as usize * documents.iter().map(Vec::len).sum::<usize>();
        let rows = (tokens - 1) / (case.layout.width - 1);
        let given = pairs(&pieces(&corpus.open(&case).next(rows).unwrap()));
        let expected = pairs(&documents);
        let missing = |(pair, count): (&(i32, i32), &u64)| count * EPOCHS - given.get(pair).unwrap_or(&0);
        // Tokens that do not fill a row belong to the next epoch.
        let missing: u64 = expected.iter().map(missing).sum();
        assert!(missing < case.layout.width as u64, "seed {seed}: {missing} missing, {case:?}");
        assert!(given.keys().all(|pair| expected.contains_key(pair)), "seed {seed}");
    }
}

#[test]
fn segments_count_from_1_and_positions_from_0() {
    for seed in 0..CORPORA {
        let (corpus, case) = random(seed);
        let rows = corpus.open(&case).next(20).unwrap();
        for row in 0..20 {
            let own = row * case.layout.width..(row + 1) * case.layout.width;
            let (mut segment, mut position) = (1, 0);
            for at in own.clone() {
                if rows.segments[at] == 0 {
                    assert_eq!((rows.tokens[at], rows.positions[at]), (case.eos.unwrap_or(0), 0));
                    assert!(rows.segments[at..own.end].iter().all(|segment| *segment == 0), "padding is at the end");
                    assert_eq!(case.layout.pack, Packing::BestFit);
                    continue;
                }
                if rows.segments[at] != segment {
                    (segment, position) = (segment + 1, 0);
                }
                assert_eq!((rows.segments[at], rows.positions[at]), (segment, position), "seed {seed}: {case:?}");
                position += 1;
            }
        }
    }
}

#[test]
fn the_order_of_files_and_rows_follows_from_the_seed() {
    let (corpus, case) =
        (0..).map(random).find(|(corpus, case)| corpus.files.len() == 3 && case.layout.seed.is_some()).unwrap();
    let first = |seed| {
        let mut case = case.clone();
        case.layout.seed = seed;
        corpus.open(&case).next(40).unwrap().tokens
    };
    assert_eq!(first(Some(1)), first(Some(1)));
    assert_ne!(first(Some(1)), first(Some(2)));
    assert_ne!(first(Some(1)), first(None));
    assert_ne!(case.documents, Documents::File);
}
