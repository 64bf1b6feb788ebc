//! The schedule of an update: what the ranks of each stage run, send and receive.

use super::stages::StageOf;
use halite_bundle::{Action, Manifest, ModuleEntry, ModuleRole, Port, PortRole, Transfer};
use halite_ir::StageTask;
use halite_recipe::Recipe;
use halite_schedule::{self as pipeline, Crossing, Schedule, Task, Transport};
use halite_support::{Diagnostic, Result};
use indexmap::{IndexMap, IndexSet};
use std::collections::HashSet;

/// The actions of the ranks of each stage in an update, and the values that go from stage to stage.
#[derive(Debug, Default)]
pub(super) struct Update {
    pub(super) schedule: Vec<Vec<Action>>,
    /// The same for each role that is no part of an update and that several stages do together.
    pub(super) roles: IndexMap<ModuleRole, Vec<Vec<Action>>>,
    pub(super) transfers: Vec<Transfer>,
}

impl Update {
    /// That of the modules of a manifest that are called so often, by name. Each is one of a stage, or none is.
    ///
    /// # Errors
    /// When the recipe has no such schedule.
    pub(super) fn of(
        manifest: &Manifest,
        counts: &IndexMap<String, usize>,
        stages: &[Option<StageOf>],
    ) -> Result<Self> {
        let of_stages = manifest.modules.iter().zip(stages).filter_map(|(entry, stage)| Some(((*stage)?, entry)));
        let of_stages: Vec<(StageOf, &ModuleEntry)> = of_stages.collect();
        if !of_stages.is_empty() {
            let is_called = |(_, entry): &&(StageOf, &ModuleEntry)| counts.contains_key(&entry.name);
            let called: Vec<_> = of_stages.iter().filter(is_called).copied().collect();
            let mut update = Self::of_stages(&called, &of_stages, &manifest.recipe)?;
            let others: IndexSet<ModuleRole> = of_stages
                .iter()
                .filter(|(_, entry)| !counts.contains_key(&entry.name))
                .map(|(_, entry)| entry.role.clone())
                .collect();
            others.iter().for_each(|role| update.add_role(role, &of_stages, manifest.num_stages()));
            return Ok(update);
        }
        let action = |(name, &count): (&String, &usize)| {
            let entry = manifest.modules.iter().find(|entry| entry.name == *name);
            let reads_batch = entry.is_none_or(|entry| manifest.micro_batches_of(entry) != Some(0));
            let pieces = (reads_batch || count > 1).then_some(0..count);
            Action::Run { module: name.clone(), pieces }
        };
        let schedule = if counts.is_empty() { Vec::new() } else { vec![counts.iter().map(action).collect()] };
        Ok(Self { schedule, ..Self::default() })
    }

    /// That of stages which call some of their modules.
    ///
    /// # Errors
    /// When the recipe has no such schedule.
    fn of_stages(
        called: &[(StageOf, &ModuleEntry)],
        modules: &[(StageOf, &ModuleEntry)],
        recipe: &Recipe,
    ) -> Result<Self> {
        if called.is_empty() {
            return Ok(Self::default());
        }
        let (pipeline, kind) = recipe.pipeline()?;
        let schedule = Schedule::new(kind, pipeline, Transport::Buffered);
        let schedule = schedule.map_err(|error| Diagnostic::bug(format!("a schedule that was refused: {error}")))?;
        let by_task: IndexMap<StageTask, &ModuleEntry> = called.iter().map(|(of, entry)| (of.task, *entry)).collect();
        let mut writer = Writer { held: held(modules, pipeline.stages()), by_task, update: Self::default() };
        writer.hand_on(&schedule);
        writer.micro_batches(&schedule);
        writer.rounds(pipeline.stages());
        writer.share(pipeline.stages());
        Ok(writer.update)
    }

