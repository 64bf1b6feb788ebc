//! The walk over a module.

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
use halite_ir::ops::Reduction;
use halite_ir::{FuncId, FuncResult, Function, Inst, Layout, LocId, LocTable, Module, Op, ParamRole};
use halite_support::check_cancelled;
use halite_tensor::{AtomId, Content, Sharding};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A function with what is known of its arguments.
type Key = (FuncId, Rc<[State]>);

/// A function under way.
struct Frame {
    key: Key,
    /// The calls that it is in, the outermost first.
    calls: Rc<[LocId]>,
    /// Which walk over a function this is.
    walk: usize,
    states: Vec<Option<State>>,
    next: usize,
}

/// All that is wrong with how values lie on the mesh in a module that has a layout; nothing of one that has none.
///
/// A proof over few atoms, or of few readings, is one, and takes less; what it does not prove is looked at atom by atom, in all readings. Work that is cancelled
/// meanwhile ends early, with findings that say nothing.
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
    let mut walk = Walk { module, layout, bonds, moves, done: FxHashMap::default(), findings: Vec::new(), walks: 0 };
    let args: Rc<[State]> = entry
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
    let results = walk.run((FuncId::new(module.functions.len() - 1), args));
    for (result, state) in entry.results.iter().zip(results.iter()) {
        walk.check(entry, result, state);
    }
    walk.findings
}

/// The number of each rank, told it.
fn rank(layout: &Layout, rank: usize) -> State {
    let mut reading = Reading::default();
    for atom in 0..layout.mesh.atoms().len() {
        reading.set(atom, Some((Part::Own(Why::Rank), Cause(LocTable::unknown()))));
    }
    State { number: Some(Rc::new(Number::rank(&layout.mesh))), ..State::new([reading], free::none(rank)) }
}

/// A reading of terms of a sum along atoms.
fn with_terms(mut reading: Reading, terms: Option<&Vec<AtomId>>) -> Reading {
    for &atom in terms.into_iter().flatten() {
        reading.set(atom, Some((Part::Terms(Reduction::Sum), Cause(LocTable::unknown()))));
    }
    reading
}

struct Walk<'a> {
    module: &'a Module,
    layout: &'a Layout,
    bonds: &'a Bonds,
    moves: Moves,
    done: FxHashMap<Key, Rc<[State]>>,
    findings: Vec<ReplicaFinding>,
    walks: usize,
}

impl Walk<'_> {
    /// What a function returns. Functions that it calls are walked over first, each once for what is known of its arguments.
    fn run(&mut self, key: Key) -> Rc<[State]> {
        let mut open = vec![self.frame(key.clone(), Rc::new([]))];
        while let Some(frame) = open.last_mut().filter(|_| check_cancelled().is_ok()) {
            match self.advance(frame) {
                Some((needed, at)) => {
                    let calls = frame.calls.iter().copied().chain([at]).collect();
                    let frame = self.frame(needed, calls);
                    open.push(frame);
                }
                None => {
                    let function = self.module.function(frame.key.0);
                    let result = |result: &FuncResult| frame.states[result.value.index()].clone();
                    let results: Option<Rc<[State]>> = function.results.iter().map(result).collect();
                    self.done.insert(frame.key.clone(), results.unwrap_or_else(|| Rc::new([])));
                    open.pop();
                }
            }
        }
        self.done.get(&key).cloned().unwrap_or_else(|| Rc::new([]))
    }

    fn frame(&mut self, key: Key, calls: Rc<[LocId]>) -> Frame {
        let function = self.module.function(key.0);
        let mut states = vec![None; function.values.len()];
        for (param, state) in function.params.iter().zip(key.1.iter()) {
            states[param.value.index()] = Some(state.clone());
        }
        self.walks += 1;
        Frame { key, calls, walk: self.walks, states, next: 0 }
    }

    /// Walks on, to the end or to a call of a function that is to be walked over first.
    fn advance(&mut self, frame: &mut Frame) -> Option<(Key, LocId)> {
        let function = self.module.function(frame.key.0);
        while let Some(inst) = function.insts.get(frame.next).filter(|_| check_cancelled().is_ok()) {
            let args: Rc<[State]> = inst.args.iter().filter_map(|arg| frame.states[arg.index()].clone()).collect();
            let results = match &inst.op {
                Op::Call(call) => {
                    let key = (call.callee, args);
                    match self.done.get(&key) {
                        Some(results) => results.to_vec(),
                        None => return Some((key, inst.loc)),
                    }
                }
                _ => self.inst(function, inst, &args, frame),
            };
            for (result, state) in inst.results.iter().zip(results) {
                frame.states[result.index()] = Some(state);
            }
            frame.next += 1;
        }
        None
    }

    fn inst(&mut self, function: &Function, inst: &Inst, args: &[State], frame: &Frame) -> Vec<State> {
        let mesh = &self.layout.mesh;
        let (moves, bonds) = (self.moves, self.bonds);
        let (states, fault) = Transfer { mesh, function, inst, args, moves, bonds, walk: frame.walk }.run();
        if let Some(fault) = fault {
            let site = Site { mesh, module: self.module, calls: &frame.calls };
            let twice = matches!(fault, Fault::Twice(_)).then_some((frame.key.0, frame.next));
            self.findings.push(ReplicaFinding { twice, ..site.collective(inst.op.name(), fault, inst.loc) });
        }
        states
    }

    /// Holds a result of the entry to the layout.
    fn check(&mut self, entry: &Function, result: &FuncResult, state: &State) {
        let none = Sharding::replicated(entry.ty(result.value).rank());
        let expected = of_sharding(self.layout.of_result(result).unwrap_or(&none));
        let expected = with_terms(expected, self.layout.terms_of_result(result));
        let wrong = |reading: &Reading| wrong(self.layout.mesh.atoms().len(), reading, &expected, state);
        if state.readings.iter().any(|reading| wrong(reading).is_none()) {
            return;
        }
        let first = &state.readings[0];
        let Some(atom) = wrong(first) else { return };
        let at = entry.def(result.value).map_or(LocTable::unknown(), |inst| inst.loc);
        let site = Site { mesh: &self.layout.mesh, module: self.module, calls: &[] };
        self.findings.push(site.output(&result.name, first, atom, expected.digit(atom).is_some(), at));
    }
}

/// An atom along which a value does not lie as it should.
fn wrong(atoms: usize, reading: &Reading, expected: &Reading, state: &State) -> Option<AtomId> {
    let free = |atom: AtomId| {
        let digit = expected.digit(atom);
        reading.is_same_along(atom) && digit.is_some_and(|digit| holds(&state.free[digit.dim], digit.stride))
    };
    let part = |reading: &Reading, atom| reading.part(atom).map(|(_, part, _)| part.clone());
    // Zero on all ranks is terms of zero.
    let sums = |atom: AtomId| state.zero && expected.part(atom).is_some() && reading.part(atom).is_none();
    let fits = |atom: AtomId| {
        (part(reading, atom) == part(expected, atom) || sums(atom))
            && (reading.digit(atom) == expected.digit(atom) || free(atom))
    };
    let ordered = || {
        let own = |reading: &Reading| -> Vec<AtomId> { reading.digits.iter().map(|digit| digit.atom).collect() };
        let found = own(reading);
        let wanted: Vec<AtomId> = own(expected).into_iter().filter(|atom| found.contains(atom)).collect();
        wanted == found
    };
    (0..atoms)
        .find(|&atom| !fits(atom))
        .or_else(|| reading.digits.first().map(|digit| digit.atom).filter(|_| !ordered()))
}
