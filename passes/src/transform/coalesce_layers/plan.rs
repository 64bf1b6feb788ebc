//! Which projections are merged, and into what.

use super::name::merged;
use super::projection::{Product, Projection, products};
use super::shares::Sharing;
use super::{PASS, RULE};
use crate::framework::exception::Subject;
use crate::framework::pass::PassCx;
use crate::framework::remark::Remark;
use halite_ir::{Function, LocTable, Module, Param, ParamRole, TensorType, Value, WeightInfo};
use halite_recipe::Precision;
use halite_support::{Name, Result};
use halite_tensor::{DType, Init, Packing, Part};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::sync::Arc;

/// Projections that become one.
pub(super) struct Merge {
    /// What they are applied to.
    pub(super) input: Value,
    /// The projections, in order, and how many ranks hold each row of them.
    pub(super) members: Vec<(Projection, usize)>,
    /// The weight that they share.
    pub(super) weight: Packed,
    /// The bias that they share.
    pub(super) bias: Option<Packed>,
}

/// A parameter that is made of several.
pub(super) struct Packed {
    pub(super) name: Name,
    pub(super) ty: TensorType,
    pub(super) info: WeightInfo,
    /// How, as `info` says too.
    pub(super) packing: Arc<Packing>,
    /// Its positions among the parameters of before, in order.
    pub(super) params: Vec<usize>,
}

/// The merges of the entry of a module; says what it leaves.
///
/// # Errors
/// None but bugs.
pub(super) fn merges(module: &Module, cx: &PassCx<'_>) -> Result<Vec<Merge>> {
    let Some(entry) = module.entry() else { return Ok(Vec::new()) };
    let ranks = cx.recipe.and_then(|recipe| recipe.parallel.as_ref()).map_or(1, |parallel| parallel.tensor as usize);
    let names = entry.params.iter().flat_map(|param| param.originals().chain([&*param.name])).map(Name::from);
    let mut planner = Planner {
        entry,
        locs: &module.locs,
        cx,
        precision: cx.recipe.map(|recipe| &recipe.precision),
        sharing: Sharing::new(entry, ranks),
        taken: names.collect(),
    };
    let mut merges = Vec::new();
    for (input, found) in products(entry) {
        planner.plan(input, found, &mut merges)?;
    }
    Ok(merges)
}

struct Planner<'a> {
    entry: &'a Function,
    locs: &'a LocTable,
    cx: &'a PassCx<'a>,
    precision: Option<&'a Precision>,
    sharing: Sharing<'a>,
    taken: FxHashSet<Name>,
}