    /// Adds what stages do for a role that is no part of an update: one module after another.
    fn add_role(&mut self, role: &ModuleRole, modules: &[(StageOf, &ModuleEntry)], stages: usize) {
        let mut own: Vec<&(StageOf, &ModuleEntry)> = modules.iter().filter(|(_, entry)| entry.role == *role).collect();
        own.sort_by_key(|(of, _)| in_order(of.task));
        let mut made: IndexMap<&str, usize> = IndexMap::new();
        let mut known: HashSet<(usize, &str)> = HashSet::new();
        let mut lists: Vec<Vec<Action>> = vec![Vec::new(); stages];
        let piece = Some(0);
        for (_, entry) in own {
            let mut missing: IndexMap<usize, Vec<String>> = IndexMap::new();
            for name in values_of(&entry.inputs) {
                // A value that is made here, or was brought, is not brought again.
                if let Some(&from) = made.get(name).filter(|_| known.insert((entry.stage, name))) {
                    missing.entry(from).or_default().push(name.to_owned());
                }
            }
            for (from, values) in missing {
                let name = format!("{}_{from}", entry.name);
                lists[from].push(Action::Send { transfer: name.clone(), piece });
                lists[entry.stage].push(Action::Receive { transfer: name.clone(), piece });
                self.transfers.push(Transfer { name, from, to: entry.stage, values });
            }
            lists[entry.stage].push(Action::Run { module: entry.name.clone(), pieces: Some(0..1) });
            made.extend(values_of(&entry.outputs).map(|name| (name, entry.stage)));
            known.extend(values_of(&entry.outputs).map(|name| (entry.stage, name)));
        }
        self.roles.insert(role.clone(), lists);
    }
}

/// The order in which tasks are done one after another.
fn in_order(task: StageTask) -> (usize, usize) {
    match task {
        StageTask::Forward { part } => (0, part),
        StageTask::Backward { part } | StageTask::BackwardInput { part } => (1, usize::MAX - part),
        StageTask::BackwardWeights { part } => (2, part),
        StageTask::Update { stage, round } => (3 + round, stage),
    }
}

/// The state that modules of each stage read, by name.
fn held<'a>(modules: &[(StageOf, &'a ModuleEntry)], stages: usize) -> Vec<HashSet<&'a str>> {
    let mut held = vec![HashSet::new(); stages];
    for (_, entry) in modules {
        let state = entry.inputs.iter().filter(|port| port.role == PortRole::Buffer);
        held[entry.stage].extend(state.map(|port| port.name.as_str()));
    }
    held
}

struct Writer<'a> {
    by_task: IndexMap<StageTask, &'a ModuleEntry>,
    /// The state that each stage holds.
    held: Vec<HashSet<&'a str>>,
    update: Update,
}

impl<'a> Writer<'a> {
    /// The transfers between parts that follow one another, for each micro-batch.
    fn hand_on(&mut self, schedule: &Schedule) {
        let stages = schedule.pipeline();
        for (&task, entry) in &self.by_task {
            let (name, to, reader) = match task {
                StageTask::Forward { part } => (forward(part), part + 1, self.module(Task::Forward, part + 1)),
                StageTask::Backward { part: part @ 1.. } | StageTask::BackwardInput { part: part @ 1.. } => {
                    (backward(part), part - 1, self.module(Task::BackwardInput, part - 1))
                }
                _ => continue,
            };
            let Some(reader) = reader else { continue };
            let values = passed(entry, reader);
            let (from, to) = (entry.stage, stages.stage_of(to));
            if from != to && !values.is_empty() {
                self.update.transfers.push(Transfer { name, from, to, values });
            }
        }
    }

