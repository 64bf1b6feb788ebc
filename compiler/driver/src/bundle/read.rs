//! Reading a bundle without trusting it.

use super::{Bundle, MANIFEST, sha256};
use crate::recipe_file::{Places, check_rules};
use crate::{files, neuron};
use halite_spec::{Buffer, BufferSlot, MANIFEST_VERSION, Manifest, ModuleEntry, Port, PortRole};
use halite_support::{Diagnostic, Result, codes};
use indexmap::{IndexMap, IndexSet};
use std::path::{Component, Path};

const AGAIN: &str = "compile the bundle again";

pub(super) fn read(folder: &Path) -> Result<Bundle> {
    let path = folder.join(MANIFEST);
    if !path.is_file() {
        let message = format!("`{}` is not a bundle: it has no `{MANIFEST}`", folder.display());
        return Err(Diagnostic::error(codes::BUNDLE, message).help("make one with `halite compile ... -o DIR`"));
    }
    let manifest = parse(&path, &files::read_text(&path)?)?;
    check(&manifest).map_err(|reason| wrong(&path, &reason))?;
    check_precision(&manifest).map_err(|error| in_manifest(&path, error))?;
    let files = manifest.modules.iter().map(|module| Ok((module.file.clone(), file(folder, module)?)));
    let files = files.collect::<Result<IndexMap<_, _>>>()?;
    Ok(Bundle { manifest, files })
}

fn parse(path: &Path, text: &str) -> Result<Manifest> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| wrong(path, &error.to_string()))?;
    match value.get("version").map(|version| version.as_u64()) {
        Some(Some(version)) if version == u64::from(MANIFEST_VERSION) => {}
        Some(Some(version)) => {
            let message =
                format!("`{}` has version {version}, this build reads version {MANIFEST_VERSION}", path.display());
            return Err(Diagnostic::error(codes::VERSION, message).help(AGAIN));
        }
        _ => return Err(wrong(path, "it states no version")),
    }
    serde_json::from_str(text).map_err(|error| wrong(path, &error.to_string()))
}

fn wrong(path: &Path, reason: &str) -> Diagnostic {
    let message = format!("`{}` is not a manifest of version {MANIFEST_VERSION}: {reason}", path.display());
    Diagnostic::error(codes::BUNDLE, message).help(AGAIN)
}

fn file(folder: &Path, module: &ModuleEntry) -> Result<Vec<u8>> {
    let path = folder.join(&module.file);
    let bytes = files::read(&path).map_err(|error| error.help(AGAIN))?;
    let found = sha256(&bytes);
    if found == module.sha256 {
        return Ok(bytes);
    }
    let message = format!("`{}` is not the file that the manifest describes", path.display());
    let sums = format!("its SHA-256 is {found}, the manifest says {}", module.sha256);
    Err(Diagnostic::error(codes::CHECKSUM, message).note(sums).help(AGAIN))
}

/// What serde cannot know: names are unique, references lead somewhere, files stay in the folder.
fn check(manifest: &Manifest) -> std::result::Result<(), String> {
    let mut buffers = IndexMap::new();
    for buffer in &manifest.buffers {
        if buffers.insert(buffer.name.as_str(), (buffer.dtype, &buffer.shape)).is_some() {
            return Err(format!("the buffer `{}` is listed twice", buffer.name));
        }
        if (buffer.slot == BufferSlot::Batch) != buffer.init.is_none() {
            return Err(format!("the buffer `{}` must have an initial value exactly if it is state", buffer.name));
        }
    }
    for buffer in manifest.buffers.iter().filter(|buffer| buffer.slot == BufferSlot::Master) {
        if !manifest.buffers.iter().any(|weight| is_master(buffer, weight)) {
            return Err(format!(
                "the buffer `{}` is the master of no narrower weight that starts as it does",
                buffer.name
            ));
        }
    }
    for buffer in &manifest.buffers {
        if let Some(of) = buffer.of.as_ref().filter(|of| !buffers.contains_key(of.as_str())) {
            return Err(format!("the buffer `{}` belongs to `{of}`, which is no buffer", buffer.name));
        }
    }
    let mut names = IndexSet::new();
    for module in &manifest.modules {
        if !names.insert(module.name.as_str()) {
            return Err(format!("the module `{}` is listed twice", module.name));
        }
        if !stays_inside(&module.file) {
            return Err(format!("the module `{}` has its file `{}` outside the bundle", module.name, module.file));
        }
        let known = |port: &Port| {
            port.role != PortRole::Buffer || buffers.get(port.name.as_str()) == Some(&(port.dtype, &port.shape))
        };
        if let Some(port) = module.inputs.iter().chain(&module.outputs).find(|port| !known(port)) {
            return Err(format!("`{}` of the module `{}` is no buffer of that type", port.name, module.name));
        }
        let beyond = |port: &&Port| port.alias.is_some_and(|input| input >= module.inputs.len());
        if let Some(port) = module.outputs.iter().find(beyond) {
            return Err(format!("`{}` of the module `{}` aliases an input that is not there", port.name, module.name));
        }
    }
    match manifest.schedule.iter().find(|name| !names.contains(name.as_str())) {
        Some(name) => Err(format!("the schedule calls `{name}`, which is no module")),
        None => Ok(()),
    }
}

/// Whether a buffer is the master of a weight.
fn is_master(buffer: &Buffer, weight: &Buffer) -> bool {
    weight.slot == BufferSlot::Weight
        && buffer.of.as_ref() == Some(&weight.name)
        && (buffer.init, &buffer.shape) == (weight.init, &weight.shape)
        && buffer.dtype.size() > weight.dtype.size()
}

/// The recipe goes together, and rounding, environment and flags are what follows from it.
fn check_precision(manifest: &Manifest) -> Result<()> {
    match check_rules(&manifest.recipe, &Places::default()).into_iter().next() {
        Some(mistake) => Err(mistake),
        None => neuron::check_manifest(manifest),
    }
}

fn in_manifest(path: &Path, error: Diagnostic) -> Diagnostic {
    error.context(format!("the manifest `{}`", path.display())).help(AGAIN)
}

fn stays_inside(file: &str) -> bool {
    !file.is_empty() && Path::new(file).components().all(|component| matches!(component, Component::Normal(_)))
}
