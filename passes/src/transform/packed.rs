//! Weights that store several tensors of the model, as instructions see them.

use halite_ir::{Attr, Builder, Value, Values};
use halite_support::Result;
use halite_tensor::{Dims, Packing, Part};

/// The attributes of `unpack` and `tied_copies` that say how the tensors lie.
pub(crate) fn layout(packing: &Packing) -> [(&'static str, Attr); 2] {
    let rows = packing.spans().map(|(_, rows)| rows.len() as i64).collect();
    let copies = packing.parts.iter().map(|part| part.copies as i64).collect();
    [("rows", Attr::Ints(rows)), ("copies", Attr::Ints(copies))]
}

/// The tensors in `x`, each `[rows, ..]` with its padding; of copies the first.
///
/// # Errors
/// When `x` has another shape than the packing.
pub(crate) fn by_rows(b: &mut Builder<'_>, packing: &Packing, x: Value) -> Result<Values> {
    let [rows, copies] = layout(packing);
    b.composite("unpack", &[("dim", Attr::Int(0)), rows, copies], &[x])
}

/// The tensors in `x`, each as the model has it; of copies the first.
///
/// # Errors
/// When `x` has another shape than the packing.
pub(crate) fn unpack(b: &mut Builder<'_>, packing: &Packing, x: Value) -> Result<Values> {
    let rows = by_rows(b, packing, x)?;
    let own = |(part, rows): (&Part, Value)| {
        let rows = b.slice_dim(rows, 0, 0, part.rows_first()[0])?;
        mirrored(b, part, rows)
    };
    packing.parts.iter().zip(rows).map(own).collect()
}

/// Tensors as the model has them, in the order of the parts, as one: copies are equal bit for bit.
///
/// # Errors
/// When one has another shape than its part.
pub(crate) fn pack(b: &mut Builder<'_>, packing: &Packing, tensors: &[Value]) -> Result<Value> {
    let shares = packing.parts.iter().zip(tensors).map(|(part, &tensor)| shares(b, packing, part, tensor));
    let shares = shares.collect::<Result<Values>>()?;
    b.concatenate(&shares, 1)
}

/// One tensor of the model as `[ranks, rows, ..]`.
fn shares(b: &mut Builder<'_>, packing: &Packing, part: &Part, tensor: Value) -> Result<Value> {
    let mut tensor = mirrored(b, part, tensor)?;
    if part.padding > 0 {
        tensor = b.pad_dim(tensor, 0, 0, part.padding as i64, 0.0)?;
    }
    let rows = part.rows_per_rank(packing.ranks);
    let behind = Dims::from_slice(&b.shape(tensor)[1..]);
    let shape = |head: &[usize]| -> Dims { head.iter().chain(&behind).copied().collect() };
    let once = b.reshape(tensor, &*shape(&[packing.ranks / part.copies, rows]))?;
    if part.copies == 1 {
        return Ok(once);
    }
    let dims: Dims = std::iter::once(0).chain(2..behind.len() + 3).collect();
    let copied = b.broadcast_in_dim(once, &dims, &*shape(&[packing.ranks / part.copies, part.copies, rows]))?;
    b.reshape(copied, &*shape(&[packing.ranks, rows]))
}

/// From the model's orientation to rows first, or back.
fn mirrored(b: &mut Builder<'_>, part: &Part, tensor: Value) -> Result<Value> {
    if part.transposed { b.transpose(tensor, &[1, 0]) } else { Ok(tensor) }
}
