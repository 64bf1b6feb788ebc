//! Variables that control the stand-in.

use std::ffi::c_int;

/// The prefix of all variables.
const PREFIX: &str = "HALITE_STANDIN_NRT_";

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(format!("{PREFIX}{name}")).ok().filter(|value| !value.is_empty())
}

/// The number that a variable gives, or the default.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    variable(name).and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The status that the Nth call of a function is to answer.
pub(crate) fn failure(function: &str, call: u64) -> Option<c_int> {
    let order = variable("FAIL")?;
    let (name, status) = order.split_once(':')?;
    let (status, at) = match status.split_once('@') {
        Some((status, at)) => (status, at.parse().ok()),
        None => (status, Some(call)),
    };
    (name == function && at == Some(call)).then(|| status.parse().ok())?
}

/// The status of the Nth run, where its numbers are to be none.
pub(crate) fn not_a_number(run: u64) -> Option<c_int> {
    let order = variable("NAN")?;
    let (at, status) = order.split_once(':').unwrap_or((&order, "0"));
    (at.parse() == Ok(run)).then(|| status.parse().ok())?
}

/// Whether the Nth call of a function is not to come back.
pub(crate) fn hangs(function: &str, call: u64) -> bool {
    variable("HANG").is_some_and(|order| order == format!("{function}@{call}"))
}

/// Whether the process is to be killed at the Nth call of a function.
pub(crate) fn dies(function: &str, call: u64) -> bool {
    variable("DIE").is_some_and(|order| order == format!("{function}@{call}"))
}
