//! The values of a module that are stored, and the step that stores each.

use super::backend::Backend;
use super::graph::{Access, Class, Graph, ValueId};
use halite_hlo::graph::Budget;
use halite_support::Result;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A step of [`Steps`].
pub(super) type StepId = u32;

/// The memory that holds the result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// Memory that is used again.
    Temporary,
    /// A result of the module.
    Result,
}

/// One run of an engine's program that stores one value.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The value that it stores.
    pub(super) value: ValueId,
    /// The size of that value in bytes.
    pub(super) bytes: u64,
    /// The memory that it is stored in.
    pub(super) home: Home,
    /// Whether it may store over an operand that nothing else reads.
    pub(super) in_place: bool,
    /// The value for which it runs: its own, or that of the reader who wants a copy.
    pub(super) reader: ValueId,
    /// The last parameter that it reads.
    pub(super) last_parameter: Option<ValueId>,
    reads: Range<u32>,
}

/// All steps, each after those that it reads.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The steps in the order of the module.
    pub(super) steps: Vec<Step>,
    reads: Vec<StepId>,
}

impl Steps {
    /// The steps whose results a step reads.
    pub(super) fn reads(&self, step: StepId) -> &[StepId] {
        let Range { start, end } = self.steps[step as usize].reads;
        &self.reads[start as usize..end as usize]
    }
}

/// Reductions of more elements than this run on an operand that is stored.
const MAX_FUSED_REDUCTION: u64 = 32;

/// The values of comparable size that a fused chain is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// None of its size, only smaller ones.
    Small,
    /// One value.
    One(ValueId),
    /// Several.
    Many,
}

/// Finds the steps of a module.
///
/// # Errors
/// When that takes more than an estimate may.
pub(super) fn steps(graph: &Graph<'_>, backend: Backend, budget: &mut Budget) -> Result<Steps> {
    let num = graph.values.len();
    let mut planner = Planner {
        graph,
        backend,
        stored: vec![None; num],
        users: vec![0; num],
        is_result: vec![false; num],
        latest_user: vec![0; num],
        stages: vec![0; num],
        copies: FxHashMap::default(),
        steps: Steps::default(),
        seen: vec![0; num],
        visit: 0,
        budget,
    };
    planner.survey();
    planner.plan()?;
    Ok(planner.steps)
}

struct Planner<'g, 'm, 'b> {
    graph: &'g Graph<'m>,
    backend: Backend,
    /// The step that stores a value for all its readers.
    stored: Vec<Option<StepId>>,
    users: Vec<u32>,
    is_result: Vec<bool>,
    /// Stored values on the longest way to a value.
    stages: Vec<u32>,
    /// The latest stage of a reader.
    latest_user: Vec<u32>,
    /// Steps that store a value for readers of one kind.
    copies: FxHashMap<(ValueId, Access), StepId>,
    steps: Steps,
    /// The last visit of each value.
    seen: Vec<u32>,
    visit: u32,
    budget: &'b mut Budget,
}

