//! The part of a vector of all layers that each layer reads.

use super::region::{Regions, position};
use halite_ir::ops::Slice;
use halite_ir::{Function, LocId, Module, Op, Registry, Rewriter, Value};
use halite_support::Result;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::smallvec;

/// A vector and the region that slices it.
type Key = (Value, usize);

/// The positions that the slices of one region take of a vector.
type Parts = IndexMap<Key, (usize, usize), FxBuildHasher>;

/// Has each region slice a part of its own of a vector that several regions slice, such as the words of random streams. The slices
/// of different layers are then alike, and the parts are cut where the layers are called.
///
/// ```text
/// %0 = slice %words {start = [4], limit = [5], stride = [1]}       %p = slice %words {start = [4], limit = [6], stride = [1]}
/// %1 = slice %words {start = [5], limit = [6], stride = [1]}  =>   %0 = slice %p {start = [0], limit = [1], stride = [1]}
///                                                                  %1 = slice %p {start = [1], limit = [2], stride = [1]}
/// ```
///
/// Returns the function as it was where there is no such vector.
///
/// # Errors
/// None but bugs.
pub(super) fn by_region(
    module: &mut Module,
    registry: &Registry,
    entry: Function,
    regions: &Regions,
) -> Result<Function> {
    let parts = parts(&entry, regions);
    if parts.is_empty() {
        return Ok(entry);
    }
    let outer: Vec<LocId> = regions.all.iter().map(|region| module.locs.outer(region.site)).collect();
    let mut b = Rewriter::new(module, registry, &entry);
    let mut made: FxHashMap<Key, Value> = FxHashMap::default();
    for (at, inst) in entry.insts.iter().enumerate() {
        let Some((key, slice)) = sliced(&entry, regions, at).filter(|(key, _)| parts.contains_key(key)) else {
            b.copy(&entry, inst)?;
            continue;
        };
        let (first, end) = parts[&key];
        let part = match made.get(&key) {
            Some(part) => *part,
            None => {
                let whole = b.value(key.0)?;
                b.set_loc(outer[key.1]);
                let op = Slice { start: smallvec![first], limit: smallvec![end], stride: smallvec![1] };
                let part = b.emit(op, &[whole])?;
                if let Some(hint) = &entry.values[key.0.index()].hint {
                    b.name_value(part, hint.clone());
                }
                *made.entry(key).or_insert(part)
            }
        };
        b.set_loc(inst.loc);
        let (start, limit) = (smallvec![slice.start[0] - first], smallvec![slice.limit[0] - first]);
        let own = b.emit(Slice { start, limit, stride: slice.stride.clone() }, &[part])?;
        b.replace_all(inst, &[own]);
    }
    b.copy_results(&entry)?;
    Ok(b.into_builder().into_function())
}

/// The parts of all vectors that several regions slice.
fn parts(entry: &Function, regions: &Regions) -> Parts {
    let mut parts = Parts::default();
    for at in 0..entry.insts.len() {
        if let Some((key, slice)) = sliced(entry, regions, at) {
            let own = (slice.start[0], slice.limit[0]);
            let part = parts.entry(key).or_insert(own);
            *part = (part.0.min(own.0), part.1.max(own.1));
        }
    }
    let mut seen = FxHashSet::default();
    let shared: FxHashSet<Value> = parts.keys().map(|key| key.0).filter(|vector| !seen.insert(*vector)).collect();
    parts.retain(|(vector, _), _| shared.contains(vector));
    parts
}

/// The vector that an instruction of a region slices, where it is not the region's own.
fn sliced<'f>(entry: &'f Function, regions: &Regions, at: usize) -> Option<(Key, &'f Slice)> {
    let (inst, region) = (&entry.insts[at], regions.of[at]?);
    let Op::Slice(slice) = &inst.op else { return None };
    let vector = inst.args[0];
    let is_own = position(entry, vector).is_some_and(|at| regions.of[at].is_some());
    (entry.ty(vector).rank() == 1 && !is_own).then_some(((vector, region), slice))
}
