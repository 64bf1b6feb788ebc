//! Reading a bundle without trusting it.

use super::{Bundle, MANIFEST, schedule, sha256};
use crate::{
    Buffer, BufferRole, MANIFEST_VERSION, Manifest, ManifestRules, ModuleEntry, Port, PortRole, RoundingChoice,
    check_shardings, micro_batches,
};
use halite_recipe::check_visible;
use halite_support::{Diagnostic, Result, codes, files};
use halite_tensor::{DType, HostTensor, Init, Packing};
use indexmap::{IndexMap, IndexSet};
use std::path::{Component, Path};

const AGAIN: &str = "compile the bundle again";
/// Most elements of a tensor.
const LIMIT: usize = 1 << 40;
/// Most ranks that a tensor is packed for.
const RANKS: usize = 1 << 16;

pub(super) fn read(folder: &Path, rules: &dyn ManifestRules) -> Result<Bundle> {
    let path = folder.join(MANIFEST);
    if !path.is_file() {
        let message = format!("`{}` is not a bundle: it has no `{MANIFEST}`", folder.display());
        return Err(Diagnostic::error(codes::BUNDLE, message).help("make one with `halite compile ... -o DIR`"));
    }
    let manifest = parse(&path, &files::read_text(&path)?)?;
    check_parts(&manifest).map_err(|reason| wrong(&path, &reason))?;
    check_recipe(&manifest, rules)
        .map_err(|error| error.context(format!("the manifest `{}`", path.display())).help(AGAIN))?;
    let file = |(name, sum): (&String, &str)| {
        let path = folder.join(name);
        let bytes = files::read(&path).map_err(|error| error.help(AGAIN))?;
        check_file(&path, &bytes, sum)?;
        Ok((name.clone(), bytes))
    };
    let files = stated(&manifest).map(file).collect::<Result<IndexMap<_, _>>>()?;
    Ok(Bundle { manifest, files })
}

/// Checks a manifest and its files that come from no folder.
pub(super) fn check(manifest: &Manifest, files: &IndexMap<String, Vec<u8>>, rules: &dyn ManifestRules) -> Result<()> {
    check_version(manifest.version.into(), "the manifest")?;
    check_parts(manifest).map_err(|reason| contradiction(&reason))?;
    check_recipe(manifest, rules).map_err(|error| error.context("the manifest").help(AGAIN))?;
    for (name, sum) in stated(manifest) {
        let bytes = files.get(name).ok_or_else(|| contradiction(&format!("its file `{name}` is missing")))?;
        check_file(Path::new(name), bytes, sum)?;
    }
    check_names(files)
}

/// Checks that files lie in the folder that a bundle is written to.
pub(super) fn check_names(files: &IndexMap<String, Vec<u8>>) -> Result<()> {
    match files.keys().find(|name| !stays_inside(name)) {
        Some(name) => Err(contradiction(&format!("the file `{name}` is outside the bundle"))),
        None => Ok(()),
    }
}

/// The files of modules and of their decompositions, each with its sum.
fn stated(manifest: &Manifest) -> impl Iterator<Item = (&String, &str)> {
    manifest.modules.iter().flat_map(|module| {
        let decompositions =
            module.decompositions.iter().map(|decomposition| (&decomposition.file, decomposition.sha256.as_str()));
        std::iter::once((&module.file, module.sha256.as_str())).chain(decompositions)
    })
}

fn parse(path: &Path, text: &str) -> Result<Manifest> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| wrong(path, &error.to_string()))?;
    match value.get("version").map(|version| version.as_u64()) {
        Some(Some(version)) => check_version(version, &format!("`{}`", path.display()))?,
        _ => return Err(wrong(path, "it states no version")),
    }
    serde_json::from_str(text).map_err(|error| wrong(path, &error.to_string()))
}

fn check_version(version: u64, what: &str) -> Result<()> {
    if version == u64::from(MANIFEST_VERSION) {
        return Ok(());
    }
    let message = format!("{what} has version {version}, this build reads version {MANIFEST_VERSION}");
    Err(Diagnostic::error(codes::VERSION, message).help("compile the recipe again"))
}

fn wrong(path: &Path, reason: &str) -> Diagnostic {
    let message = format!("`{}` is not a manifest of version {MANIFEST_VERSION}: {reason}", path.display());
    Diagnostic::error(codes::BUNDLE, message).help(AGAIN)
}

