//! Sites where narrowing rounds stochastically, and the streams of their random bits.

use crate::transform::{skip, trained};
use halite_ir::{FuncResult, Function, Inst, Layer, Module, Param, ParamRole, ResultRole, StepPart, Value};
use halite_recipe::{SrSites, StochasticRounding};
use halite_support::Name;
use halite_tensor::{Dims, Packing, Part, Shape, StateSpec};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The random bits that an instruction rounds by.
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

    /// The sizes of the tensors whose coordinates count, one for each stream, given those of the result; with padding, where there is any.
    pub(super) fn sizes(&self, result: &Shape) -> Vec<Dims> {
        match self {
            RoundingSite::Whole(_) => vec![Dims::from_slice(result)],
            RoundingSite::Packed(packing, _) => packing.parts.iter().map(Part::padded).collect(),
        }
    }
}

/// For each instruction the bits that it rounds by; `None` when it rounds to nearest or not at all. What an instruction
/// states itself stands.
pub(super) fn sites(module: &Module, function: &Function, sr: Option<StochasticRounding>) -> Vec<Option<RoundingSite>> {
    let (written, stored) = (written(&module.functions, function), Stored::of(function));
    let locs = &module.locs;
    let mut counts: FxHashMap<String, usize> = FxHashMap::default();
    let mut numbered = |site: String| {
        let count = counts.entry(site.clone()).and_modify(|count| *count += 1).or_insert(0);
        Name::from(if *count == 0 { site } else { format!("{site}.{count}") })
    };
    let site = |inst: &Inst| {
        let fits = |packing: &Packing| {
            inst.results.iter().all(|&result| packing.shape().is_ok_and(|shape| shape == *function.ty(result).shape()))
        };
        let stated = match inst.stream() {
            Some(stream) => Some(stream),
            None => {
                let sites = sr?.sites;
                inst.rounding.as_ref()?;
                let written = inst.results.first().and_then(|result| written.get(result));
                let taken = written.filter(|(_, is_weight)| *is_weight || sites == SrSites::All);
                if taken.is_none() && sites == SrSites::WeightWrite {
                    return None;
                }
                taken.map(|(name, _)| name)
            }
        };
        if let Some(stream) = stated {
            return Some(match stored.by_name.get(stream) {
                Some((packing, streams)) if fits(packing) => RoundingSite::Packed(packing.clone(), streams.clone()),
                _ => RoundingSite::Whole(stream.clone()),
            });
        }
        let (path, op) = (locs.path(inst.loc), inst.op.name());
        Some(match stored.by_scope.get(&path) {
            Some(Scope::Weight(packing, layer)) if fits(packing) => {
                let own = |part: &Part| numbered(format!("{}:{op}", scope(layer.as_ref(), &part.name)));
                let streams = packing.parts.iter().map(own);
                RoundingSite::Packed(packing.clone(), streams.collect())
            }
            Some(Scope::Part(scope)) => RoundingSite::Whole(numbered(format!("{scope}:{op}"))),
            _ => RoundingSite::Whole(numbered(format!("{path}:{op}"))),
        })
    };
    function.insts.iter().map(site).collect()
}

/// The part of a pipeline that each stream is drawn from in: that of the weight whose name it has, or that stores the tensor of that name, and of
/// the state of it. Streams of no weight of a part are not listed.
pub(super) fn parts(function: &Function) -> FxHashMap<Name, usize> {
    let part = |weight: &Param| weight.weight().and_then(|info| info.part);
    let weights: FxHashMap<&Name, &Param> =
        function.params.iter().filter(|param| part(param).is_some()).map(|param| (&param.name, param)).collect();
    let mut parts = FxHashMap::default();
    for param in &function.params {
        let (weight, prefix) = match &param.role {
            ParamRole::State(StateSpec { of: Some(of), kind, .. }) => (weights.get(of), format!("{kind}.")),
            _ => (weights.get(&param.name), String::new()),
        };
        let Some((weight, part)) = weight.and_then(|weight| Some((weight, part(weight)?))) else { continue };
        let originals = weight.originals().map(|name| Name::from(format!("{prefix}{name}")));
        parts.extend(originals.chain([param.name.clone()]).map(|name| (name, part)));
    }
    parts
}

/// The path of what updates a weight of a layer.
fn scope(layer: Option<&Layer>, weight: &str) -> String {
    format!("{}.{}", StepPart::Update.name(), trained::path(layer, weight))
}

/// The values that replace state, with the names of what they replace and whether that is a weight.
fn written(functions: &[Function], function: &Function) -> FxHashMap<Value, (Name, bool)> {
    let is_weight = |param: &&Param| matches!(param.role, ParamRole::Weight(_));
    let weights: FxHashSet<&Name> = function.params.iter().filter(is_weight).map(|param| &param.name).collect();
    let state = |result: &FuncResult| match &result.role {
        ResultRole::State(name) => {
            Some((skip::written(functions, function, result.value), (name.clone(), weights.contains(name))))
        }
        _ => None,
    };
    function.results.iter().filter_map(state).collect()
}

/// The weights that store several tensors of the model. A replacement of such a tensor is rounded by the same bits as if it were stored
/// alone. Where elements are stored several times, so are the values that it is computed from, so that copies stay equal.
#[derive(Default)]
struct Stored {
    /// For each weight and its state the streams of its parts.
    by_name: FxHashMap<Name, (Arc<Packing>, Vec<Name>)>,
    /// The tensors that are computed under each path, where elements are stored several times.
    by_scope: FxHashMap<String, Scope>,
}

/// The tensors that are updated under a path.
enum Scope {
    /// All that a weight of a layer stores.
    Weight(Arc<Packing>, Option<Layer>),
    /// One of these tensors; under this path it would be if it were stored alone.
    Part(String),
}

impl Stored {
    fn of(function: &Function) -> Self {
        let weights: FxHashMap<&Name, &Arc<Packing>> =
            function.params.iter().filter_map(|param| Some((&param.name, param.packing()?))).collect();
        let mut all = Self::default();
        for param in &function.params {
            let (packing, prefix) = match &param.role {
                ParamRole::State(StateSpec { of: Some(of), kind, .. }) => (weights.get(of), format!("{kind}.")),
                _ => (weights.get(&param.name), String::new()),
            };
            let Some(&packing) = packing else { continue };
            let streams = packing.parts.iter().map(|part| format!("{prefix}{}", part.name).into()).collect();
            all.by_name.insert(param.name.clone(), (packing.clone(), streams));
        }
        for param in &function.params {
            let Some(packing) = param.packing().filter(|packing| packing.has_copies()) else { continue };
            let layer = param.weight().and_then(|info| info.layer.as_ref());
            let whole = scope(layer, &param.name);
            let own = |part: &Part| (format!("{whole}.{}", part.name), Scope::Part(scope(layer, &part.name)));
            all.by_scope.extend(packing.parts.iter().map(own));
            all.by_scope.insert(whole, Scope::Weight(packing.clone(), layer.cloned()));
        }
        all
    }
}
