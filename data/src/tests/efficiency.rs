//! The share of padding in rows.

use super::corpus::{Case, Corpus, Draw, epochs};
use crate::config::Packing;
use crate::documents::Documents;
use crate::layout::Layout;
use std::path::Path;

/// The share of tokens in the rows of an epoch that are of documents.
fn efficiency(corpus: &Corpus, width: usize, buffer: usize) -> f64 {
    let layout = Layout { pack: Packing::BestFit, width, buffer, seed: Some(1) };
    let case = Case { documents: Documents::Blank, layout, block: 1 << 20, threads: 2, eos: Some(256) };
    let rows = epochs(corpus, &case, 1);
    let used = rows.segments.iter().filter(|segment| **segment > 0).count();
    used as f64 / rows.segments.len() as f64
}

/// A draw of the standard normal distribution, by Box and Muller.
fn normal(draw: &mut Draw) -> f64 {
    let mut uniform = || (draw.below(1 << 30) as f64 + 1.0) / (1_u64 << 30) as f64;
    let (radius, angle) = (uniform(), uniform());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

#[test]
fn documents_of_log_normal_lengths_fill_rows() {
    let mut draw = Draw::new(3);
    // About the lengths of web pages in tokens: a median of 400, one in forty longer than 3,000.
    let texts = (0..6_000).map(|_| {
        let length = (400.0 * normal(&mut draw).exp()).ceil() as usize;
        "x".repeat(length)
    });
    let corpus = Corpus::new(vec![texts.collect()], Documents::Blank);
    for buffer in [1 << 18, 1 << 20, 1 << 22] {
        let found = efficiency(&corpus, 2049, buffer);
        assert!(found >= 0.995, "{found} with a buffer of {buffer}");
    }
}

#[test]
fn paragraphs_of_a_book_fill_rows() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/pride-and-prejudice.txt");
    let text = std::fs::read_to_string(book).unwrap().replace("\r\n", "\n");
    let paragraphs = text.split("\n\n").map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let corpus = Corpus::new(vec![paragraphs.collect()], Documents::Blank);
    let found = efficiency(&corpus, 2049, 1 << 18);
    assert!(found >= 0.995, "{found}");
}
