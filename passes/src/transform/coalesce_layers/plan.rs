//! Projections that are merged, and the parameters that they make.

use super::bound::{Bound, Calls, calls};
use super::name::merged;
use super::projection::{Product, Projection, products};
use super::shares::Sharing;
use super::uses::Uses;
use super::{PASS, RULE};
use crate::framework::exception::Subject;
use crate::framework::pass::PassCx;
use crate::framework::pattern::matches_pattern;
use crate::framework::remark::Remark;
use halite_ir::paths::nested;
use halite_ir::{Def, FuncId, Function, Module, Param, ParamRole, TensorType, Value, WeightInfo};
use halite_recipe::{Divides, Precision};
use halite_support::{Name, Names, Result};
use halite_tensor::{DType, Packing, Part};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// The plan for a function.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) merges: Vec<Merge>,
    /// The parameters that are made of several: those of its merges, and those that calls hand on.
    pub(super) packed: Vec<Packed>,
}

/// Projections that become one.
pub(super) struct Merge {
    /// The value that they are applied to.
    pub(super) input: Value,
    /// The projections, in order, each with the number of ranks that hold each row of it.
    pub(super) members: Vec<(Projection, usize)>,
    /// The weight that they share, by its place among what is packed.
    pub(super) weight: usize,
    /// The bias that they share.
    pub(super) bias: Option<usize>,
}

/// A parameter that is made of several.
pub(super) struct Packed {
    pub(super) name: Name,
    pub(super) ty: TensorType,
    pub(super) role: ParamRole,
    /// How, as the role of a weight says too.
    pub(super) packing: Arc<Packing>,
    /// Its positions among the parameters of before, in order.
    pub(super) params: Vec<usize>,
}

/// The parameters of a packed one: position, whether stored by columns, and copies.
type Parts = Vec<(usize, bool, usize)>;

/// The plan for each function of a module; remarks name the projections that stay apart.
///
/// # Errors
/// None but bugs.
pub(super) fn plans(module: &Module, cx: &PassCx<'_>) -> Result<Vec<Plan>> {
    let Some(entry) = module.entry() else { return Ok(Vec::new()) };
    let parallel = cx.recipe.and_then(|recipe| recipe.parallel.as_ref());
    let ranks = parallel.map_or(1, |parallel| parallel.ranks_that_divide(Divides::Weights));
    let ranks = usize::try_from(ranks).unwrap_or(usize::MAX);
    // On a mesh ranks that read the same rows hold the same shard.
    let mesh = cx.recipe.map(|recipe| recipe.ranks(cx.target.ranks.is_some())).transpose()?;
    let copies = mesh.is_none_or(|mesh| mesh.num_ranks() == 1);
    let precision = cx.recipe.map(|recipe| &recipe.precision);
    let stated = |precision: &Precision| precision.overrides.iter().any(|own| own.parameter.is_none());
    let uses: Vec<Uses> = module.functions.iter().map(Uses::of).collect();
    let calls = calls(module, &uses, precision.is_some_and(stated));
    let mut plans: Vec<Plan> = Vec::with_capacity(module.functions.len());
    for (index, function) in module.functions.iter().enumerate() {
        let names = function.params.iter().flat_map(|param| param.originals().chain([&*param.name])).map(Name::from);
        let mut planner = Planner {
            module,
            entry,
            id: FuncId::new(index),
            function,
            calls: &calls[index],
            cx,
            precision,
            sharing: Sharing::new(function, ranks, copies),
            taken: names.collect(),
            plan: Plan::default(),
        };
        let packs = |weight: usize| entry.params[weight].packing().is_some();
        for (input, found) in products(function, &calls[index], &uses[index], packs) {
            planner.plan(input, found)?;
        }
        planner.hand_on(&plans)?;
        plans.push(planner.plan);
    }
    Ok(plans)
}

struct Planner<'a> {
    module: &'a Module,
    entry: &'a Function,
    /// That for which the plan is, and how it is called.
    id: FuncId,
    function: &'a Function,
    calls: &'a Calls,
    cx: &'a PassCx<'a>,
    precision: Option<&'a Precision>,
    sharing: Sharing<'a>,
    taken: Names,
    plan: Plan,
}

