//! The stream is the same however it is cut, and goes on from any position.

use super::corpus::{Draw, random};
use crate::dataset::{Dataset, Rows};

const CORPORA: u64 = 100;
const ROWS: usize = 60;

/// Rows from one on to before another.
fn slice(rows: &Rows, from: usize, to: usize) -> Rows {
    let own = from * rows.width..to * rows.width;
    let part = |values: &[i32]| values[own.clone()].to_vec();
    let (tokens, segments, positions) = (part(&rows.tokens), part(&rows.segments), part(&rows.positions));
    Rows { rows: to - from, width: rows.width, tokens, segments, positions, ..Rows::default() }
}

#[test]
fn it_goes_on_from_every_position() {
    for seed in 0..CORPORA {
        let (corpus, case) = random(seed);
        let mut undisturbed = corpus.open(&case);
        let all = corpus.open(&case).next(ROWS + 8).unwrap();
        let mut other = corpus.open(&case);
        for row in 0..ROWS {
            let text = serde_json::to_string(&undisturbed.position()).unwrap();
            let position = serde_json::from_str(&text).unwrap();
            other.seek(&position).unwrap();
            assert_eq!(other.position(), position, "seed {seed}, row {row}");
            assert_eq!(other.next(8).unwrap(), slice(&all, row, row + 8), "seed {seed}, row {row}: {case:?}");
            undisturbed.next(1).unwrap();
        }
    }
}

#[test]
fn it_is_the_same_however_it_is_cut_and_for_any_number_of_threads() {
    for seed in 0..CORPORA {
        let (corpus, mut case) = random(seed);
        let all = corpus.open(&case).next(ROWS).unwrap();
        case.threads = 5 - case.threads;
        let mut draw = Draw::new(seed);
        let mut cut = corpus.open(&case);
        let mut row = 0;
        while row < ROWS {
            let rows = draw.below(9).min(ROWS - row);
            assert_eq!(cut.next(rows).unwrap(), slice(&all, row, row + rows), "seed {seed}, row {row}: {case:?}");
            row += rows;
        }
        let mut whole = corpus.open(&case);
        whole.next(ROWS).unwrap();
        assert_eq!(cut.position(), whole.position(), "seed {seed}: {case:?}");
    }
}

#[test]
fn positions_of_other_data_are_refused() {
    let (corpus, case) = random(0);
    let mut data = corpus.open(&case);
    let place = serde_json::json!({ "at": 1_u64 << 40, "within": false });
    let cursor = |turn: usize| serde_json::json!({ "epoch": 0, "turn": turn, "place": null });
    let state = |turn, spans: serde_json::Value, given: u64| serde_json::json!({ "cursor": cursor(turn), "window": 0, "carried": [spans], "given": given });
    let span = |shard: usize, place: &serde_json::Value, to: usize| serde_json::json!([{ "shard": shard, "place": place, "from": 0, "to": to }]);
    let first = serde_json::json!({ "at": 0, "within": false });
    for (wrong, message) in [
        (serde_json::json!({}), "the position is not one of this data (missing field `cursor`)"),
        (state(9, serde_json::json!([]), 0), "the position is at file 9 of "),
        (state(0, span(7, &first, 1), 0), "the position names a document that is not there"),
        (state(0, span(0, &place, 1), 0), "the position is at byte 1099511627776 of "),
        (state(0, span(0, &first, 4000), 0), "the position names tokens that are not there"),
        (state(0, serde_json::json!([]), 1 << 40), "the position is at row 1099511627776 of "),
    ] {
        let error = data.seek(&crate::Position(wrong)).unwrap_err();
        assert!(error.message().starts_with(message), "{error}");
    }
}
