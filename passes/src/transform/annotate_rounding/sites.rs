//! Which narrowings round stochastically, and by which streams.

use crate::transform::skip;
use halite_ir::{FuncResult, Function, Inst, LocTable, Param, ParamRole, ResultRole, Value};
use halite_recipe::{SrSites, StochasticRounding};
use halite_support::Name;
use halite_tensor::{Packing, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What bits an instruction rounds by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RoundingSite {
    /// Those of one stream, by the coordinates in the result.
    Whole(Name),
    /// For each of the tensors that the result stores those of a stream of its own, by the coordinates in that tensor.
    Packed(Arc<Packing>, Vec<Name>),
}

impl RoundingSite {
    /// Its streams, in order.
    pub(super) fn streams(&self) -> &[Name] {
        match self {
            RoundingSite::Whole(stream) => std::slice::from_ref(stream),
            RoundingSite::Packed(_, streams) => streams,
        }
    }

    /// The sizes of the tensors whose coordinates count, one for each stream, given those of the result.
    pub(super) fn sizes<'a>(&'a self, result: &'a Shape) -> Vec<&'a [usize]> {
        match self {
            RoundingSite::Whole(_) => vec![result],
            RoundingSite::Packed(packing, _) => packing.parts.iter().map(|part| &*part.shape).collect(),
        }
    }
}

/// For each instruction the bits that it rounds by; `None` when it rounds to nearest or not at all. What an instruction
/// states itself stands.
pub(super) fn sites(function: &Function, locs: &LocTable, sr: Option<StochasticRounding>) -> Vec<Option<RoundingSite>> {
    let (written, packed) = (written(function), packed(function));
    let mut counts: FxHashMap<String, usize> = FxHashMap::default();
    let mut stream = |inst: &Inst| {
        if let Some(stream) = inst.stream() {
            return Some(stream.clone());
        }
        let sites = sr?.sites;
        inst.rounding.as_ref()?;
        match inst.results.first().and_then(|result| written.get(result)) {
            Some((name, true)) => return Some(name.clone()),
            Some((name, false)) if sites == SrSites::All => return Some(name.clone()),
            _ if sites == SrSites::WeightWrite => return None,
            _ => {}
        }
        let site = format!("{}:{}", locs.path(inst.loc), inst.op.name());
        let count = counts.entry(site.clone()).and_modify(|count| *count += 1).or_insert(0);
        Some(if *count == 0 { site.into() } else { format!("{site}.{count}").into() })
    };
    let site = |inst: &Inst| {
        let stream = stream(inst)?;
        let fits = |packing: &Packing| {
            inst.results.iter().all(|&result| packing.shape().is_ok_and(|shape| shape == *function.ty(result).shape()))
        };
        Some(match packed.get(&stream) {
            Some((packing, streams)) if fits(packing) => RoundingSite::Packed(packing.clone(), streams.clone()),
            _ => RoundingSite::Whole(stream),
        })
    };
    function.insts.iter().map(site).collect()
}

/// The values that replace state, with the names of what they replace and whether that is a weight.
fn written(function: &Function) -> FxHashMap<Value, (Name, bool)> {
    let is_weight = |param: &&Param| matches!(param.role, ParamRole::Weight(_));
    let weights: FxHashSet<&Name> = function.params.iter().filter(is_weight).map(|param| &param.name).collect();
    let state = |result: &FuncResult| match &result.role {
        ResultRole::State(name) => {
            Some((skip::written(function, result.value), (name.clone(), weights.contains(name))))
        }
        _ => None,
    };
    function.results.iter().filter_map(state).collect()
}

/// What weights and their slots store, and the streams by which the parts of each would be written alone.
fn packed(function: &Function) -> FxHashMap<Name, (Arc<Packing>, Vec<Name>)> {
    let weights: FxHashMap<&Name, &Arc<Packing>> =
        function.params.iter().filter_map(|param| Some((&param.name, param.packing()?))).collect();
    let stored = |param: &Param| {
        let (packing, prefix) = match &param.role {
            ParamRole::State(spec) => (*weights.get(spec.of.as_ref()?)?, format!("{}.", spec.kind)),
            _ => (param.packing()?, String::new()),
        };
        let streams = packing.parts.iter().map(|part| format!("{prefix}{}", part.name).into()).collect();
        Some((param.name.clone(), (packing.clone(), streams)))
    };
    function.params.iter().filter_map(stored).collect()
}
