//! Cutting what a function calls.

use super::couple::{Couple, Link, Site, couples};
use super::explain::explain;
use super::joint::{Choice, Choices, Joint};
use super::names::Renamed;
use super::policy::Policy;
use super::price::{Price, Totals};
use super::rewrite::{NewCall, NewCalls, rewrite};
use crate::framework::pass::{Changed, Pass, PassCx};
use crate::transform::{cse::Cse, dce::Dce, fold_constant::FoldConstant, simplify::Simplify};
use halite_ir::paths::nested;
use halite_ir::{FuncId, Function, InferCx, Module, ParamRole, Value, Values, function_flops, inst_cost};
use halite_recipe::Calls;
use halite_support::{Name, Names, Result};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Rounds of cleaning a forward and its backward up.
const ROUNDS: usize = 8;

/// The depth to which calls are followed: functions that are called deeper keep what they keep.
const MAX_DEPTH: usize = 64;

/// The cut of a module under way.
pub(super) struct Cutter<'a> {
    module: &'a mut Module,
    cx: &'a PassCx<'a>,
    policy: &'a Policy<'a>,
    /// The functions that were made, by the cut that was chosen: calls with equal cuts share functions.
    made: IndexMap<Cut, Made, FxBuildHasher>,
    /// The replacements of functions that are called and are no part of a couple, by the scope of the call where scopes matter.
    others: FxHashMap<(FuncId, String), (FuncId, Totals)>,
    /// The names of the functions of the module.
    names: Names,
    renamed: Vec<Renamed>,
}

/// A couple, the functions that it calls, and what was chosen for it.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Cut {
    couple: Couple,
    callees: Vec<FuncId>,
    choice: Choice,
}

/// A forward and its backward.
pub(super) struct Made {
    functions: [FuncId; 2],
    totals: Totals,
    /// The name of the forward so far.
    pub(super) name: Name,
    /// The remark on it, if remarks are read.
    pub(super) remark: Option<String>,
    /// The scopes of its calls.
    pub(super) scopes: Vec<String>,
}

