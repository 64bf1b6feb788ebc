//! Weights that store several tensors of the model, as instructions see them.

use halite_ir::Attr;
use halite_tensor::Packing;

/// The attributes of `unpack` and `tied_copies` that say how the tensors lie.
pub(crate) fn layout(packing: &Packing) -> [(&'static str, Attr); 2] {
    let rows = packing.spans().map(|(_, rows)| rows.len() as i64).collect();
    let copies = packing.parts.iter().map(|part| part.copies as i64).collect();
    [("rows", Attr::Ints(rows)), ("copies", Attr::Ints(copies))]
}
