//! The placement of weights and their state on a mesh, and the bytes that ranks send to one another in an update.

use super::listing::runs;
use crate::compile::{CompileOptions, for_role};
use crate::session::Session;
use crate::source::Source;
use halite_bundle::{Buffer, BufferRole, Manifest, ModuleRole};
use halite_ir::paths::family;
use halite_ir::{Module, Wire, wire};
use halite_passes::{Runner, RunnerOptions};
use halite_support::{Diagnostic, Diagnostics};
use halite_tensor::Mesh;
use indexmap::IndexMap;
use serde::Serialize;

/// A step on a mesh.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Placement {
    /// The axes of the mesh and their sizes, the major one first.
    pub axes: Vec<(String, usize)>,
    /// The placement of weights and their state.
    pub buffers: Vec<PlacedBuffers>,
    /// The collectives of an update; `None` of a bundle, which does not tell.
    pub traffic: Option<Vec<Traffic>>,
}

/// Buffers that differ in their layer alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct PlacedBuffers {
    /// Their name, with `*` for the layer.
    pub name: String,
    /// The number of these buffers.
    pub count: u64,
    /// Sizes of the whole buffer.
    pub shape: Vec<usize>,
    /// For each dimension the axes that shard it: `tensor`, or `tensor/4` where 4 ranks of more do.
    pub axes: Vec<String>,
    /// Bytes of all of them that a rank holds.
    pub bytes: u64,
}

/// Collectives of one kind in one function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Traffic {
    /// The module.
    pub module: String,
    /// The function.
    pub function: String,
    /// The op.
    pub op: String,
    /// The axes along which ranks act together.
    pub axis: String,
    /// The number of runs in an update.
    pub count: u64,
    /// Bytes that a rank sends in an update, around rings.
    pub bytes: u64,
}

impl Placement {
    /// The placement that a manifest tells, without collectives.
    pub fn of(manifest: &Manifest) -> Self {
        let axes = manifest.mesh.axes().iter().map(|axis| (axis.name.clone(), axis.size)).collect();
        Self { axes, buffers: placed(manifest), traffic: None }
    }
}

impl Session {
    /// The placement of a recipe's state on its mesh, and the bytes that ranks send to one another in an update.
    ///
    /// # Errors
    /// When the recipe does not compile.
    pub fn placement(&self, source: &Source) -> Result<Placement, Diagnostics> {
        Ok(self.placed(source)?.1)
    }

    /// As [`placement`](Self::placement), with the manifest of the recipe's step.
    ///
    /// # Errors
    /// When the recipe does not compile.
    pub fn placed(&self, source: &Source) -> Result<(Manifest, Placement), Diagnostics> {
        let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
        let manifest = self.compile(source, &options)?.bundle.manifest;
        let mut traffic = IndexMap::new();
        for (name, calls) in manifest.calls() {
            let entry = manifest.modules.iter().find(|module| module.name == name);
            let entry = entry.ok_or_else(|| Diagnostic::bug("a call of no module"))?;
            let mut module = for_role(&self.elaborate(source)?.module, self.roles.get(&entry.role)?);
            let cx = self.pass_cx(Some(&source.recipe), None)?;
            Runner::new(RunnerOptions::default()).run(&self.pipeline(&entry.role)?, &mut module, &cx)?;
            add_traffic(&mut traffic, &manifest.mesh, &module, (name, calls));
        }
        let placement = Placement { traffic: Some(traffic.into_values().collect()), ..Placement::of(&manifest) };
        Ok((manifest, placement))
    }
}

/// Weights, then each slot of their state, layers together.
fn placed(manifest: &Manifest) -> Vec<PlacedBuffers> {
    let mut all: IndexMap<(String, Vec<usize>, Vec<String>), PlacedBuffers> = IndexMap::new();
    let of_weight = |buffer: &&Buffer| match &buffer.role {
        BufferRole::Weight(_) => true,
        BufferRole::State(spec) => spec.of.is_some(),
        BufferRole::Batch(_) => false,
    };
    for buffer in manifest.buffers.iter().filter(of_weight) {
        let none = || vec![String::new(); buffer.shape.len()];
        let dims = buffer.sharding.iter().flat_map(|sharding| &sharding.0);
        let axes: Vec<String> =
            dims.map(|digits| manifest.mesh.along(digits.iter().map(|digit| digit.sub_axis))).collect();
        let axes = if axes.is_empty() { none() } else { axes };
        let bytes = buffer.local_bytes();
        let (name, shape) = (family(&buffer.name), buffer.shape.clone());
        let key = (name.clone(), shape.clone(), axes.clone());
        let row = all.entry(key).or_insert(PlacedBuffers { name, count: 0, shape, axes, bytes: 0 });
        (row.count, row.bytes) = (row.count + 1, row.bytes + bytes);
    }
    all.into_values().collect()
}

type Key = (String, String, String, String);

/// Adds the traffic of so many calls of a module.
fn add_traffic(all: &mut IndexMap<Key, Traffic>, mesh: &Mesh, module: &Module, (name, calls): (&str, usize)) {
    let runs = runs(module);
    for (function, runs) in module.functions.iter().zip(runs) {
        let times = runs.saturating_mul(calls as u64);
        for inst in &function.insts {
            let Some(sent) = wire(function, inst) else { continue };
            let (axis, op) = (axis(mesh, &sent), inst.op.name().to_owned());
            let (module, function) = (name.to_owned(), function.name.to_string());
            let key = (module.clone(), function.clone(), op.clone(), axis.clone());
            let row = all.entry(key).or_insert(Traffic { module, function, op, axis, count: 0, bytes: 0 });
            row.count = row.count.saturating_add(times);
            row.bytes = row.bytes.saturating_add(sent.bytes.saturating_mul(times));
        }
    }
}

/// The axes along which the ranks of a group differ.
fn axis(mesh: &Mesh, wire: &Wire<'_>) -> String {
    let Some(groups) = wire.groups else { return "pairs".to_owned() };
    let Some(group) = groups.lists().into_iter().next() else { return "none".to_owned() };
    let differs = |&sub_axis: &usize| {
        group.iter().any(|&rank| mesh.coordinate(sub_axis, rank) != mesh.coordinate(sub_axis, group[0]))
    };
    mesh.along((0..mesh.sub_axes().len()).filter(differs))
}
