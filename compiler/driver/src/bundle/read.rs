//! Reading a bundle without trusting it.

use super::{Bundle, MANIFEST, sha256};
use crate::packed::part_names;
use crate::recipe_file::{Places, check_rules};
use crate::{files, neuron};
use halite_spec::{Buffer, BufferSlot, MANIFEST_VERSION, Manifest, ModuleEntry, Port, PortRole};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Packing;
use indexmap::{IndexMap, IndexSet};
use std::path::{Component, Path};

const AGAIN: &str = "compile the bundle again";
/// Most elements of a tensor.
const LIMIT: usize = 1 << 40;

pub(super) fn read(folder: &Path) -> Result<Bundle> {
    let path = folder.join(MANIFEST);
    if !path.is_file() {
        let message = format!("`{}` is not a bundle: it has no `{MANIFEST}`", folder.display());
        return Err(Diagnostic::error(codes::BUNDLE, message).help("make one with `halite compile ... -o DIR`"));
    }
    let manifest = parse(&path, &files::read_text(&path)?)?;
    check_buffers(&manifest.buffers).and_then(|()| check_modules(&manifest)).map_err(|reason| wrong(&path, &reason))?;
    check_precision(&manifest).map_err(|error| in_manifest(&path, error))?;
    let of_module = |module: &ModuleEntry| {
        let own = std::iter::once((module.file.clone(), module.sha256.clone()));
        own.chain(module.twins.iter().map(|twin| (twin.file.clone(), twin.sha256.clone()))).collect::<Vec<_>>()
    };
    let stated = manifest.modules.iter().flat_map(of_module);
    let files = stated.map(|(name, sum)| Ok((name.clone(), file(folder, &name, &sum)?)));
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

fn file(folder: &Path, name: &str, sum: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    let bytes = files::read(&path).map_err(|error| error.help(AGAIN))?;
    let found = sha256(&bytes);
    if found == sum {
        return Ok(bytes);
    }
    let message = format!("`{}` is not the file that the manifest describes", path.display());
    let sums = format!("its SHA-256 is {found}, the manifest says {sum}");
    Err(Diagnostic::error(codes::CHECKSUM, message).note(sums).help(AGAIN))
}

/// What serde cannot know of buffers: names are unique, references lead somewhere, sizes can be.
pub(crate) fn check_buffers(buffers: &[Buffer]) -> std::result::Result<(), String> {
    let mut names = IndexSet::new();
    for buffer in buffers {
        if !names.insert(buffer.name.as_str()) {
            return Err(format!("the buffer `{}` is listed twice", buffer.name));
        }
        if !is_possible(&buffer.shape, 1) {
            return Err(format!("the buffer `{}` is too large", buffer.name));
        }
        if (buffer.slot == BufferSlot::Batch) != buffer.init.is_none() {
            return Err(format!("the buffer `{}` must have an initial value exactly if it is state", buffer.name));
        }
    }
    for buffer in buffers.iter().filter(|buffer| buffer.slot == BufferSlot::Master) {
        if !buffers.iter().any(|weight| is_master(buffer, weight)) {
            return Err(format!(
                "the buffer `{}` is the master of no narrower weight that starts as it does",
                buffer.name
            ));
        }
    }
    for buffer in buffers {
        if let Some(of) = buffer.of.as_ref().filter(|of| !names.contains(of.as_str())) {
            return Err(format!("the buffer `{}` belongs to `{of}`, which is no buffer", buffer.name));
        }
    }
    check_packings(buffers)
}

/// What serde cannot know of modules: names are unique, inputs and outputs are buffers, files stay in the folder.
fn check_modules(manifest: &Manifest) -> std::result::Result<(), String> {
    let buffers = manifest.buffers.iter().map(|buffer| (buffer.name.as_str(), (buffer.dtype, &buffer.shape)));
    let buffers: IndexMap<_, _> = buffers.collect();
    let mut names = IndexSet::new();
    for module in &manifest.modules {
        if !names.insert(module.name.as_str()) {
            return Err(format!("the module `{}` is listed twice", module.name));
        }
        if !stays_inside(&module.file) {
            return Err(format!("the module `{}` has its file `{}` outside the bundle", module.name, module.file));
        }
        if let Some(twin) = module.twins.iter().find(|twin| !stays_inside(&twin.file)) {
            return Err(format!("the twin `{}` has its file `{}` outside the bundle", twin.name, twin.file));
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

/// Buffers of several tensors have the shape that follows, state is stored as its weight, and each tensor once.
fn check_packings(buffers: &[Buffer]) -> std::result::Result<(), String> {
    let mut tensors = IndexSet::new();
    for buffer in buffers {
        let (name, of) = (&buffer.name, buffer.of.as_deref());
        let weight = of.and_then(|of| buffers.iter().find(|weight| weight.name == of));
        if weight.is_some_and(|weight| weight.packing != buffer.packing) {
            return Err(format!("the buffer `{name}` is stored otherwise than `{}`", of.unwrap_or_default()));
        }
        let names = match &buffer.packing {
            None => vec![name.clone()],
            Some(_) if buffer.slot != BufferSlot::Weight && !of.is_some_and(|of| name.ends_with(of)) => {
                return Err(format!("the buffer `{name}` stores several tensors without being a weight's"));
            }
            Some(packing) => {
                check_packing(buffer, packing)?;
                part_names(packing, name, of)
            }
        };
        if let Some(twice) = names.into_iter().find(|name| !tensors.insert(name.clone())) {
            return Err(format!("the tensor `{twice}` is stored twice"));
        }
    }
    Ok(())
}

fn check_packing(buffer: &Buffer, packing: &Packing) -> std::result::Result<(), String> {
    if packing.ranks > LIMIT || !packing.parts.iter().all(|part| is_possible(&part.shape, part.copies)) {
        return Err(format!("the buffer `{}` packs a tensor that is too large", buffer.name));
    }
    match packing.shape() {
        Ok(shape) if buffer.shape == shape[..] => Ok(()),
        Ok(_) => Err(format!("the buffer `{}` has another shape than its packing", buffer.name)),
        Err(error) => Err(format!("the buffer `{}`: {}", buffer.name, error.message())),
    }
}

/// Whether there may be a tensor of this shape, this many times.
fn is_possible(shape: &[usize], copies: usize) -> bool {
    shape.iter().try_fold(copies, |product, &size| product.checked_mul(size)).is_some_and(|all| all <= LIMIT)
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
