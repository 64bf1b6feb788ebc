//! The replica check: the state of every value of a module, and its faults.

use super::bonds::Bonds;
use super::digits::of_sharding;
use super::exchange::Fault;
use super::finding::{ReplicaFinding, Site};
use super::free::{self, holds};
use super::joined::joined;
use super::moves::Moves;
use super::number::Number;
use super::state::{Cause, Part, Reading, State, Why};
use super::transfer::Transfer;
use crate::forward::{At, Body, Forward, Walk};
use halite_ir::ops::Reduction;
use halite_ir::{FuncResult, Function, Layout, LocTable, Module, ParamRole, Registry, TensorType};
use halite_support::Result;
use halite_tensor::{Content, Sharding, SubAxisId};
use std::rc::Rc;

/// Checks how values lie on the mesh in a module that has a layout; a module without one has no findings.
///
/// Proofs over joined sub-axes and of fewer readings are tried first, because they take less. If they fail, the check runs sub-axis by
/// sub-axis, in all readings. Work that is cancelled meanwhile ends early, with findings that mean nothing.
pub fn replicas(module: &Module, moves: Moves) -> Vec<ReplicaFinding> {
    let Some(layout) = &module.layout else { return Vec::new() };
    let Some(entry) = module.entry() else { return Vec::new() };
    let joined = joined(module, layout);
    let few = joined.as_ref().unwrap_or(layout);
    let bonds = Bonds::of(few, entry);
    let tries =
        [(!bonds.is_none()).then_some((few, bonds)), joined.as_ref().map(|joined| (joined, Bonds::none(&joined.mesh)))];
    let is_proof = |(layout, bonds): &(&Layout, Bonds)| findings(module, layout, bonds, moves).is_empty();
    if tries.iter().flatten().any(is_proof) {
        return Vec::new();
    }
    findings(module, layout, &Bonds::none(&layout.mesh), moves)
}

fn findings(module: &Module, layout: &Layout, bonds: &Bonds, moves: Moves) -> Vec<ReplicaFinding> {
    let Some(entry) = module.entry() else { return Vec::new() };
    let args: Vec<State> = entry
        .params
        .iter()
        .map(|param| {
            let ty = entry.ty(param.value);
            let sharding = layout.of_param(param);
            let fits = |sharding: &&Sharding| sharding.fits(Layout::whole(Some(sharding), ty).shape());
            let reading = sharding.filter(fits).map(of_sharding).unwrap_or_default();
            if param.role == ParamRole::Known(Content::Ranks) {
                return rank(layout, ty.rank());
            }
            State::new([with_terms(reading, layout.terms.get(&param.name))], free::none(ty.rank()))
        })
        .collect();
    let registry = Registry::default();
    let own = Replicas { module, layout, bonds, moves, findings: Vec::new() };
    let mut walk = Walk::new(Some(module), &registry, own);
    // Work that was cancelled ends early.
    let Ok(known) = walk.run_entry(module, &args) else { return walk.analysis.findings };
    let mut own = walk.analysis;
    for result in &entry.results {
        own.check(entry, result, &known[result.value.index()]);
    }
    own.findings
}

/// The number of each rank, told it.
fn rank(layout: &Layout, rank: usize) -> State {
    let mut reading = Reading::default();
    for sub_axis in 0..layout.mesh.sub_axes().len() {
        reading.set(sub_axis, Some((Part::Varying(Why::Rank), Cause(LocTable::unknown()))));
    }
    State { number: Some(Rc::new(Number::rank(&layout.mesh))), ..State::new([reading], free::none(rank)) }
}

/// A reading of terms of a sum along sub-axes.
fn with_terms(mut reading: Reading, terms: Option<&Vec<SubAxisId>>) -> Reading {
    for &sub_axis in terms.into_iter().flatten() {
        reading.set(sub_axis, Some((Part::Partial(Reduction::Sum), Cause(LocTable::unknown()))));
    }
    reading
}

