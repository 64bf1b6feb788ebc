//! Element types that go together.

use crate::{Places, Precision};
use halite_support::{Diagnostic, Diagnostics, Span, codes};
use halite_tensor::DType;

/// An element type under its key in `[precision]`.
pub(super) type Entry = (&'static str, DType);

/// Every element type of a precision.
fn entries(precision: &Precision) -> Vec<Entry> {
    let master = precision.master.dtype().map(|dtype| ("master", dtype));
    let others = [
        ("weight", precision.weight),
        ("moments", precision.moments),
        ("operand", precision.operand),
        ("accumulate", precision.accumulate),
        ("sensitive", precision.sensitive),
        ("gradient", precision.gradient),
        ("reduce", precision.reduce),
        ("update", precision.update),
    ];
    others.into_iter().chain(master).collect()
}

pub(super) fn check(precision: &Precision, places: &Places, mistakes: &mut Diagnostics) {
    let entries = entries(precision);
    let before = mistakes.len();
    mistakes.extend(entries.iter().filter_map(|&entry| usable(entry, places, "precision")));
    if mistakes.len() == before {
        mistakes.extend(all_or_nothing(&entries, places));
    }
    // The mistakes that these find would follow from those.
    if mistakes.len() == before {
        mistakes.extend(accumulate(precision, places, "precision"));
        mistakes.extend(master(precision, places, "precision"));
    }
}

/// An element type is one of floats, with a range for what is kept in it. `path` as in [`accumulate`].
pub(super) fn usable((key, dtype): Entry, places: &Places, path: &str) -> Option<Diagnostic> {
    let error = |message: &str, label: &str| {
        Diagnostic::error(codes::RECIPE_RANGE, format!("`{path}.{key}` is `{dtype}`, {message}"))
            .or_at(places.nearest(&format!("{path}.{key}")), label)
    };
    match (key, dtype) {
        ("moments" | "update", DType::F16) => Some(
            error("whose range is too small for it", "too small a range")
                .note("the smallest number of `f16` is 6e-8: squares of gradients and `eps` would be 0")
                .help("choose `bf16` or `f32`"),
        ),
        _ if dtype.is_float() => None,
        _ => Some(error("expected a type of floats", "no type of floats").help("choose `bf16`, `f16`, `f32` or `f64`")),
    }
}

/// `f64` is for verification: all of it, so that nothing is lost on the way, or none of it.
fn all_or_nothing(entries: &[Entry], places: &Places) -> Option<Diagnostic> {
    let stated = |entry: &&Entry| places.get(&format!("precision.{}", entry.0)).is_some();
    let pick = |entries: Vec<Entry>| entries.iter().find(stated).or(entries.first()).copied();
    let (wide, narrow): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, dtype)| *dtype == DType::F64);
    let (wide, narrow) = (pick(wide)?, pick(narrow)?);
    let message = format!("`precision.{}` is `f64`, but `precision.{}` is `{}`", wide.0, narrow.0, narrow.1);
    let place = |key: &str| places.get(&format!("precision.{key}"));
    let error = Diagnostic::error(codes::RECIPE_CLASH, message)
        .or_at(place(wide.0).or(place(narrow.0)).or(places.nearest("precision")), "`f64` is all or nothing")
        .help("set `precision = \"fp64\"`, or use `f64` nowhere");
    Some(error)
}

/// Sums hold what is added up. `path` is the table that states the types: `precision` or one of its overrides.
pub(super) fn accumulate(precision: &Precision, places: &Places, path: &str) -> Option<Diagnostic> {
    let (operand, sum) = (precision.operand, precision.accumulate);
    if operand == sum || operand.size() < sum.size() {
        return None;
    }
    let message = format!("sums in `{sum}` (`accumulate`) do not hold operands in `{operand}` (`operand`)");
    let error = Diagnostic::error(codes::RECIPE_CLASH, message)
        .or_at(first(places, path, &["accumulate", "operand"]), "narrower than what is added up")
        .help("set `accumulate = \"f32\"`, or narrow `operand`");
    Some(error)
}

/// A master weight knows more than the weight.
pub(super) fn master(precision: &Precision, places: &Places, path: &str) -> Option<Diagnostic> {
    let (master, weight) = (precision.master.dtype()?, precision.weight);
    if weight.size() < master.size() {
        return None;
    }
    let message = format!("master weights in `{master}` are not wider than weights in `{weight}`");
    let error = Diagnostic::error(codes::RECIPE_CLASH, message)
        .or_at(first(places, path, &["master", "weight"]), "a copy without effect")
        .help("set `master = \"none\"`, or narrow `weight`");
    Some(error)
}

/// The place of the first key that is stated, else that of what encloses them.
fn first(places: &Places, path: &str, keys: &[&str]) -> Option<Span> {
    let stated = keys.iter().find_map(|key| places.get(&format!("{path}.{key}")));
    stated.or_else(|| places.nearest(path))
}