/// The diagnostic on a manifest that is no file.
pub fn contradiction(reason: &str) -> Diagnostic {
    Diagnostic::error(codes::BUNDLE, format!("the manifest contradicts itself: {reason}")).help(AGAIN)
}

fn check_file(path: &Path, bytes: &[u8], sum: &str) -> Result<()> {
    let found = sha256(bytes);
    if found == sum {
        return Ok(());
    }
    let message = format!("`{}` is not the file that the manifest describes", path.display());
    let sums = format!("its SHA-256 is {found}, the manifest says {sum}");
    Err(Diagnostic::error(codes::CHECKSUM, message).note(sums).help(AGAIN))
}

fn check_parts(manifest: &Manifest) -> std::result::Result<(), String> {
    check_visible(manifest).map_err(|error| error.message().to_owned())?;
    check_buffers(&manifest.buffers)?;
    check_modules(manifest)?;
    check_shardings(manifest, &manifest.modules)
}

/// Checks of buffers beyond those of serde: names are unique, references lead somewhere, sizes can be, samples are of floats.
pub(crate) fn check_buffers(buffers: &[Buffer]) -> std::result::Result<(), String> {
    let mut names = IndexMap::new();
    for buffer in buffers {
        if names.insert(buffer.name.as_str(), buffer).is_some() {
            return Err(format!("the buffer `{}` is listed twice", buffer.name));
        }
        if !is_possible(&buffer.shape, 1) {
            return Err(format!("the buffer `{}` is too large", buffer.name));
        }
        check_role(buffer)?;
        check_start(buffer)?;
    }
    for buffer in buffers {
        let Some(of) = buffer.of() else { continue };
        let Some(weight) = names.get(of) else {
            return Err(format!("the buffer `{}` belongs to `{of}`, which is no buffer", buffer.name));
        };
        if buffer.starts_as().is_some() && !(weight.is_weight() && weight.shape == buffer.shape) {
            return Err(format!("the buffer `{}` starts as `{of}`, which is no weight of its shape", buffer.name));
        }
    }
    check_packings(buffers, &names)
}

/// Checks that there can be such state, and that a weight starts by itself.
fn check_role(buffer: &Buffer) -> std::result::Result<(), String> {
    let name = &buffer.name;
    match &buffer.role {
        BufferRole::Weight(Init::Weight) => {
            Err(format!("the weight `{name}` starts as a weight, which only state can"))
        }
        BufferRole::State(spec) => spec.check().map_err(|error| format!("the buffer `{name}`: {}", error.message())),
        BufferRole::Batch(_) | BufferRole::Weight(_) => Ok(()),
    }
}

/// Checks that weights are floats, and so is what starts as they do or from normal samples; and that the element type holds a
/// constant.
fn check_start(buffer: &Buffer) -> std::result::Result<(), String> {
    let Buffer { name, dtype, .. } = buffer;
    match (buffer.init(), buffer.init().and_then(Init::fault)) {
        (Some(Init::Constant(value)), _) if !is_held(*dtype, value) => {
            return Err(format!("the buffer `{name}` starts at {value}, which is no number of `{dtype}`"));
        }
        (_, Some((expected, found))) => {
            return Err(format!("the buffer `{name}` starts from {found}, expected {expected}"));
        }
        _ => {}
    }
    let is_real = buffer.starts_as().is_some() || buffer.init().is_some_and(Init::is_random);
    if dtype.is_float() || !is_real {
        return Ok(());
    }
    Err(format!("the buffer `{name}` is `{dtype}`, which is not a type of floats"))
}

/// Whether an element type holds a number: floats may round it, others have it.
fn is_held(dtype: DType, value: f64) -> bool {
    let held = HostTensor::scalar(dtype, value).f64s().first().copied();
    value.is_finite() && held.is_some_and(|held| if dtype.is_float() { held.is_finite() } else { held == value })
}

