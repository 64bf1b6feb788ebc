//! The layer that each instruction belongs to.

use halite_ir::{Function, InferCx, Inst, LocId, LocKind, LocTable, Op, StepPart};
use halite_support::Name;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The work of the optimizer on one layer in one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Region {
    /// The location of its call: `optimizer.model.layers.3`.
    pub(super) site: LocId,
    /// The path of the layer: `model.layers.3`.
    pub(super) layer: Name,
    /// The name of a function of such regions: `optimizer.layers`.
    pub(super) function: Name,
}

/// The regions of a function, and the instructions in them.
pub(super) struct Regions {
    pub(super) all: Vec<Region>,
    /// For each instruction its region, if it is in one.
    pub(super) of: Vec<Option<usize>>,
    /// For each instruction in one its location there.
    pub(super) locs: Vec<LocId>,
    /// For each instruction, whether it is written where it is read.
    pub(super) copied: Vec<bool>,
}

impl Regions {
    pub(super) fn of(cx: &InferCx<'_>, locs: &mut LocTable, function: &Function) -> Self {
        let mut places = Places::default();
        let placed: Vec<Option<(usize, LocId)>> = function.insts.iter().map(|inst| places.of(locs, inst.loc)).collect();
        let copied: Vec<bool> = function.insts.iter().map(|inst| is_copied(cx, function, inst)).collect();
        let keeps_place = |(at, inst): (usize, &Inst)| !copied[at] && !inst.op.def().effect(cx).ordered;
        let kept = function.insts.iter().enumerate().map(keeps_place);
        let mut of: Vec<Option<usize>> =
            placed.iter().zip(kept).map(|(place, kept)| place.filter(|_| kept).map(|(region, _)| region)).collect();
        release_shared(function, &mut of, &copied);
        let locs = placed.iter().map(|place| place.map_or_else(LocTable::unknown, |(_, loc)| loc)).collect();
        Self { all: places.all.into_values().collect(), of, locs, copied }
    }
}

/// Constants and spread scalars: to hand them over would take memory.
fn is_copied(cx: &InferCx<'_>, function: &Function, inst: &Inst) -> bool {
    let effect = inst.op.def().effect(cx);
    let spreads = matches!(inst.op, Op::BroadcastInDim(_)) && function.ty(inst.args[0]).rank() == 0;
    effect.movable && effect.mergeable && (inst.args.is_empty() || spreads)
}

/// Takes out of their regions the instructions that another region reads and that follow from nothing of their own, such as a
/// scalar that `cse` computes once for all.
fn release_shared(function: &Function, of: &mut [Option<usize>], copied: &[bool]) {
    let mut read_elsewhere = vec![false; function.insts.len()];
    for (at, inst) in function.insts.iter().enumerate().rev() {
        for position in inst.args.iter().filter_map(|&arg| position(function, arg)) {
            let other = copied[at] || (of[at].is_some() && of[at] != of[position]);
            read_elsewhere[position] |= other || (of[at].is_some() && read_elsewhere[at]);
        }
    }
    for (at, inst) in function.insts.iter().enumerate() {
        let mut args = inst.args.iter().filter_map(|&arg| position(function, arg));
        if read_elsewhere[at] && args.all(|arg| of[arg].is_none()) {
            of[at] = None;
        }
    }
}

/// The position of the instruction that computes a value.
pub(super) fn position(function: &Function, value: halite_ir::Value) -> Option<usize> {
    match function.values[value.index()].def {
        halite_ir::Def::Inst(at, _) => Some(at as usize),
        halite_ir::Def::Param(_) => None,
    }
}

/// The regions found so far.
#[derive(Default)]
struct Places {
    all: IndexMap<LocId, Region, FxBuildHasher>,
    known: FxHashMap<LocId, Option<(usize, LocId)>>,
}

impl Places {
    /// The region of a location, and what it is inside of that.
    fn of(&mut self, locs: &mut LocTable, loc: LocId) -> Option<(usize, LocId)> {
        if let Some(known) = self.known.get(&loc) {
            return *known;
        }
        let place = self.find(locs, loc);
        self.known.insert(loc, place);
        place
    }

    fn find(&mut self, locs: &mut LocTable, loc: LocId) -> Option<(usize, LocId)> {
        let mut kinds: Vec<LocKind> = locs.chain(loc).cloned().collect();
        kinds.reverse();
        let Some(LocKind::Part(StepPart::Update)) = kinds.first() else { return None };
        let is_layer = |(at, kind): (usize, &LocKind)| match kind {
            LocKind::Layer(layer) => Some((at, layer.clone())),
            _ => None,
        };
        let (at, layer) = kinds.iter().enumerate().find_map(is_layer)?;
        let mut within = |start, kinds: &[LocKind]| kinds.iter().fold(start, |loc, kind| locs.add(loc, kind.clone()));
        let site = within(LocTable::unknown(), &kinds[..=at]);
        let inner = within(LocTable::unknown(), &kinds[at + 1..]);
        let parent = kinds[..at].iter().rev().find_map(LocKind::scope).unwrap_or_default();
        let function = format!("{parent}.{}", layer.list_name()).into();
        let entry = self.all.entry(site);
        let index = entry.index();
        entry.or_insert(Region { site, layer: layer.to_string().into(), function });
        Some((index, inner))
    }
}