    /// The module that does a task of a schedule. A backward that is one is run where gradients by inputs are due.
    fn module(&self, task: Task, part: usize) -> Option<&'a ModuleEntry> {
        let whole = StageTask::Backward { part };
        let (own, whole) = match task {
            Task::Forward => (StageTask::Forward { part }, None),
            Task::Backward => (whole, None),
            Task::BackwardInput => (StageTask::BackwardInput { part }, Some(whole)),
            Task::BackwardWeights => (StageTask::BackwardWeights { part }, None),
        };
        let found = self.by_task.get(&own).or_else(|| self.by_task.get(&whole?));
        found.copied()
    }

    /// The actions of stages for each micro-batch.
    fn micro_batches(&mut self, schedule: &Schedule) {
        let named = |name: String| self.update.transfers.iter().any(|own| own.name == name).then_some(name);
        let action = |action: &pipeline::Action| match *action {
            pipeline::Action::Run(run) => {
                let module = self.module(run.task, run.part)?.name.clone();
                Some(Action::Run { module, pieces: Some(run.micro_batch..run.micro_batch + 1) })
            }
            pipeline::Action::Send(sent) => {
                Some(Action::Send { transfer: named(name_of(sent))?, piece: Some(sent.micro_batch) })
            }
            pipeline::Action::Receive(sent) => {
                Some(Action::Receive { transfer: named(name_of(sent))?, piece: Some(sent.micro_batch) })
            }
            pipeline::Action::Reduce | pipeline::Action::Update => None,
        };
        let lists: Vec<Vec<Action>> =
            schedule.stages().iter().map(|list| list.iter().filter_map(action).collect()).collect();
        self.update.schedule = lists;
    }

    /// The rounds of the update. Before each, stages give one another what others read.
    fn rounds(&mut self, stages: usize) {
        let updates = |(task, entry): (&StageTask, &&'a ModuleEntry)| match *task {
            StageTask::Update { stage, round } => Some(((stage, round), *entry)),
            _ => None,
        };
        let modules: IndexMap<(usize, usize), &ModuleEntry> = self.by_task.iter().filter_map(updates).collect();
        let rounds = modules.keys().map(|(_, round)| round + 1).max().unwrap_or(0);
        let made: IndexMap<&str, (usize, usize)> = modules
            .iter()
            .flat_map(|(&(stage, round), entry)| values_of(&entry.outputs).map(move |name| (name, (stage, round + 1))))
            .collect();
        // What nothing makes is state that another stage holds.
        let mut sent: IndexMap<(usize, usize, usize), IndexSet<String>> = IndexMap::new();
        for (&(to, _), entry) in &modules {
            for name in values_of(&entry.inputs) {
                let holder = || self.held.iter().position(|held| held.contains(name));
                let from = made.get(name).copied().or_else(|| Some((holder()?, 0)));
                let Some((from, round)) = from.filter(|(from, _)| *from != to) else { continue };
                sent.entry((round, from, to)).or_default().insert(name.to_owned());
            }
        }
        sent.sort_unstable_keys();
        for round in 0..rounds {
            let of_round = sent.iter().filter(|((own, ..), _)| *own == round);
            let transfers = of_round.map(|(&(_, from, to), values)| Transfer {
                name: format!("round_{round}_{from}_to_{to}"),
                from,
                to,
                values: values.iter().cloned().collect(),
            });
            let transfers: Vec<Transfer> = transfers.collect();
            self.once(transfers);
            for stage in 0..stages {
                if let Some(entry) = modules.get(&(stage, round)) {
                    self.update.schedule[stage].push(Action::Run { module: entry.name.clone(), pieces: None });
                }
            }
        }
    }

    /// Weights and counters that several stages hold: the one that updates them gives them to the others.
    fn share(&mut self, stages: usize) {
        let mut shared: IndexMap<(usize, usize), Vec<String>> = IndexMap::new();
        for entry in self.by_task.values() {
            for port in entry.outputs.iter().filter(|port| port.role == PortRole::Buffer) {
                let readers =
                    (0..stages).filter(|&stage| stage != entry.stage && self.held[stage].contains(port.name.as_str()));
                for stage in readers {
                    shared.entry((entry.stage, stage)).or_default().push(port.name.clone());
                }
            }
        }
        shared.sort_unstable_keys();
        let transfers = shared.into_iter().map(|((from, to), values)| Transfer {
            name: format!("state_{from}_to_{to}"),
            from,
            to,
            values,
        });
        self.once(transfers.collect());
    }

    /// Transfers that are made once, all at a time.
    fn once(&mut self, transfers: Vec<Transfer>) {
        for Transfer { name, from, .. } in &transfers {
            self.update.schedule[*from].push(Action::Send { transfer: name.clone(), piece: None });
        }
        for Transfer { name, to, .. } in &transfers {
            self.update.schedule[*to].push(Action::Receive { transfer: name.clone(), piece: None });
        }
        self.update.transfers.extend(transfers);
    }
}

/// The values that a module makes and another reads.
fn passed(from: &ModuleEntry, to: &ModuleEntry) -> Vec<String> {
    let read: IndexSet<&str> = values_of(&to.inputs).collect();
    values_of(&from.outputs).filter(|name| read.contains(name)).map(str::to_owned).collect()
}

/// The names of the values among ports.
fn values_of(ports: &[Port]) -> impl Iterator<Item = &str> {
    ports.iter().filter(|port| port.role == PortRole::Value).map(|port| port.name.as_str())
}

fn name_of(transfer: pipeline::Transfer) -> String {
    match transfer.crossing {
        Crossing::Activations => forward(transfer.part),
        Crossing::Gradients => backward(transfer.part),
    }
}

fn forward(part: usize) -> String {
    format!("forward_{part}")
}

fn backward(part: usize) -> String {
    format!("backward_{part}")
}