/// Checks of modules beyond those of serde: names are unique, inputs and outputs are buffers, files stay in the folder.
fn check_modules(manifest: &Manifest) -> std::result::Result<(), String> {
    let buffers: IndexMap<_, _> = manifest.buffers.iter().map(|buffer| (buffer.name.as_str(), buffer)).collect();
    let mut names = IndexSet::new();
    for module in &manifest.modules {
        if !names.insert(module.name.as_str()) {
            return Err(format!("the module `{}` is listed twice", module.name));
        }
        if !stays_inside(&module.file) {
            return Err(format!("the module `{}` has its file `{}` outside the bundle", module.name, module.file));
        }
        if let Some(decomposition) =
            module.decompositions.iter().find(|decomposition| !stays_inside(&decomposition.file))
        {
            return Err(format!(
                "the decomposition `{}` has its file `{}` outside the bundle",
                decomposition.name, decomposition.file
            ));
        }
        let known = |port: &Port| {
            let buffer = buffers.get(port.name.as_str());
            port.role != PortRole::Buffer || buffer.is_some_and(|buffer| micro_batches(port, buffer).is_some())
        };
        if let Some(port) = module.inputs.iter().chain(&module.outputs).find(|port| !known(port)) {
            return Err(format!("`{}` of the module `{}` is no buffer of that type", port.name, module.name));
        }
        check_ports(module)?;
    }
    schedule::check(manifest)
}

/// Checks that inputs and outputs go by their names, and that each alias has an input of its own.
pub fn check_ports(module: &ModuleEntry) -> std::result::Result<(), String> {
    let twice = |ports: &[Port]| {
        let mut names = IndexSet::new();
        ports.iter().find(|port| !names.insert(port.name.as_str())).map(|port| port.name.clone())
    };
    for (kind, ports) in [("input", &module.inputs), ("output", &module.outputs)] {
        if let Some(name) = twice(ports) {
            return Err(format!("the {kind} `{name}` of the module `{}` is listed twice", module.name));
        }
    }
    let mut taken = IndexSet::new();
    for port in &module.outputs {
        let Some(input) = port.alias else { continue };
        let Some(input) = module.inputs.get(input) else {
            return Err(format!("`{}` of the module `{}` aliases an input that is not there", port.name, module.name));
        };
        if !taken.insert(input.name.as_str()) {
            return Err(format!("two outputs of the module `{}` alias its input `{}`", module.name, input.name));
        }
    }
    Ok(())
}

/// Checks that buffers of several tensors have the shape that follows, that state is stored as its weight, and each tensor once.
fn check_packings(buffers: &[Buffer], named: &IndexMap<&str, &Buffer>) -> std::result::Result<(), String> {
    let mut tensors = IndexSet::new();
    for buffer in buffers {
        let (name, of) = (&buffer.name, buffer.of());
        let weight = of.and_then(|of| named.get(of));
        if weight.is_some_and(|weight| weight.packing != buffer.packing) {
            return Err(format!("the buffer `{name}` is stored otherwise than `{}`", of.unwrap_or_default()));
        }
        match &buffer.packing {
            None => {}
            Some(_) if !buffer.is_weight() && !of.is_some_and(|of| name.ends_with(of)) => {
                return Err(format!("the buffer `{name}` stores several tensors without being a weight's"));
            }
            Some(packing) => check_packing(buffer, packing)?,
        }
        if let Some(twice) = buffer.tensor_names().into_iter().find(|name| !tensors.insert(name.clone())) {
            return Err(format!("the tensor `{twice}` is stored twice"));
        }
    }
    Ok(())
}

fn check_packing(buffer: &Buffer, packing: &Packing) -> std::result::Result<(), String> {
    if packing.ranks > RANKS {
        return Err(format!(
            "the buffer `{}` is packed for {} ranks, at most {RANKS} can be",
            buffer.name, packing.ranks
        ));
    }
    if let Some(part) = packing.parts.iter().find(|part| part.shape.contains(&0)) {
        return Err(format!("the buffer `{}` packs `{}`, which has no elements", buffer.name, part.name));
    }
    if !packing.parts.iter().all(|part| is_possible(&part.padded(), part.copies)) {
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

/// Checks that the recipe goes together, and that rounding and all that its target derives follow from it.
fn check_recipe(manifest: &Manifest, rules: &dyn ManifestRules) -> Result<()> {
    rules.check(manifest)?;
    if manifest.rounding == RoundingChoice::of(&manifest.recipe.precision) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::ENVIRONMENT, "the rounding is not that of its recipe"))
}

fn stays_inside(file: &str) -> bool {
    !file.is_empty() && Path::new(file).components().all(|component| matches!(component, Component::Normal(_)))
}
