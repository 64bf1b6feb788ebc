//! Reading a state in parts.

use super::index::{PartsIndex, SERIES};
use crate::Buffer;
use crate::tensor_file::{Tensors, read_one};
use halite_support::files::folder_of;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{HostTensor, Mesh, Shape, Sharding, SubAxisId};
use std::borrow::Cow;
use std::path::Path;

/// The first rank that holds the same part of a tensor as this one.
pub fn holder(mesh: &Mesh, sharding: Option<&Sharding>, rank: usize) -> usize {
    let is_shared = |sub_axis: &SubAxisId| sharding.is_none_or(|sharding| sharding.find(*sub_axis).is_none());
    let shared = (0..mesh.sub_axes().len()).filter(is_shared);
    rank - shared.map(|sub_axis| mesh.coordinate(sub_axis, rank) * mesh.sub_axes()[sub_axis].stride).sum::<usize>()
}

/// The tensors of the model in a state whose index is at `path`, sorted by name, with the text under a key.
///
/// # Errors
/// When the index or a file cannot be read, or is not what the other says.
pub(crate) fn read(path: &Path, text: &str, key: &str) -> Result<(Tensors, Option<String>)> {
    let index = PartsIndex::parse(text, path)?;
    let named = |error: Diagnostic| error.note(format!("named in `{}`", path.display()));
    let mut parts = Vec::with_capacity(index.files.len());
    for file in &index.files {
        let place = folder_of(path).join(file);
        let (tensors, series) = read_one(&place, SERIES).map_err(named)?;
        if series.as_deref() != Some(&*index.series.to_string()) {
            let message = format!("`{}` is of another save than its index", place.display());
            return Err(named(Diagnostic::error(codes::TENSOR_FILE, message)).help("resume from another state"));
        }
        parts.push(tensors);
    }
    let mut all = Tensors::new();
    for (number, buffer) in index.buffers.iter().enumerate() {
        let first = index.first_file(number);
        let of_stage = &mut parts[first..first + index.mesh.num_ranks()];
        all.extend(buffer.unpack(whole(&index.mesh, (buffer, first), of_stage).map_err(named)?)?);
    }
    all.sort_keys();
    Ok((all, index.texts.get(key).cloned()))
}

/// A buffer as a whole, whose parts are taken out of those of the ranks of a stage, of which the first has this number.
fn whole(mesh: &Mesh, (buffer, first): (&Buffer, usize), parts: &mut [Tensors]) -> Result<HostTensor> {
    let (name, shape) = (&buffer.name, Shape::from(buffer.shape.as_slice()));
    let sharding =
        buffer.sharding.as_ref().map_or_else(|| Cow::Owned(Sharding::replicated(shape.rank())), Cow::Borrowed);
    let local = sharding.local_shape(&shape);
    let mut held = Vec::new();
    for rank in (0..mesh.num_ranks()).filter(|&rank| holder(mesh, Some(&sharding), rank) == rank) {
        let part = parts[rank].swap_remove(name);
        let fits = |part: &HostTensor| part.dtype() == buffer.dtype && *part.shape() == local;
        let part = part.filter(fits).ok_or_else(|| {
            let message = format!("rank {} has no `{name}` of `{}{local}`", first + rank, buffer.dtype);
            Diagnostic::error(codes::TENSOR_FILE, message).help("resume from another state")
        })?;
        held.push((rank, part));
    }
    sharding.assemble_from(mesh, &shape, held.iter().map(|(rank, part)| (*rank, part)))
}
