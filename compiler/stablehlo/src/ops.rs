//! What instructions become, by families of opcodes.

mod collective;
mod contraction;
mod elementwise;
mod indexing;
mod movement;
mod source;
mod structure;

use crate::literal;
use crate::op::Meaning;
use crate::site::Site;
use halite_support::Result;

/// What an instruction becomes.
///
/// # Errors
/// When it has no form, or carries something that the form has no place for.
pub(crate) fn meaning(site: &Site<'_>) -> Result<Meaning> {
    site.require_plain()?;
    let families = [
        structure::meaning,
        elementwise::meaning,
        movement::meaning,
        source::meaning,
        contraction::meaning,
        indexing::meaning,
        collective::meaning,
    ];
    let found = families.into_iter().find_map(|family| family(site));
    found.unwrap_or_else(|| Err(site.fault("the opcode is none that Halite makes")))
}

/// `array<i64: 1, 2>`.
fn array(numbers: &[i64]) -> String {
    let separator = if numbers.is_empty() { "" } else { ": " };
    format!("array<i64{separator}{}>", literal::list(numbers))
}

/// `2 : i64`.
fn int(number: i64) -> String {
    format!("{number} : i64")
}

/// `#stablehlo.dot<lhs = [1], rhs = [0]>`: lists of dimensions, without those that are empty.
fn dims(name: &str, lists: &[(&str, &[i64])], last: Option<(&str, i64)>) -> String {
    let list = |(key, numbers): &(&str, &[i64])| {
        (!numbers.is_empty()).then(|| format!("{key} = [{}]", literal::list(numbers)))
    };
    let last = last.map(|(key, number)| format!("{key} = {number}"));
    let parts: Vec<String> = lists.iter().filter_map(list).chain(last).collect();
    format!("#stablehlo.{name}<{}>", parts.join(", "))
}
