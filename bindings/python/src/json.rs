//! Data for Python as JSON.

use serde::Serialize;

/// A value as JSON, with the keys of its maps in the order that they have.
pub(crate) fn in_order(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what compiling found has a JSON form")
}