struct Replicas<'a> {
    module: &'a Module,
    layout: &'a Layout,
    bonds: &'a Bonds,
    moves: Moves,
    findings: Vec<ReplicaFinding>,
}

impl Forward for Replicas<'_> {
    type Fact = State;
    type Aside = ();

    /// A fault is one wherever it is.
    const SKIPS_UNREAD: bool = false;

    fn unknown(&self, ty: &TensorType) -> State {
        State::new([Reading::default()], free::none(ty.rank()))
    }

    /// Kernels are followed by what they say of themselves, composites by their dimensions.
    fn body(&self, at: &At<'_>) -> Option<Body> {
        at.inst.call().map(|edge| Body::Function(edge.callee))
    }

    fn apply(&mut self, at: &At<'_>, args: &[State]) -> Result<Vec<State>> {
        let &At { function, inst, walk, .. } = at;
        let mesh = &self.layout.mesh;
        let (moves, bonds) = (self.moves, self.bonds);
        let (states, fault) = Transfer { mesh, function, inst, args, moves, bonds, walk }.run();
        if let Some(fault) = fault {
            let site = Site { mesh, module: self.module, calls: at.calls };
            let twice = at.id.filter(|_| matches!(fault, Fault::Twice(_))).map(|id| (id, at.position));
            self.findings.push(ReplicaFinding { twice, ..site.collective(inst.op.name(), fault, inst.loc) });
        }
        Ok(states)
    }
}

impl Replicas<'_> {
    /// Holds a result of the entry to the layout.
    fn check(&mut self, entry: &Function, result: &FuncResult, state: &State) {
        let none = Sharding::replicated(entry.ty(result.value).rank());
        let expected = of_sharding(self.layout.of_result(result).unwrap_or(&none));
        let expected = with_terms(expected, self.layout.terms_of_result(result));
        let wrong = |reading: &Reading| wrong(self.layout.mesh.sub_axes().len(), reading, &expected, state);
        if state.readings.iter().any(|reading| wrong(reading).is_none()) {
            return;
        }
        let first = &state.readings[0];
        let Some(sub_axis) = wrong(first) else { return };
        let at = entry.def(result.value).map_or(LocTable::unknown(), |inst| inst.loc);
        let site = Site { mesh: &self.layout.mesh, module: self.module, calls: &[] };
        self.findings.push(site.output(&result.name, first, sub_axis, expected.digit(sub_axis).is_some(), at));
    }
}

/// A sub-axis along which a value does not lie as it should.
fn wrong(sub_axes: usize, reading: &Reading, expected: &Reading, state: &State) -> Option<SubAxisId> {
    let free = |sub_axis: SubAxisId| {
        let digit = expected.digit(sub_axis);
        reading.is_same_along(sub_axis) && digit.is_some_and(|digit| holds(&state.free[digit.dim], digit.stride))
    };
    let part = |reading: &Reading, sub_axis| reading.part(sub_axis).map(|(_, part, _)| part.clone());
    // Zero on all ranks is terms of zero.
    let sums =
        |sub_axis: SubAxisId| state.zero && expected.part(sub_axis).is_some() && reading.part(sub_axis).is_none();
    let fits = |sub_axis: SubAxisId| {
        (part(reading, sub_axis) == part(expected, sub_axis) || sums(sub_axis))
            && (reading.digit(sub_axis) == expected.digit(sub_axis) || free(sub_axis))
    };
    let ordered = || {
        let own = |reading: &Reading| -> Vec<SubAxisId> { reading.digits.iter().map(|digit| digit.sub_axis).collect() };
        let found = own(reading);
        let wanted: Vec<SubAxisId> = own(expected).into_iter().filter(|sub_axis| found.contains(sub_axis)).collect();
        wanted == found
    };
    (0..sub_axes)
        .find(|&sub_axis| !fits(sub_axis))
        .or_else(|| reading.digits.first().map(|digit| digit.sub_axis).filter(|_| !ordered()))
}