impl Planner<'_> {
    /// Plans for what reads one value.
    fn plan(&mut self, input: Value, found: Vec<Product>, merges: &mut Vec<Merge>) -> Result<()> {
        if found.len() < 2 {
            return Ok(());
        }
        let mut groups: IndexMap<Key, Vec<(Projection, usize)>, FxBuildHasher> = IndexMap::default();
        for found in found {
            match found {
                Product::Other(at, reason) => self.missed(at, reason),
                Product::Projection(projection) => match self.sharing.copies(&projection) {
                    Err(reason) => self.missed(projection.at, &reason),
                    Ok(copies) => groups.entry(self.key(&projection)).or_default().push((projection, copies)),
                },
            }
        }
        self.explain_apart(&groups);
        for (_, members) in groups {
            if members.len() >= 2 {
                let merge = self.merge(input, members)?;
                self.explain_merge(&merge);
                merges.push(merge);
            }
        }
        Ok(())
    }

    fn merge(&mut self, input: Value, members: Vec<(Projection, usize)>) -> Result<Merge> {
        let weights = members.iter().map(|(own, copies)| (own.weight, own.transposed, *copies)).collect();
        let weight = self.pack(weights)?;
        let bias = self.bias(&members)?;
        Ok(Merge { input, members, weight, bias })
    }

    /// What the biases make, if every projection has one and they may be stored as one.
    fn bias(&mut self, members: &[(Projection, usize)]) -> Result<Option<Packed>> {
        let bias = |(own, copies): &(Projection, usize)| Some((own.bias.as_ref()?.param, false, *copies));
        let biases: Vec<_> = members.iter().filter_map(bias).collect();
        let mut keys = biases.iter().map(|&(param, ..)| self.param_key(param));
        let Some(first) = keys.next() else { return Ok(None) };
        let apart = if biases.len() < members.len() {
            Some("a projection beside it has none that is its own")
        } else {
            keys.find_map(|key| difference(&first, &key))
        };
        let Some(what) = apart else { return self.pack(biases).map(Some) };
        self.cx.explain(|| {
            let message = format!("`{}` stays apart: {what}", self.entry.params[biases[0].0].name);
            Remark::missed(PASS, "bias", message).at(self.locs, self.entry.insts[members[0].0.at].loc)
        });
        Ok(None)
    }

    /// A parameter of several: their positions, whether they are stored by columns, and their copies.
    fn pack(&mut self, params: Vec<(usize, bool, usize)>) -> Result<Packed> {
        let part = |&(at, transposed, copies): &(usize, bool, usize)| {
            let param = &self.entry.params[at];
            Part {
                name: param.name.to_string(),
                shape: self.entry.ty(param.value).shape().to_vec(),
                transposed,
                copies,
            }
        };
        let packing = Packing { ranks: self.sharing.ranks(), parts: params.iter().map(part).collect() };
        let names: Vec<_> = packing.parts.iter().map(|part| &*part.name).collect();
        let name = Name::unused(&merged(&names), |name| self.taken.contains(name));
        self.taken.insert(name.clone());
        let first = &self.entry.params[params[0].0];
        let ty = self.entry.ty(first.value).with_shape(packing.shape()?);
        let packing = Arc::new(packing);
        let info = WeightInfo { packing: Some(packing.clone()), ..weight_info(first) };
        Ok(Packed { name, ty, info, packing, params: params.into_iter().map(|(at, ..)| at).collect() })
    }

    fn key(&self, projection: &Projection) -> Key {
        let inst = &self.entry.insts[projection.at];
        let stated = |precision: &&Precision| precision.overrides.iter().any(|own| own.parameter.is_none());
        // A scope costs a text, and most recipes have no exception over instructions.
        let scope = self.precision.filter(stated).map(|_| self.locs.scope(inst.loc)).unwrap_or_default();
        // `auto-diff` and this pass make a plain product of a `linear`.
        let product = self.exceptions(Subject::Inst("dot_general", &scope));
        Key { product, ..self.param_key(projection.weight) }
    }

    fn param_key(&self, at: usize) -> Key {
        let param = &self.entry.params[at];
        let WeightInfo { init, decay, group, frozen, .. } = weight_info(param);
        let init = match init {
            Init::Zeros => [0, 0],
            Init::Ones => [1, 0],
            Init::Normal { std } => [2, std.to_bits()],
            Init::Constant(value) => [3, value.to_bits()],
            Init::Weight => [4, 0],
        };
        let parameter = self.exceptions(Subject::Parameter(&param.name));
        let dtype = self.entry.ty(param.value).dtype();
        Key { dtype, init, decay: decay.map(f64::to_bits), group, frozen, parameter, product: Vec::new() }
    }

    /// The precision exceptions that fit.
    fn exceptions(&self, subject: Subject<'_>) -> Vec<usize> {
        let all = self.precision.map_or(&[][..], |precision| &precision.overrides).iter().enumerate();
        all.filter(|(_, exception)| subject.fits(exception)).map(|(index, _)| index).collect()
    }

    fn missed(&self, at: usize, reason: &str) {
        let inst = &self.entry.insts[at];
        self.cx.explain(|| {
            let mut weights = self.entry.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
            let weight = weights.rfind(|param| inst.args.contains(&param.value));
            let what = weight.map_or("a product".to_owned(), |param| format!("`{}`", param.name));
            Remark::missed(PASS, RULE, format!("{what} stays apart: {reason}")).at(self.locs, inst.loc)
        });
    }

    /// Says why projections of one value are not all in one group.
    fn explain_apart(&self, groups: &IndexMap<Key, Vec<(Projection, usize)>, FxBuildHasher>) {
        let mut groups = groups.iter();
        let Some((first_key, first)) = groups.next() else { return };
        let name = |group: &[(Projection, usize)]| self.entry.params[group[0].0.weight].name.clone();
        for (key, group) in groups {
            self.cx.explain(|| {
                let why = difference(first_key, key).unwrap_or_default();
                let message = format!("`{}` stays apart from `{}`: {why}", name(group), name(first));
                Remark::missed(PASS, RULE, message).at(self.locs, self.entry.insts[group[0].0.at].loc)
            });
        }
    }

    fn explain_merge(&self, merge: &Merge) {
        self.cx.explain(|| {
            let Packed { name, ty, params, .. } = &merge.weight;
            let names: Vec<_> = params.iter().map(|&at| format!("`{}`", self.entry.params[at].name)).collect();
            let biases = if merge.bias.is_some() { ", biases too" } else { "" };
            let message = format!("{} become `{name}`, `{ty}`{biases}", names.join(", "));
            Remark::taken(PASS, RULE, message).at(self.locs, self.entry.insts[merge.members[0].0.at].loc)
        });
    }
}

fn weight_info(param: &Param) -> WeightInfo {
    match &param.role {
        ParamRole::Weight(info) => info.clone(),
        _ => unreachable!("projections have weights"),
    }
}

/// What weights that are stored as one agree in.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    dtype: DType,
    init: [u64; 2],
    decay: Option<u64>,
    group: Option<Name>,
    frozen: bool,
    /// The precision exceptions that fit the weight.
    parameter: Vec<usize>,
    /// Those that fit the product.
    product: Vec<usize>,
}

/// The first thing that two differ in.
fn difference(left: &Key, right: &Key) -> Option<&'static str> {
    let differences = [
        (left.dtype != right.dtype, "element types differ"),
        (left.init != right.init, "initializers differ"),
        (left.group != right.group, "they are in different groups of the optimizer"),
        (left.frozen != right.frozen, "one of them is frozen"),
        (left.decay != right.decay, "weight decays differ"),
        (left.parameter != right.parameter, "precision overrides match only one of the parameters"),
        (left.product != right.product, "precision overrides match only one of the products"),
    ];
    differences.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}
