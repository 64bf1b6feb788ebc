//! A state in parts, as the ranks of several processes save it together: of each rank a safetensors file with what it is the first to
//! hold of each buffer, and an index that says how the parts lie. The index is written last and in one step, so that a state is there
//! as a whole or not at all; what reads it gets the tensors of the model, whatever the layout was.

use crate::Buffer;
use crate::sharded::check_buffers;
use crate::tensors::{self, Tensors};
use halite_support::files::folder_of;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{AtomId, HostTensor, Mesh, Shape, Sharding};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[cfg(feature = "files")]
mod write;

#[cfg(feature = "files")]
pub use write::{commit, next_series, remove, write_part};

/// The format of indices that this build reads and writes.
const VERSION: u32 = 1;

/// The key under which a part says of which series it is.
const SERIES: &str = "halite.series";

/// How the parts of a state lie.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartsIndex {
    /// Format version.
    pub parts: u32,
    /// The number of the save among those of its place: files of others are not read with it.
    pub series: u64,
    /// The file of each rank, beside the index.
    pub files: Vec<String>,
    /// The ranks.
    pub mesh: Mesh,
    /// What is saved, and how it lies on them.
    pub buffers: Vec<Buffer>,
    /// Texts for readers of checkpoints, by key.
    pub texts: BTreeMap<String, String>,
}

impl PartsIndex {
    /// That of a state of these buffers on the ranks of a mesh, in a place.
    pub fn new(place: &Path, series: u64, mesh: &Mesh, buffers: Vec<Buffer>) -> Self {
        let ranks = mesh.num_ranks();
        let files = (0..ranks).map(|rank| file_name(&name_of(place), series, rank, ranks)).collect();
        Self { parts: VERSION, series, files, mesh: mesh.clone(), buffers, texts: BTreeMap::new() }
    }

    /// Whether a text is that of such an index, sound or not.
    pub(crate) fn is_one(text: &str) -> bool {
        let value: serde_json::Result<serde_json::Value> = serde_json::from_str(text);
        value.is_ok_and(|value| value.get("parts").is_some())
    }

    fn parse(text: &str, path: &Path) -> Result<Self> {
        let refuse = |reason: String| {
            let message = format!("`{}` is not the index of a state in parts: {reason}", path.display());
            Diagnostic::error(codes::TENSOR_FILE, message).help("resume from another state")
        };
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        match value.get("parts").and_then(serde_json::Value::as_u64) {
            Some(version) if version != u64::from(VERSION) => {
                let message =
                    format!("the state `{}` has version {version}, this build reads version {VERSION}", path.display());
                return Err(Diagnostic::error(codes::VERSION, message)
                    .help("take the version of Halite that wrote it, or a newer one"));
            }
            _ => {}
        }
        let index: Self = serde_json::from_value(value).map_err(|error| refuse(error.to_string()))?;
        let leads_away = |file: &&String| Path::new(file.as_str()).file_name() != Some(file.as_ref());
        if let Some(file) = index.files.iter().find(leads_away) {
            return Err(refuse(format!("it names `{file}`, which is not a file beside it")));
        }
        let (files, ranks) = (index.files.len(), index.mesh.num_ranks());
        if files != ranks {
            return Err(refuse(format!("it names {files} files of {ranks} ranks")));
        }
        check_buffers(&index.mesh, &index.buffers).map_err(refuse)?;
        Ok(index)
    }
}

/// For each rank the first one that holds the same part of a tensor.
pub fn holders(mesh: &Mesh, sharding: Option<&Sharding>) -> Vec<usize> {
    let is_shared = |atom: &AtomId| sharding.is_none_or(|sharding| sharding.find(*atom).is_none());
    let shared: Vec<AtomId> = (0..mesh.atoms().len()).filter(is_shared).collect();
    let mut holders: Vec<usize> = (0..mesh.num_ranks()).collect();
    for group in mesh.groups(&shared).lists() {
        let first = group.iter().copied().min().unwrap_or_default();
        group.iter().for_each(|rank| holders[*rank] = first);
    }
    holders
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
        let (tensors, series) = tensors::read_marked(&place, SERIES).map_err(named)?;
        if series.as_deref() != Some(&*index.series.to_string()) {
            let message = format!("`{}` is of another save than its index", place.display());
            return Err(named(Diagnostic::error(codes::TENSOR_FILE, message)).help("resume from another state"));
        }
        parts.push(tensors);
    }
    let mut all = Tensors::new();
    for buffer in &index.buffers {
        all.extend(buffer.unpack(whole(&index.mesh, buffer, &mut parts).map_err(named)?)?);
    }
    all.sort_keys();
    Ok((all, index.texts.get(key).cloned()))
}

/// A buffer as a whole, whose parts are taken out.
fn whole(mesh: &Mesh, buffer: &Buffer, parts: &mut [Tensors]) -> Result<HostTensor> {
    let (name, shape) = (&buffer.name, Shape::from(buffer.shape.as_slice()));
    let sharding =
        buffer.sharding.as_ref().map_or_else(|| Cow::Owned(Sharding::replicated(shape.rank())), Cow::Borrowed);
    let local = sharding.local_shape(&shape);
    let mut held = Vec::new();
    for (rank, holder) in holders(mesh, Some(&sharding)).into_iter().enumerate() {
        if rank != holder {
            continue;
        }
        let part = parts[rank].swap_remove(name);
        let fits = |part: &HostTensor| part.dtype() == buffer.dtype && *part.shape() == local;
        let part = part.filter(fits).ok_or_else(|| {
            let message = format!("rank {rank} has no `{name}` of `{}{local}`", buffer.dtype);
            Diagnostic::error(codes::TENSOR_FILE, message).help("resume from another state")
        })?;
        held.push((rank, part));
    }
    sharding.assemble_from(mesh, &shape, held.iter().map(|(rank, part)| (*rank, part)))
}

/// What a state is called, without ending.
fn name_of(place: &Path) -> Cow<'_, str> {
    let name = place.file_name().map_or(Cow::Borrowed("state"), |name| name.to_string_lossy());
    match name.strip_suffix(".safetensors") {
        Some(name) => Cow::Owned(name.to_owned()),
        None => name,
    }
}

/// The index of a state that would be in this place if it were one file.
pub fn index_path(place: &Path) -> PathBuf {
    folder_of(place).join(format!("{}.safetensors.index.json", name_of(place)))
}

fn file_name(name: &str, series: u64, rank: usize, ranks: usize) -> String {
    format!("{name}.{series}-{:05}-of-{ranks:05}.safetensors", rank + 1)
}
