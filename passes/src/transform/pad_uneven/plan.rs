//! Weights that are padded, and values that are computed for their padding.

use super::reads::{Fate, Widened, fate};
use super::wide::{Wide, Wides};
use super::{PASS, RULE};
use crate::framework::pass::PassCx;
use crate::framework::pattern::matches_pattern;
use crate::framework::remark::Remark;
use halite_ir::{FuncId, Function, InferCx, Module, Param, ParamRole, Registry, WeightInfo};
use halite_recipe::{Divides, Parallel};
use halite_support::{Name, Names, Result};
use halite_tensor::{Packing, Part};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A weight that is padded.
pub(super) struct Padded {
    /// Its position among the parameters.
    pub(super) param: usize,
    /// The dimension that counts classes.
    pub(super) dim: usize,
    pub(super) name: Name,
    pub(super) packing: Arc<Packing>,
}

/// The plan for the entry.
pub(super) struct Plan {
    pub(super) weights: Vec<Padded>,
    /// For each instruction, its treatment of padded operands.
    pub(super) fates: Vec<Fate>,
    pub(super) wides: Wides,
}

/// The plan for the entry of a module; `None` if nothing is padded.
///
/// # Errors
/// None but bugs.
pub(super) fn plan(module: &Module, registry: &Registry, parallel: &Parallel) -> Result<Option<Plan>> {
    let Some(entry) = module.entry() else { return Ok(None) };
    let mut names: Names =
        entry.params.iter().flat_map(|param| param.originals().chain([&*param.name])).map(Name::from).collect();
    let params = entry.params.iter().enumerate();
    let mut weights: Vec<Padded> =
        params.filter_map(|(at, param)| uneven(entry, parallel, &mut names, (at, param))).collect();
    let cx = InferCx { functions: &module.functions, registry };
    while !weights.is_empty() {
        let (fates, wides) = follow(&cx, entry, &weights)?;
        let kept = worthwhile(entry, &weights, &fates, &wides);
        if kept.iter().all(|&kept| kept) {
            return Ok(Some(Plan { weights, fates, wides }));
        }
        let mut kept = kept.into_iter();
        weights.retain(|_| kept.next().unwrap_or(false));
    }
    Ok(None)
}

/// A weight with a dimension that the recipe shards as a whole, and the ranks of `tensor` do not divide.
fn uneven(entry: &Function, parallel: &Parallel, names: &mut Names, (at, param): (usize, &Param)) -> Option<Padded> {
    let ParamRole::Weight(WeightInfo { packing: None, dims: Some(dims), .. }) = &param.role else { return None };
    let shape = entry.ty(param.value).shape();
    let ranks = usize::try_from(parallel.ranks_that_divide(Divides::Weights)).ok()?;
    let dim = dims
        .iter()
        .position(|factors| matches!(&factors[..], [factor] if parallel.shard.names(factor.name.as_deref())))?;
    let is_placed = parallel.place.keys().any(|pattern| matches_pattern(pattern, &param.name));
    let padding = shape[dim].next_multiple_of(ranks) - shape[dim];
    // What is fewer than ranks is held by several.
    if is_placed || padding == 0 || shape[dim] < ranks || shape.rank() > 2 {
        return None;
    }
    let part = Part { name: param.name.to_string(), shape: shape.to_vec(), transposed: dim == 1, copies: 1, padding };
    let packing = Arc::new(Packing { ranks, parts: vec![part] });
    let name = names.unused(&format!("{}.padded", param.name));
    Some(Padded { param: at, dim, name, packing })
}

/// The treatment of padding in each instruction, and the values that are computed for the padding of these weights.
fn follow(cx: &InferCx<'_>, entry: &Function, weights: &[Padded]) -> Result<(Vec<Fate>, Wides)> {
    let mut wides = Wides::default();
    for (place, weight) in weights.iter().enumerate() {
        let padding = weight.packing.parts[0].padding;
        let wide = Wide { dim: weight.dim, padding, weights: smallvec![place] };
        wides.insert(entry.params[weight.param].value, wide);
    }
    let mut fates = Vec::with_capacity(entry.insts.len());
    for inst in &entry.insts {
        let fate = fate(cx, entry, inst, &wides)?;
        if let Fate::Wide(Widened { dim, padding, .. }) = fate {
            let mut of: SmallVec<[usize; 2]> =
                inst.args.iter().filter_map(|arg| wides.get(arg)).flat_map(|wide| wide.weights.clone()).collect();
            of.sort_unstable();
            of.dedup();
            wides.insert(inst.results[0], Wide { dim, padding, weights: of });
        }
        fates.push(fate);
    }
    Ok((fates, wides))
}

/// For each weight whether it is one of classes: a loss reads what comes of it, or rows of it are looked up and nothing else.
fn worthwhile(entry: &Function, weights: &[Padded], fates: &[Fate], wides: &Wides) -> Vec<bool> {
    let mut judged = vec![false; weights.len()];
    for (inst, _) in entry.insts.iter().zip(fates).filter(|(_, fate)| **fate == Fate::Loss) {
        if let Some(wide) = wides.get(&inst.args[0]) {
            wide.weights.iter().for_each(|&weight| judged[weight] = true);
        }
    }
    for (judged, weight) in judged.iter_mut().zip(weights) {
        let value = entry.params[weight.param].value;
        let mut readers = entry.insts.iter().zip(fates).filter(|(inst, _)| inst.args.contains(&value)).peekable();
        let is_result = entry.results.iter().any(|result| result.value == value);
        *judged |= readers.peek().is_some() && !is_result && readers.all(|(_, fate)| *fate == Fate::Rows);
    }
    judged
}

impl Plan {
    /// Says what is padded.
    pub(super) fn explain(&self, module: &Module, cx: &PassCx<'_>) {
        let Some(entry) = module.entry() else { return };
        for Padded { param, packing, .. } in &self.weights {
            let (part, value) = (&packing.parts[0], entry.params[*param].value);
            let loc = entry.insts.iter().find(|inst| inst.args.contains(&value)).map(|inst| inst.loc);
            cx.explain(|| {
                let rows = if part.padding == 1 { "a row".to_owned() } else { format!("{} rows", part.padding) };
                let message = format!("`{}` gets {rows} of zeros, so that {} ranks share it", part.name, packing.ranks);
                let remark = Remark::taken(PASS, RULE, message);
                match loc {
                    Some(loc) => remark.at(module, FuncId::new(module.functions.len() - 1), loc),
                    None => remark,
                }
            });
        }
    }
}
