//! Instructions of a layer that run together, and layers that have the same.

use super::region::{Regions, position};
use halite_ir::{Def, Function, InferCx, LocId, Op, Rounding, Value};
use halite_tensor::DType;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

/// Fewer instructions are not worth a call.
const MIN_INSTS: usize = 4;

/// Groups of one function: what it is made of, and its calls.
pub(super) struct Class {
    pub(super) calls: Vec<Group>,
}

/// Instructions of one region that run together.
pub(super) struct Group {
    pub(super) region: usize,
    /// Before and after what of all layers they run.
    pub(super) level: usize,
    /// The instructions, those that are copied included, in order.
    pub(super) insts: Vec<usize>,
    /// The location of each of them in the function.
    pub(super) locs: Vec<LocId>,
    /// The values from outside that they read, in the order in which they do.
    pub(super) inputs: IndexSet<Value, FxBuildHasher>,
    /// Those of their results that something else reads.
    pub(super) outputs: Vec<Value>,
}

/// A value that an instruction reads.
#[derive(PartialEq, Eq, Hash)]
enum Read {
    /// A result of an instruction of the group.
    Own(usize, u16),
    /// An input of the group.
    Input(usize),
}

/// The properties in which instructions that stand for each other agree; not where they are.
type Key = (Op, Option<Rounding>, SmallVec<[Read; 2]>);

/// The properties in which groups that are calls of one function agree: instructions, types of inputs, outputs.
type Shape = (Vec<Key>, Vec<(DType, Vec<usize>)>, Vec<(usize, u16)>);

/// For each instruction how often what it follows from goes from a region to something else. What only its own region reads
/// runs when that does.
pub(super) fn levels(cx: &InferCx<'_>, function: &Function, regions: &Regions) -> Vec<usize> {
    let mut levels: Vec<usize> = Vec::with_capacity(function.insts.len());
    let mut last_ordered = 0;
    for (at, inst) in function.insts.iter().enumerate() {
        let own = regions.of[at];
        let after = inst.args.iter().filter_map(|&arg| position(function, arg)).map(|arg| {
            let leaves = regions.of[arg].is_some() && regions.of[arg] != own;
            levels[arg] + usize::from(leaves)
        });
        let mut level = after.max().unwrap_or_default();
        if inst.op.def().effect(cx).ordered {
            level = level.max(last_ordered);
            last_ordered = level;
        }
        levels.push(level);
    }
    let mut latest: Vec<Option<usize>> = vec![None; function.insts.len()];
    let mut leaves = vec![false; function.insts.len()];
    for result in function.results.iter().filter_map(|result| position(function, result.value)) {
        leaves[result] = true;
    }
    for (at, inst) in function.insts.iter().enumerate().rev() {
        if regions.of[at].is_some() && !leaves[at] {
            levels[at] = latest[at].unwrap_or(levels[at]);
        }
        for arg in inst.args.iter().filter_map(|&arg| position(function, arg)) {
            leaves[arg] |= regions.of[at] != regions.of[arg];
            latest[arg] = Some(latest[arg].map_or(levels[at], |latest| latest.min(levels[at])));
        }
    }
    levels
}

/// The groups of which there are several alike.
pub(super) fn groups(function: &Function, regions: &Regions, levels: &[usize]) -> Vec<Class> {
    let mut members: IndexMap<(usize, usize), Vec<usize>, FxBuildHasher> = IndexMap::default();
    for (at, region) in regions.of.iter().enumerate() {
        if let Some(region) = region {
            members.entry((levels[at], *region)).or_default().push(at);
        }
    }
    let readers = Readers::of(function);
    let mut classes: IndexMap<Shape, Class, FxBuildHasher> = IndexMap::default();
    for ((level, region), insts) in members {
        if insts.len() >= MIN_INSTS {
            let (group, shape) = group(function, regions, &readers, (level, region), &insts);
            classes.entry(shape).or_insert_with(|| Class { calls: Vec::new() }).calls.push(group);
        }
    }
    classes.into_values().filter(|class| class.calls.len() > 1).collect()
}

fn group(
    function: &Function,
    regions: &Regions,
    readers: &Readers,
    (level, region): (usize, usize),
    members: &[usize],
) -> (Group, Shape) {
    let mut group =
        Group { region, level, insts: Vec::new(), locs: Vec::new(), inputs: IndexSet::default(), outputs: Vec::new() };
    let mut places: FxHashMap<usize, usize> = FxHashMap::default();
    let mut keys = Vec::with_capacity(members.len());
    for &member in members {
        // A spread scalar is of a constant at most.
        let copied = |at: usize| {
            let args = function.insts[at].args.iter().filter_map(|&arg| position(function, arg));
            args.filter(|&arg| regions.copied[arg]).collect::<SmallVec<[usize; 2]>>()
        };
        let copies = copied(member).into_iter().flat_map(|at| copied(at).into_iter().chain([at]));
        for at in copies.chain([member]) {
            if places.contains_key(&at) {
                continue;
            }
            let inst = &function.insts[at];
            let reads = inst.args.iter().map(|&arg| match function.values[arg.index()].def {
                Def::Inst(by, result) if places.contains_key(&(by as usize)) => {
                    Read::Own(places[&(by as usize)], result)
                }
                _ => Read::Input(group.inputs.insert_full(arg).0),
            });
            let reads = reads.collect();
            keys.push((inst.op.clone(), inst.rounding.clone(), reads));
            places.insert(at, group.insts.len());
            group.insts.push(at);
            // What is copied is where it is read.
            group.locs.push(regions.locs[member]);
        }
    }
    let is_member = |reader: usize| places.contains_key(&reader) && !regions.copied[reader];
    let mut outputs = Vec::new();
    for &member in members {
        for (result, &value) in (0u16..).zip(&function.insts[member].results) {
            if readers.any_but(value, is_member) {
                outputs.push((places[&member], result));
                group.outputs.push(value);
            }
        }
    }
    let types = group.inputs.iter().map(|&input| (function.ty(input).dtype(), function.ty(input).shape().to_vec()));
    let shape = (keys, types.collect(), outputs);
    (group, shape)
}

/// The readers of each value.
struct Readers {
    insts: Vec<SmallVec<[u32; 2]>>,
    /// For each value, whether the function returns it.
    returned: Vec<bool>,
}

impl Readers {
    fn of(function: &Function) -> Self {
        let mut insts = vec![SmallVec::new(); function.values.len()];
        for (at, inst) in (0u32..).zip(&function.insts) {
            inst.args.iter().for_each(|arg| insts[arg.index()].push(at));
        }
        let mut returned = vec![false; function.values.len()];
        function.results.iter().for_each(|result| returned[result.value.index()] = true);
        Self { insts, returned }
    }

    fn any_but(&self, value: Value, is_member: impl Fn(usize) -> bool) -> bool {
        self.returned[value.index()] || self.insts[value.index()].iter().any(|&reader| !is_member(reader as usize))
    }
}
