//! A manifest as it is written. A port that is its buffer, or replaces it, is its name alone.

use super::{Decomposition, Launch, Manifest, ModelInfo, ModuleEntry, Port, PortRole, RoundingChoice, Statistics};
use crate::estimate::Estimate;
use crate::{Action, Buffer, ModuleRole, Transfer};
use halite_recipe::Recipe;
use halite_tensor::Mesh;
use indexmap::IndexMap;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;
use std::fmt;

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename = "Manifest", deny_unknown_fields)]
pub(super) struct ManifestJson {
    version: u32,
    model: ModelInfo,
    recipe: Recipe,
    #[serde(default, skip_serializing_if = "is_one_rank")]
    mesh: Mesh,
    buffers: Vec<Buffer>,
    modules: Vec<ModuleJson>,
    schedule: Vec<Vec<Action>>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    roles: IndexMap<ModuleRole, Vec<Vec<Action>>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    transfers: Vec<Transfer>,
    rounding: RoundingChoice,
    environment: IndexMap<String, String>,
    flags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    launch: Option<Launch>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    platform: Option<String>,
    statistics: Statistics,
}

fn is_one_rank(mesh: &Mesh) -> bool {
    mesh.axes().is_empty()
}

fn is_first(stage: &usize) -> bool {
    *stage == 0
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename = "ModuleEntry", deny_unknown_fields)]
struct ModuleJson {
    name: String,
    role: ModuleRole,
    #[serde(default, skip_serializing_if = "is_first")]
    stage: usize,
    file: String,
    sha256: String,
    inputs: Vec<PortJson>,
    outputs: Vec<PortJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    estimate: Option<Estimate>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    decompositions: Vec<Decomposition>,
}

/// A port: its buffer by name, or all that there is to say.
#[derive(Clone, Serialize)]
#[serde(untagged)]
enum PortJson {
    Buffer(String),
    Port(Box<Port>),
}

impl<'de> Deserialize<'de> for PortJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PortVisitor)
    }
}

struct PortVisitor;

impl<'de> Visitor<'de> for PortVisitor {
    type Value = PortJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a buffer, or a port")
    }

    fn visit_str<E>(self, name: &str) -> Result<PortJson, E> {
        Ok(PortJson::Buffer(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PortJson, A::Error> {
        Port::deserialize(MapAccessDeserializer::new(map)).map(|port| PortJson::Port(Box::new(port)))
    }
}

/// The port that reads a buffer.
fn reading(buffer: &Buffer) -> Port {
    Port {
        name: buffer.name.clone(),
        dtype: buffer.dtype,
        shape: buffer.shape.clone(),
        sharding: buffer.sharding.clone(),
        role: PortRole::Buffer,
        alias: None,
        ranges: Vec::new(),
    }
}

type Buffers<'b> = HashMap<&'b str, &'b Buffer>;

fn by_name(buffers: &[Buffer]) -> Buffers<'_> {
    buffers.iter().map(|buffer| (buffer.name.as_str(), buffer)).collect()
}

/// One form of a manifest made of the other, given its modules; all else is the same in both.
macro_rules! with_modules {
    ($manifest:ident as $From:ident => $To:ident, |$given:ident, $buffers:ident| $modules:expr) => {{
        with_modules!($manifest $From $To $given $buffers $modules;
            version model recipe mesh schedule roles transfers rounding environment flags launch platform statistics)
    }};
    ($manifest:ident $From:ident $To:ident $given:ident $buffers:ident $modules:expr; $($field:ident)*) => {{
        let $From { modules: $given, buffers, $($field),* } = $manifest;
        let modules = {
            let $buffers = by_name(&buffers);
            $modules
        };
        $To { modules, buffers, $($field),* }
    }};
}

impl From<Manifest> for ManifestJson {
    fn from(manifest: Manifest) -> Self {
        with_modules!(manifest as Manifest => ManifestJson, |modules, buffers| {
            modules.into_iter().map(|module| written(module, &buffers)).collect()
        })
    }
}

fn written(module: ModuleEntry, buffers: &Buffers<'_>) -> ModuleJson {
    let ModuleEntry { name, role, stage, file, sha256, inputs, outputs, estimate, decompositions } = module;
    let positions: HashMap<&str, usize> =
        inputs.iter().enumerate().map(|(at, port)| (port.name.as_str(), at)).collect();
    let short = |port: &Port, alias: Option<usize>| match buffers.get(port.name.as_str()) {
        Some(buffer) if *port == (Port { alias, ..reading(buffer) }) => PortJson::Buffer(port.name.clone()),
        _ => PortJson::Port(Box::new(port.clone())),
    };
    let replaced = |port: &Port| {
        let alias = positions.get(port.name.as_str()).copied();
        // Without an input of its name, an output does not replace a buffer.
        if alias.is_some() { short(port, alias) } else { PortJson::Port(Box::new(port.clone())) }
    };
    let outputs = outputs.iter().map(replaced).collect();
    let inputs = inputs.iter().map(|port| short(port, None)).collect();
    ModuleJson { name, role, stage, file, sha256, inputs, outputs, estimate, decompositions }
}

impl TryFrom<ManifestJson> for Manifest {
    type Error = String;

    fn try_from(json: ManifestJson) -> Result<Self, String> {
        Ok(with_modules!(json as ManifestJson => Manifest, |modules, buffers| {
            modules.into_iter().map(|module| read(module, &buffers)).collect::<Result<_, _>>()?
        }))
    }
}

fn read(module: ModuleJson, buffers: &Buffers<'_>) -> Result<ModuleEntry, String> {
    let ModuleJson { name, role, stage, file, sha256, inputs, outputs, estimate, decompositions } = module;
    let port = |port: PortJson| match port {
        PortJson::Port(port) => Ok(*port),
        PortJson::Buffer(of) => {
            let buffer = buffers.get(of.as_str());
            buffer.map(|buffer| reading(buffer)).ok_or_else(|| format!("`{of}` of the module `{name}` is no buffer"))
        }
    };
    let inputs: Vec<Port> = inputs.into_iter().map(port).collect::<Result<_, _>>()?;
    let positions: HashMap<&str, usize> =
        inputs.iter().enumerate().map(|(at, port)| (port.name.as_str(), at)).collect();
    let replaced = |output: PortJson| match &output {
        PortJson::Port(_) => port(output),
        PortJson::Buffer(of) => {
            let alias = positions.get(of.as_str()).copied();
            let alias = alias.ok_or_else(|| format!("`{of}` of the module `{name}` replaces no input"))?;
            Ok(Port { alias: Some(alias), ..port(output)? })
        }
    };
    let outputs = outputs.into_iter().map(replaced).collect::<Result<_, _>>()?;
    Ok(ModuleEntry { name, role, stage, file, sha256, inputs, outputs, estimate, decompositions })
}