/// The call site of a function.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// For each of its parameters, whether it is there without being kept.
    pub(super) free: &'a [bool],
    /// The scope, where scopes matter.
    pub(super) scope: &'a str,
    pub(super) depth: usize,
    /// The price for each of the couples that it calls, in order.
    pub(super) price: &'a dyn Fn(usize) -> Price,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(module: &'a mut Module, cx: &'a PassCx<'a>, policy: &'a Policy<'a>) -> Self {
        let (made, others) = (IndexMap::default(), FxHashMap::default());
        let (names, renamed) = (module.names(), Vec::new());
        Self { module, cx, policy, made, others, names, renamed }
    }

    /// Cuts what a function calls; `None` where that is nothing.
    pub(super) fn cut(&mut self, function: &Function, around: Around<'_>) -> Result<(Option<Function>, Totals)> {
        if around.depth >= MAX_DEPTH || function.insts.iter().all(|inst| inst.op.callee().is_none()) {
            return Ok((None, Totals::default()));
        }
        let mut calls = NewCalls::default();
        let mut totals = Totals::default();
        for (couple, sites) in couples(self.module, function) {
            let free = free_args(function, &sites, around.free);
            for ((scope, price), sites) in self.by_context(function, sites, around) {
                let made = self.couple(&couple, &free, &scope, price, around.depth)?;
                totals.add(self.made[made].totals, sites.len());
                self.place(made, function, &sites, around.scope, &mut calls);
            }
        }
        totals.add(self.others(function, around, &mut calls)?, 1);
        let function = match calls.is_empty() {
            true => None,
            false => Some(rewrite(self.module, self.cx.registry, function, &calls)?),
        };
        Ok((function, totals))
    }

    /// Calls by where they are, as far as that matters, and by price.
    fn by_context(
        &self,
        function: &Function,
        sites: Vec<Site>,
        around: Around<'_>,
    ) -> IndexMap<(String, Price), Vec<Site>, FxBuildHasher> {
        let mut groups: IndexMap<_, Vec<Site>, _> = IndexMap::default();
        for site in sites {
            let scope = self.scope(function, site.forward, around);
            groups.entry((scope, (around.price)(site.ordinal))).or_default().push(site);
        }
        groups
    }

    /// The scope of a call, where scopes matter.
    fn scope(&self, function: &Function, call: usize, around: Around<'_>) -> String {
        match self.policy.names_scopes() {
            true => nested(around.scope, self.module.locs.scope(function.insts[call].loc)),
            false => String::new(),
        }
    }

    /// The position among what was made of a couple whose arguments `free` are there anyway.
    fn couple(&mut self, couple: &Couple, free: &[bool], scope: &str, price: Price, depth: usize) -> Result<usize> {
        let mut joint = Joint::of(self.module, self.cx.registry, couple)?;
        let mut inner = free.to_vec();
        inner.resize(joint.function.params.len(), false);
        let around = Around { free: &inner, scope, depth: depth + 1, price: &|_| price };
        let (function, within) = self.cut(&joint.function, around)?;
        joint.function = clean(self.module, self.cx, function.unwrap_or(joint.function))?;
        joint.take_residuals();
        let cx = InferCx { functions: &self.module.functions, registry: self.cx.registry };
        let choice = joint.choose(Choices { cx, locs: &self.module.locs, policy: self.policy, scope, price }, free);
        let callees = joint.function.insts.iter().filter_map(|inst| inst.op.callee()).collect();
        let cut = Cut { couple: couple.clone(), callees, choice };
        if let Some(known) = self.made.get_index_of(&cut) {
            return Ok(known);
        }
        let made = self.make(&joint, &cut, within.flops)?;
        Ok(self.made.insert_full(cut, made).0)
    }

    /// Makes a forward and its backward, given the operations that are repeated in what they call.
    fn make(&mut self, joint: &Joint, cut: &Cut, within: u64) -> Result<Made> {
        let (choice, registry) = (&cut.choice, self.cx.registry);
        let wanted = [cut.couple.forward, cut.couple.backward].map(|id| self.module.function(id).name.clone());
        let cx = InferCx { functions: &self.module.functions, registry };
        let callees = function_flops(&cx);
        let cost = |inst: &&_| inst_cost(&cx, &callees, &joint.function, inst).flops;
        let flops = joint.computed_again(choice).iter().map(cost).fold(0, u64::saturating_add);
        let bytes = joint.kept(choice).into_iter().map(|value| joint.function.ty(value).bytes()).sum();
        let remark = self.cx.explains().then(|| explain(joint, choice, flops));
        let own = wanted.each_ref().map(|wanted| self.names.unused(wanted));
        let forward = joint.forward(self.module, registry, own[0].clone(), choice)?;
        let holds = self.cx.target.calls == Calls::Inline;
        let backward = joint.backward(self.module, registry, own[1].clone(), choice, holds)?;
        let functions = [forward, backward];
        for (made, source) in functions.into_iter().zip([cut.couple.forward, cut.couple.backward]) {
            self.module.functions[made.index()].task = self.module.function(source).task;
        }
        let name = own[0].clone();
        self.renamed.push(Renamed { own: own.into(), wanted: wanted.into() });
        let totals = Totals { bytes, flops: flops.saturating_add(within) };
        Ok(Made { functions, totals, name, remark, scopes: Vec::new() })
    }

    /// Has calls call what was made.
    fn place(&mut self, made: usize, function: &Function, sites: &[Site], outer: &str, calls: &mut NewCalls) {
        let Some((Cut { couple, choice, .. }, made)) = self.made.get_index_mut(made) else { return };
        let [forward, backward] = made.functions;
        for site in sites {
            made.scopes.push(nested(outer, self.module.locs.scope(function.insts[site.forward].loc)));
            let own = couple.links.iter().enumerate().filter(|(_, link)| **link == Link::Own);
            let own: Values = own.map(|(at, _)| function.insts[site.backward].args[at]).collect();
            let args: Values = choice.args.iter().map(|&at| function.insts[site.forward].args[at]).collect();
            calls.insert(site.forward, NewCall::Forward(forward));
            calls.insert(site.backward, NewCall::Backward { callee: backward, args, site: site.forward, own });
        }
    }

    /// Cuts what other functions call that a function calls, such as that of a micro-batch. They run one after another.
    fn others(&mut self, function: &Function, around: Around<'_>, calls: &mut NewCalls) -> Result<Totals> {
        let mut all = Totals::default();
        for (position, inst) in function.insts.iter().enumerate() {
            let Some(call) = inst.call() else { continue };
            if calls.contains_key(&position) {
                continue;
            }
            let scope = self.scope(function, position, around);
            let (callee, totals) = self.other(call.callee, scope, around)?;
            all = Totals { bytes: all.bytes.max(totals.bytes), flops: all.flops.saturating_add(totals.flops) };
            if callee != call.callee {
                calls.insert(position, NewCall::Other(callee));
            }
        }
        Ok(all)
    }

    fn other(&mut self, callee: FuncId, scope: String, around: Around<'_>) -> Result<(FuncId, Totals)> {
        let key = (callee, scope);
        if let Some(known) = self.others.get(&key) {
            return Ok(*known);
        }
        let function = self.module.function(callee).clone();
        let free: Vec<bool> = function.params.iter().map(|param| param.role != ParamRole::Argument).collect();
        let around = Around { free: &free, scope: &key.1, depth: around.depth + 1, ..around };
        let (changed, totals) = self.cut(&function, around)?;
        let new = changed.map_or(callee, |mut changed| {
            let wanted = function.name;
            changed.name = self.names.unused(&wanted);
            self.renamed.push(Renamed { own: vec![changed.name.clone()], wanted: vec![wanted] });
            self.module.functions.push(changed);
            FuncId::new(self.module.functions.len() - 1)
        });
        self.others.insert(key, (new, totals));
        Ok((new, totals))
    }

    /// The couples that were made, and the functions that take over the names of those that they replace.
    pub(super) fn finish(self) -> (Vec<Made>, Vec<Renamed>) {
        (self.made.into_values().collect(), self.renamed)
    }
}

/// For each argument of a forward, whether it is there without being kept: a parameter of the caller that is, or a value that all calls
/// are given.
fn free_args(function: &Function, sites: &[Site], free: &[bool]) -> Vec<bool> {
    let params: FxHashMap<Value, bool> =
        function.params.iter().zip(free).map(|(param, free)| (param.value, *free)).collect();
    let args = |site: &Site| &function.insts[site.forward].args;
    let Some(first) = sites.first() else { return Vec::new() };
    let is_free = |at: usize| {
        let is_param = sites.iter().all(|site| params.get(&args(site)[at]) == Some(&true));
        is_param || (sites.len() > 1 && sites.iter().all(|site| args(site)[at] == args(first)[at]))
    };
    (0..args(first).len()).map(is_free).collect()
}

/// Merges what forward and backward have in common.
fn clean(module: &mut Module, cx: &PassCx<'_>, function: Function) -> Result<Function> {
    module.functions.push(function);
    for _ in 0..ROUNDS {
        let mut changed = false;
        for pass in [&Cse as &dyn Pass, &Simplify::default(), &FoldConstant, &Dce] {
            changed |= pass.run(module, cx)? == Changed::Yes;
        }
        if !changed {
            break;
        }
    }
    module.take_entry()
}
