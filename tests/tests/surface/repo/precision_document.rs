//! The page on precision says what the named recipes are.

use crate::repo::read;
use halite_recipe::{Precision, PrecisionName, RoundingMode, SrBy, SrSites};

const DOCUMENT: &str = "docs/precision/README.md";

/// A row of the table: its first cell, and what it says of a recipe.
type Row = (&'static str, fn(&Precision) -> String);

const ROWS: [Row; 10] = [
    ("`weight`", |precision| precision.weight.to_string()),
    ("`master`", |precision| precision.master.dtype().map_or_else(|| "none".to_owned(), |dtype| dtype.to_string())),
    ("`moments`", |precision| precision.moments.to_string()),
    ("`operand`: matmul operands, activations", |precision| precision.operand.to_string()),
    ("`accumulate`: sums", |precision| precision.accumulate.to_string()),
    ("`sensitive`: softmax, norm statistics, loss", |precision| precision.sensitive.to_string()),
    ("`gradient`: gradients and their sums", |precision| precision.gradient.to_string()),
    ("`reduce`: sums over ranks, once there are any", |precision| precision.reduce.to_string()),
    ("`update`: arithmetic of the optimizer", |precision| precision.update.to_string()),
    ("`rounding`", rounding),
];

fn rounding(precision: &Precision) -> String {
    if precision.rounding == RoundingMode::Rne {
        return "rne".to_owned();
    }
    let sites = match precision.sr.sites {
        SrSites::All => "all sites",
        SrSites::WeightWrite => "weight writes",
    };
    let by = match precision.sr.by {
        SrBy::Switch => "by switch",
        SrBy::Dither => "by dither",
    };
    format!("sr, {sites}, {by}")
}

#[test]
fn the_document_has_the_named_recipes() {
    let text = read(DOCUMENT);
    let recipes = PrecisionName::ALL;
    let name = |recipe: PrecisionName| {
        let default = if recipe == PrecisionName::default() { " (default)" } else { "" };
        format!("`{}`{default}", recipe.name())
    };
    let row = |first: &str, cells: Vec<String>| format!("| {first} | {} |", cells.join(" | "));
    let head = format!("| | {} |", recipes.map(name).join(" | "));
    let rows = ROWS.iter().map(|(first, say)| row(first, recipes.map(|recipe| say(&recipe.precision())).to_vec()));
    for expected in [head].into_iter().chain(rows) {
        assert!(text.lines().any(|line| line == expected), "{DOCUMENT} should hold\n{expected}");
    }
}
