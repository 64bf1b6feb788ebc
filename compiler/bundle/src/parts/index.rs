//! The index of a state in parts: the layout over ranks and the file of each.

use crate::Buffer;
use crate::sharded::check_buffers;
use halite_support::files::folder_of;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Mesh;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The newest format of indices that this build reads, and that of states of several stages. A state of one stage has the first, which
/// older builds read too.
const VERSION: u32 = 2;

/// The key under which a part says of which series it is.
pub(super) const SERIES: &str = "halite.series";

/// The index of a state in parts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartsIndex {
    /// Format version.
    pub parts: u32,
    /// The number of the save among those of its place: files of others are not read with it.
    pub series: u64,
    /// The file of each rank, beside the index.
    pub files: Vec<String>,
    /// The ranks of a stage.
    pub mesh: Mesh,
    /// The saved buffers, with their shardings.
    pub buffers: Vec<Buffer>,
    /// Of several stages, for each buffer the one whose ranks have written it. The files are those of one stage after another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<usize>,
    /// Texts for readers of checkpoints, by key.
    pub texts: BTreeMap<String, String>,
}

impl PartsIndex {
    /// The index of a state of these buffers in a place, on so many stages, each with the ranks of a mesh. With each buffer comes the
    /// stage that writes it.
    pub fn new(place: &Path, series: u64, (stages, mesh): (usize, &Mesh), buffers: Vec<(Buffer, usize)>) -> Self {
        let ranks = mesh.num_ranks() * stages;
        let files = (0..ranks).map(|rank| file_name(&name_of(place), series, rank, ranks)).collect();
        let (buffers, writers): (_, Vec<usize>) = buffers.into_iter().unzip();
        let (parts, stages) = if stages > 1 { (VERSION, writers) } else { (1, Vec::new()) };
        Self { parts, series, files, mesh: mesh.clone(), buffers, stages, texts: BTreeMap::new() }
    }

    /// The number of the file that the first rank of the stage has which wrote the buffer of this number.
    pub(super) fn first_file(&self, buffer: usize) -> usize {
        self.stages.get(buffer).map_or(0, |stage| stage * self.mesh.num_ranks())
    }

    /// Whether a text is that of such an index, sound or not.
    pub(crate) fn is_one(text: &str) -> bool {
        let value: serde_json::Result<serde_json::Value> = serde_json::from_str(text);
        value.is_ok_and(|value| value.get("parts").is_some())
    }

    pub(super) fn parse(text: &str, path: &Path) -> Result<Self> {
        let refuse = |reason: String| {
            let message = format!("`{}` is not the index of a state in parts: {reason}", path.display());
            Diagnostic::error(codes::TENSOR_FILE, message).help("resume from another state")
        };
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        match value.get("parts").and_then(serde_json::Value::as_u64) {
            Some(version) if !(1..=u64::from(VERSION)).contains(&version) => {
                let message = format!(
                    "the state `{}` has version {version}, this build reads versions up to {VERSION}",
                    path.display()
                );
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
        index.check_files().map_err(refuse)?;
        check_buffers(&index.mesh, &index.buffers).map_err(refuse)?;
        Ok(index)
    }

    /// Checks that there is a file for each rank of each stage, and a stage for each buffer.
    fn check_files(&self) -> std::result::Result<(), String> {
        let (files, ranks) = (self.files.len(), self.mesh.num_ranks());
        if self.stages.is_empty() {
            return if files == ranks { Ok(()) } else { Err(format!("it names {files} files of {ranks} ranks")) };
        }
        if files % ranks != 0 {
            return Err(format!("it names {files} files of stages of {ranks} ranks"));
        }
        if self.stages.len() != self.buffers.len() {
            return Err(format!("it has stages of {} buffers, and {} buffers", self.stages.len(), self.buffers.len()));
        }
        match self.stages.iter().find(|stage| **stage >= files / ranks) {
            Some(stage) => Err(format!("it names stage {stage} of {}", files / ranks)),
            None => Ok(()),
        }
    }
}

/// The name of a state, without ending.
pub(super) fn name_of(place: &Path) -> Cow<'_, str> {
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