impl Planner<'_> {
    /// Whether the recipe places the weight of a projection by its name.
    fn is_placed(&self, projection: &Projection) -> bool {
        let parallel = self.cx.recipe.and_then(|recipe| recipe.parallel.as_ref());
        let is_placed = |name: &str| {
            parallel.is_some_and(|parallel| parallel.place.keys().any(|pattern| matches_pattern(pattern, name)))
        };
        self.calls.own(projection.weight).iter().any(|&weight| is_placed(&self.entry.params[weight].name))
    }

    /// Whether ranks share out the rows of a projection in another way than one block for each: where a size that the recipe names is not
    /// the first that they are made of, as in `2 * ffn`. What reads them lies as they do, and not as rows of a merged weight.
    fn shares_inner_rows(&self, projection: &Projection) -> bool {
        let Some(parallel) = self.cx.recipe.and_then(|recipe| recipe.parallel.as_ref()) else { return false };
        let is_inner = |&weight: &usize| {
            let dims = self.entry.params[weight].weight().and_then(|info| info.dims.as_deref());
            let rows = dims.and_then(|dims| dims.get(usize::from(projection.transposed)));
            let named = rows.and_then(|rows| rows.iter().position(|size| parallel.shard.names(size.name.as_deref())));
            rows.zip(named).is_some_and(|(rows, named)| rows[..named].iter().any(|size| size.size > 1))
        };
        self.sharing.ranks() > 1 && self.calls.own(projection.weight).iter().any(is_inner)
    }

    /// Plans for what reads one value.
    fn plan(&mut self, input: Value, found: Vec<Product>) -> Result<()> {
        if found.len() < 2 {
            return Ok(());
        }
        let mut groups: IndexMap<Vec<Key>, Vec<(Projection, usize)>, FxBuildHasher> = IndexMap::default();
        for found in found {
            match found {
                Product::Other(at, reason) => self.missed(at, reason),
                Product::Projection(projection) if self.is_placed(&projection) => {
                    self.missed(projection.at, "`parallel.place` says where its weight lies");
                }
                Product::Projection(projection) if self.shares_inner_rows(&projection) => {
                    self.missed(
                        projection.at,
                        "ranks share out its rows by a size that is not the first of their product",
                    );
                }
                Product::Projection(projection) => match self.sharing.copies(&projection) {
                    Err(reason) => self.missed(projection.at, &reason),
                    Ok(copies) => groups.entry(self.keys(&projection)).or_default().push((projection, copies)),
                },
            }
        }
        self.explain_apart(&groups);
        for (_, members) in groups {
            if members.len() >= 2 {
                let merge = self.merge(input, members)?;
                self.explain_merge(&merge);
                self.plan.merges.push(merge);
            }
        }
        Ok(())
    }

    /// Plans for the parameters that callees take as one.
    fn hand_on(&mut self, callees: &[Plan]) -> Result<()> {
        for inst in &self.function.insts {
            let Some(edge) = inst.call() else { continue };
            for packed in &callees[edge.callee.index()].packed {
                let own = |at: &usize| match self.function.values[inst.args[*at].index()].def {
                    Def::Param(own) => Some(own as usize),
                    Def::Inst(..) => None,
                };
                let parts = packed.params.iter().zip(&packed.packing.parts);
                let parts: Option<Parts> =
                    parts.map(|(at, part)| Some((own(at)?, part.transposed, part.copies))).collect();
                self.pack(parts.expect("what callees pack are weights at each call"))?;
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

    /// The packed bias, by its place, if every projection has a bias and they may be stored as one.
    fn bias(&mut self, members: &[(Projection, usize)]) -> Result<Option<usize>> {
        let bias = |(own, copies): &(Projection, usize)| Some((own.bias.as_ref()?.param, false, *copies));
        let biases: Parts = members.iter().filter_map(bias).collect();
        let mut keys = biases.iter().map(|&(param, ..)| self.param_keys(param));
        let Some(first) = keys.next() else { return Ok(None) };
        let apart = if biases.len() < members.len() {
            Some("a projection beside it has none that is its own".to_owned())
        } else {
            keys.find_map(|keys| self.difference(biases[0].0, &first, &keys))
        };
        let Some(what) = apart else { return self.pack(biases).map(Some) };
        self.cx.explain(|| {
            let message = format!("`{}` stays apart: {what}", self.function.params[biases[0].0].name);
            Remark::missed(PASS, "bias", message).at(self.module, self.id, self.function.insts[members[0].0.at].loc)
        });
        Ok(None)
    }

    /// A parameter of several, by its place among what is packed.
    fn pack(&mut self, params: Parts) -> Result<usize> {
        let part = |&(at, transposed, copies): &(usize, bool, usize)| {
            let param = &self.function.params[at];
            let shape = self.function.ty(param.value).shape().to_vec();
            Part { name: param.name.to_string(), shape, transposed, copies, padding: 0 }
        };
        let packing = Packing { ranks: self.sharing.ranks(), parts: params.iter().map(part).collect() };
        let names: Vec<_> = packing.parts.iter().map(|part| &*part.name).collect();
        let name = self.taken.unused(&merged(&names));
        let first = &self.function.params[params[0].0];
        let ty = self.function.ty(first.value).with_shape(packing.shape()?);
        let packing = Arc::new(packing);
        let role = match &first.role {
            ParamRole::Weight(info) => {
                let mut layers = params.iter().map(|&(at, ..)| weight_info(&self.function.params[at]).layer);
                let layer = info.layer.clone().filter(|layer| layers.all(|own| own.as_ref() == Some(layer)));
                ParamRole::Weight(WeightInfo { packing: Some(packing.clone()), dims: None, layer, ..info.clone() })
            }
            role => role.clone(),
        };
        let params = params.into_iter().map(|(at, ..)| at).collect();
        self.plan.packed.push(Packed { name, ty, role, packing, params });
        Ok(self.plan.packed.len() - 1)
    }

    /// The keys of a projection, by its weight and its product, call by call.
    fn keys(&self, projection: &Projection) -> Vec<Key> {
        let mut keys = self.param_keys(projection.weight);
        if !self.calls.scopes.is_empty() {
            let scope = self.module.locs.scope(self.function.insts[projection.at].loc);
            for (key, outer) in keys.iter_mut().zip(&self.calls.scopes) {
                let scope = nested(outer, scope.clone());
                // `auto-diff` and this pass make a plain product of a `linear`.
                key.product = self.exceptions(Subject::Inst("dot_general", &scope));
            }
        }
        keys
    }

    fn param_keys(&self, param: usize) -> Vec<Key> {
        self.calls.own(param).iter().map(|&weight| self.weight_key(weight)).collect()
    }

    /// That of a parameter of the entry.
    fn weight_key(&self, weight: usize) -> Key {
        let param = &self.entry.params[weight];
        let WeightInfo { init, decay, group, frozen, output, .. } = weight_info(param);
        let (word, numbers) = init.written();
        let init = (word, numbers.into_iter().map(f64::to_bits).collect());
        let parameter = self.exceptions(Subject::Parameter(&param.name));
        let dtype = self.entry.ty(param.value).dtype();
        Key { dtype, init, decay: decay.map(f64::to_bits), group, frozen, output, parameter, product: Vec::new() }
    }

    /// The precision exceptions that fit.
    fn exceptions(&self, subject: Subject<'_>) -> Vec<usize> {
        let all = self.precision.map_or(&[][..], |precision| &precision.overrides).iter().enumerate();
        all.filter(|(_, exception)| subject.fits(exception)).map(|(index, _)| index).collect()
    }

    fn missed(&self, at: usize, reason: &str) {
        let inst = &self.function.insts[at];
        self.cx.explain(|| {
            let mut params = self.function.params.iter().enumerate();
            let is_weight = |at: usize| self.calls.params.get(at).is_some_and(|bound| *bound != Bound::Other);
            let weight = params.rfind(|(at, param)| is_weight(*at) && inst.args.contains(&param.value));
            let what = weight.map_or("a product".to_owned(), |(_, param)| format!("`{}`", param.name));
            Remark::missed(PASS, RULE, format!("{what} stays apart: {reason}")).at(self.module, self.id, inst.loc)
        });
    }

    /// Says why projections of one value are not all in one group.
    fn explain_apart(&self, groups: &IndexMap<Vec<Key>, Vec<(Projection, usize)>, FxBuildHasher>) {
        let mut groups = groups.iter();
        let Some((first_keys, first)) = groups.next() else { return };
        let weight = |group: &[(Projection, usize)]| group[0].0.weight;
        for (keys, group) in groups {
            self.cx.explain(|| {
                let names = [group, first].map(|group| &self.function.params[weight(group)].name);
                let why = self.difference(weight(group), first_keys, keys).unwrap_or_default();
                let message = format!("`{}` stays apart from `{}`: {why}", names[0], names[1]);
                Remark::missed(PASS, RULE, message).at(self.module, self.id, self.function.insts[group[0].0.at].loc)
            });
        }
    }

    /// The first thing that two parameters differ in, `param` being one of them, and for which weight of the entry.
    fn difference(&self, param: usize, left: &[Key], right: &[Key]) -> Option<String> {
        let mut differences = left.iter().zip(right).map(|(left, right)| difference(left, right)).enumerate();
        let (call, what) = differences.find_map(|(call, what)| Some((call, what?)))?;
        let weight = &self.entry.params[self.calls.own(param)[call]].name;
        let is_entry = *weight == self.function.params[param].name;
        Some(if is_entry { what.to_owned() } else { format!("{what}, for `{weight}`") })
    }

    fn explain_merge(&self, merge: &Merge) {
        self.cx.explain(|| {
            let Packed { name, ty, params, .. } = &self.plan.packed[merge.weight];
            let names: Vec<_> = params.iter().map(|&at| format!("`{}`", self.function.params[at].name)).collect();
            let biases = if merge.bias.is_some() { ", biases too" } else { "" };
            let message = format!("{} become `{name}`, `{ty}`{biases}", names.join(", "));
            Remark::taken(PASS, RULE, message).at(self.module, self.id, self.function.insts[merge.members[0].0.at].loc)
        });
    }
}

fn weight_info(param: &Param) -> WeightInfo {
    match &param.role {
        ParamRole::Weight(info) => info.clone(),
        _ => unreachable!("projections have weights"),
    }
}

/// The properties in which weights that are stored as one agree.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    dtype: DType,
    init: (&'static str, Vec<u64>),
    decay: Option<u64>,
    group: Option<Name>,
    frozen: bool,
    output: usize,
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
        (left.output != right.output, "their update rule asks which dimension is `out`, and it is another"),
        (left.decay != right.decay, "weight decays differ"),
        (left.parameter != right.parameter, "precision overrides match only one of the parameters"),
        (left.product != right.product, "precision overrides match only one of the products"),
    ];
    differences.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}
