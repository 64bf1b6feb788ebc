//! Which narrowings round stochastically, and by which streams.

use halite_ir::{Function, LocTable, ParamRole, ResultRole};
use halite_spec::{SrSites, StochasticRounding};
use halite_support::Name;
use rustc_hash::{FxHashMap, FxHashSet};

/// For each instruction the stream that it rounds by; `None` when it rounds to nearest or not at all. What an
/// instruction states itself stands.
pub(super) fn streams(function: &Function, locs: &LocTable, sr: Option<StochasticRounding>) -> Vec<Option<Name>> {
    let written = written(function);
    let mut counts: FxHashMap<String, usize> = FxHashMap::default();
    let stream = |inst: &halite_ir::Inst| {
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
    function.insts.iter().map(stream).collect()
}

/// The values that replace state, with the names of what they replace and whether that is a weight.
fn written(function: &Function) -> FxHashMap<halite_ir::Value, (Name, bool)> {
    let is_weight = |param: &&halite_ir::Param| matches!(param.role, ParamRole::Weight(_));
    let weights: FxHashSet<&Name> = function.params.iter().filter(is_weight).map(|param| &param.name).collect();
    let state = |result: &halite_ir::FuncResult| match &result.role {
        ResultRole::State(name) => Some((result.value, (name.clone(), weights.contains(name)))),
        _ => None,
    };
    function.results.iter().filter_map(state).collect()
}
