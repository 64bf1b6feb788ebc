//! The time of an update.

use super::Machine;
use super::module::{ModuleTime, module_time};
use super::play::{Played, play};
use halite_bundle::{Action, Manifest, ModuleEntry, Port, Transfer};
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};

/// The time of an update, by cause, in seconds: of a rank of the mean stage.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepTime {
    /// Products of matrices.
    pub products: f64,
    /// All other arithmetic, and moving data in device memory, but for modules that update alone.
    pub other: f64,
    /// Collectives that all else waits for, by the axes of the mesh along which they go.
    pub wire: IndexMap<String, f64>,
    /// Collectives that are written ahead of time, as far as nothing is left to run beside them.
    pub exposed: f64,
    /// The time of executions beside their work.
    pub launch: f64,
    /// Modules that update alone, but for their collectives.
    pub optimizer: f64,
    /// Waiting for other stages.
    pub bubble: f64,
    /// Collectives that run beside other work, which the total does not hold.
    pub hidden: f64,
    /// From begin to end.
    pub total: f64,
}

/// The time of an update of a bundle on a machine; `None` where a module has no estimate of its work, or nothing is scheduled.
pub fn step_time(manifest: &Manifest, machine: &Machine) -> Option<StepTime> {
    let parallel = manifest.recipe.parallel.as_ref();
    let ahead: &[&str] = if parallel.is_some_and(|own| own.fsdp_prefetch > 0) { &["fsdp"] } else { &[] };
    let time = |entry: &ModuleEntry| Some(module_time(&entry.estimate.as_ref()?.work, machine, &manifest.mesh, ahead));
    let called: Vec<&str> = runs(&manifest.schedule).map(|(name, _)| name).collect();
    let entries = manifest.modules.iter().filter(|entry| called.contains(&entry.name.as_str()));
    let times: Option<HashMap<&str, ModuleTime>> =
        entries.map(|entry| Some((entry.name.as_str(), time(entry)?))).collect();
    let times = times.filter(|times| !times.is_empty())?;
    let transfers: HashMap<&str, f64> = manifest
        .transfers
        .iter()
        .map(|transfer| (transfer.name.as_str(), transfer_seconds(manifest, machine, transfer)))
        .collect();
    let run = |name: &str| times.get(name).map(ModuleTime::total);
    let Played { end, busy } = play(&manifest.schedule, run, |name| transfers.get(name).copied())?;
    let stages = manifest.schedule.len().max(1) as f64;
    let mut step = StepTime { total: end, bubble: end - busy.iter().sum::<f64>() / stages, ..StepTime::default() };
    // What is run once an update, and not for each micro-batch.
    let updates: HashSet<&str> = manifest.schedule.iter().flatten().filter_map(once).collect();
    for (name, count) in runs(&manifest.schedule) {
        let Some(time) = times.get(name) else { continue };
        let share = count as f64 / stages;
        step.launch += share * time.launch;
        step.hidden += share * time.hidden;
        step.exposed += share * time.exposed;
        for (axes, seconds) in &time.wire {
            *step.wire.entry(axes.clone()).or_default() += share * seconds;
        }
        if updates.contains(&name) {
            step.optimizer += share * time.compute();
        } else {
            step.products += share * time.products;
            step.other += share * time.other;
        }
    }
    step.wire.sort_unstable_keys();
    Some(step)
}

/// The module of an action that reads no piece of the batch.
fn once(action: &Action) -> Option<&str> {
    match action {
        Action::Run { module, pieces: None } => Some(module),
        _ => None,
    }
}

/// The modules that lists of stages run, and how often.
fn runs(lists: &[Vec<Action>]) -> impl Iterator<Item = (&str, usize)> {
    lists.iter().flatten().filter_map(|action| match action {
        Action::Run { module, pieces } => Some((module.as_str(), pieces.as_ref().map_or(1, |pieces| pieces.len()))),
        _ => None,
    })
}

/// The seconds that the values of a transfer take from a rank to that of another stage which takes its place.
fn transfer_seconds(manifest: &Manifest, machine: &Machine, transfer: &Transfer) -> f64 {
    let ports = manifest.modules.iter().filter(|entry| entry.stage == transfer.from).flat_map(|entry| &entry.outputs);
    let of_port = |port: &Port| port.local_shape().num_elements() as u64 * port.dtype.size() as u64;
    let sizes: HashMap<&str, u64> = ports.map(|port| (port.name.as_str(), of_port(port))).collect();
    let bytes: u64 = transfer.values.iter().filter_map(|name| sizes.get(name.as_str())).sum();
    let apart = (manifest.mesh.num_ranks() * transfer.from.abs_diff(transfer.to)) as u64;
    let link = machine.links.iter().position(|link| link.ranks == 0 || apart < link.ranks);
    let Some((at, link)) = link.map(|at| (at, &machine.links[at])) else { return 0.0 };
    bytes as f64 / (link.bandwidth * machine.efficiency.link(at)) + link.latency
}
