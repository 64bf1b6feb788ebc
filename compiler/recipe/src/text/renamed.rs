//! Keys that had other names: they are read as what they are now.

use super::tree::{Node, Value};
use crate::Places;

/// Reads `parallel.zero1 = true` as `parallel.zero = 1`, and notes that it did.
pub(super) fn rename(root: &mut Node, places: &mut Places) {
    let Value::Table(root) = &mut root.value else { return };
    let Some(Value::Table(parallel)) = root.get_mut("parallel").map(|entry| &mut entry.node.value) else { return };
    let Some(at) = parallel.get_index_of("zero1").filter(|_| !parallel.contains_key("zero")) else { return };
    let Value::Bool(shards) = parallel[at].node.value else { return };
    let Some((_, mut entry)) = parallel.shift_remove_index(at) else { return };
    entry.node.value = Value::Whole(shards.into());
    parallel.shift_insert(at, "zero".to_owned(), entry);
    places.renamed.push(("parallel.zero1", "parallel.zero", u32::from(shards).to_string()));
}