impl Planner<'_, '_, '_> {
    /// Counts users and stages.
    fn survey(&mut self) {
        for &result in self.graph.results() {
            self.is_result[result as usize] = true;
            self.users[result as usize] += 1;
        }
        for id in 0..self.graph.values.len() as ValueId {
            let mut stage = 0;
            for &operand in self.graph.operands(id) {
                self.users[operand as usize] += 1;
                let is_stored = !matches!(self.graph.value(operand).class, Class::Fused { .. } | Class::Parameter);
                stage = stage.max(self.stages[operand as usize] + u32::from(is_stored));
            }
            self.stages[id as usize] = stage;
            for &operand in self.graph.operands(id) {
                let latest = &mut self.latest_user[operand as usize];
                *latest = (*latest).max(stage);
            }
        }
    }

    fn plan(&mut self) -> Result<()> {
        let mut sources = vec![(Source::Small, false); self.graph.values.len()];
        for id in 0..self.graph.values.len() as ValueId {
            let value = self.graph.value(id);
            match value.class {
                Class::Parameter => {}
                Class::Fused { costly } => {
                    let (source, costly) = self.source(id, costly, &sources);
                    sources[id as usize] = (source, costly);
                    if self.is_stored_once(id, source, costly) {
                        let step = self.add_fused(id, id, Access::AsIs, self.width(id))?;
                        self.stored[id as usize] = Some(step);
                    } else if self.is_result[id as usize] {
                        self.add_fused(id, id, Access::AsIs, value.width)?;
                    }
                }
                class => self.add_whole(id, class)?,
            }
        }
        Ok(())
    }

    /// Returns the source of a fused value, and whether computing it from there is costly.
    fn source(&self, id: ValueId, costly: bool, sources: &[(Source, bool)]) -> (Source, bool) {
        let size = self.graph.value(id).elements;
        let mut costly = costly;
        let mut all = Source::Small;
        for &operand in self.graph.operands(id) {
            let is_fused = matches!(self.graph.value(operand).class, Class::Fused { .. });
            let source = if is_fused && self.stored[operand as usize].is_none() {
                let (source, inherited) = sources[operand as usize];
                costly |= inherited;
                source
            } else if self.graph.value(operand).elements.saturating_mul(2) > size {
                Source::One(operand)
            } else {
                Source::Small
            };
            all = match (all, source) {
                (known, Source::Small) => known,
                (Source::Small, source) => source,
                (known, source) if known == source => known,
                _ => Source::Many,
            };
        }
        (all, costly)
    }

    /// Whether a fused value with several users is stored for them instead of computed by each.
    fn is_stored_once(&self, id: ValueId, source: Source, costly: bool) -> bool {
        let at = id as usize;
        if self.users[at] < 2 {
            return false;
        }
        if costly {
            return true;
        }
        if source != Source::Many {
            return false;
        }
        let waits = self.latest_user[at] > self.stages[at];
        let rounds = self.backend.widens && self.graph.value(id).is_narrow;
        !self.backend.recomputes || self.is_result[at] || waits && !rounds
    }

    /// Bytes of an element of a value that is stored for other readers than products.
    fn width(&self, id: ValueId) -> u64 {
        let value = self.graph.value(id);
        if self.backend.widens && value.is_narrow && !self.is_result[id as usize] { 4 } else { value.width }
    }

    /// Adds the step of a fused value.
    fn add_fused(&mut self, id: ValueId, reader: ValueId, access: Access, width: u64) -> Result<StepId> {
        let mut sources = Sources::default();
        self.add_sources(id, &mut sources)?;
        let is_result = self.is_result[id as usize] && access == Access::AsIs;
        let home = if is_result { Home::Result } else { Home::Temporary };
        let bytes = self.graph.value(id).elements.saturating_mul(width);
        let in_place = access == Access::AsIs;
        let step = |last_parameter, reads| Step { value: id, bytes, home, in_place, reader, last_parameter, reads };
        Ok(self.push(sources, step))
    }

    fn push(&mut self, mut sources: Sources, step: impl FnOnce(Option<ValueId>, Range<u32>) -> Step) -> StepId {
        sources.steps.sort_unstable();
        sources.steps.dedup();
        let start = self.steps.reads.len() as u32;
        self.steps.reads.extend(&sources.steps);
        let reads = start..self.steps.reads.len() as u32;
        self.steps.steps.push(step(sources.last_parameter, reads));
        self.steps.steps.len() as StepId - 1
    }

    /// The step that stores a value as a reader wants it; `None` when a parameter is read as it is.
    fn copy(&mut self, id: ValueId, reader: ValueId, access: Access, width: u64) -> Result<Option<StepId>> {
        let value = self.graph.value(id);
        let stored = self.stored[id as usize];
        if access == Access::AsIs {
            match stored {
                Some(step) if self.steps.steps[step as usize].bytes == value.elements.saturating_mul(width) => {
                    return Ok(Some(step));
                }
                None if value.class == Class::Parameter && width == value.width => return Ok(None),
                _ => {}
            }
        }
        if let Some(&copy) = self.copies.get(&(id, access)) {
            return Ok(Some(copy));
        }
        let copy = self.add_fused(id, reader, access, width)?;
        self.copies.insert((id, access), copy);
        Ok(Some(copy))
    }

    /// Adds the step of a value that reads stored operands.
    fn add_whole(&mut self, id: ValueId, class: Class) -> Result<()> {
        let graph = self.graph;
        let mut sources = Sources::default();
        for (index, &operand) in graph.operands(id).iter().enumerate() {
            if self.is_read_where_made(operand, class, index) {
                self.add_sources(operand, &mut sources)?;
                continue;
            }
            let read = match class {
                Class::Dot(accesses) => self.dot_operand(operand, id, accesses[index.min(1)])?,
                Class::Call { .. } => self.copy(operand, id, Access::AsIs, graph.value(operand).width)?,
                // A parameter is read where it is, in the type that it has.
                _ if graph.value(operand).class == Class::Parameter => None,
                _ => self.copy(operand, id, Access::AsIs, self.width(operand))?,
            };
            match read {
                Some(step) => sources.steps.push(step),
                None => sources.last_parameter = sources.last_parameter.max(Some(operand)),
            }
        }
        let home = if self.is_result[id as usize] { Home::Result } else { Home::Temporary };
        let is_call = matches!(class, Class::Call { .. });
        let width = if is_call { graph.value(id).width } else { self.width(id) };
        let bytes = graph.value(id).elements.saturating_mul(width);
        let in_place = class == Class::Update;
        let step = |last_parameter, reads| Step { value: id, bytes, home, in_place, reader: id, last_parameter, reads };
        let step = self.push(sources, step);
        self.stored[id as usize] = Some(step);
        Ok(())
    }

    /// Whether an operand is computed inside its reader: scalars, positions, what few elements are reduced from.
    fn is_read_where_made(&self, operand: ValueId, class: Class, index: usize) -> bool {
        let is_fused = matches!(self.graph.value(operand).class, Class::Fused { .. });
        is_fused
            && match class {
                Class::Reduce { extent } if extent <= MAX_FUSED_REDUCTION => true,
                Class::Gather if index > 0 => true,
                Class::Call { .. } => false,
                _ => self.graph.value(operand).elements == 1,
            }
    }

    fn dot_operand(&mut self, operand: ValueId, reader: ValueId, access: Access) -> Result<Option<StepId>> {
        let value = self.graph.value(operand);
        match access {
            Access::AlongRows if self.backend.widens && value.is_narrow => self.copy(operand, reader, access, 4),
            Access::AlongRows => self.copy(operand, reader, Access::AsIs, value.width),
            access => self.copy(operand, reader, access, value.width),
        }
    }

    /// The step whose result stands for a value in arithmetic. A copy that is there for a product does, unless the compiler
    /// computes again.
    fn readable(&self, id: ValueId) -> Option<StepId> {
        let copy = || self.copies.get(&(id, Access::AsIs)).copied();
        self.stored[id as usize].or_else(|| if self.backend.recomputes { None } else { copy() })
    }

    /// Adds the stored values that a value is computed from where it is read.
    fn add_sources(&mut self, id: ValueId, sources: &mut Sources) -> Result<()> {
        self.visit += 1;
        let mut pending = vec![id];
        while let Some(next) = pending.pop() {
            self.budget.take_visits(1)?;
            if std::mem::replace(&mut self.seen[next as usize], self.visit) == self.visit {
                continue;
            }
            if let Some(step) = self.readable(next) {
                sources.steps.push(step);
            } else if self.graph.value(next).class == Class::Parameter {
                sources.last_parameter = sources.last_parameter.max(Some(next));
            } else {
                pending.extend(self.graph.operands(next));
            }
        }
        Ok(())
    }
}

/// The steps and parameters that a step reads.
#[derive(Default)]
struct Sources {
    steps: Vec<StepId>,
    last_parameter: Option<ValueId>,
}
