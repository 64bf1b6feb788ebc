//! `cut`.

mod explain;
mod joint;
mod min_cut;
mod policy;
mod sites;

use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::framework::remark::Remark;
use crate::transform::{cse::Cse, dce::Dce, fold_constant::FoldConstant, simplify::Simplify};
use halite_ir::ops::Call;
use halite_ir::{FuncId, Function, InferCx, Module, ParamRole, Phase, Rewriter, Value, Values};
use halite_recipe::{Calls, Recompute};
use halite_support::{Diagnostic, Name, Result, codes};
use joint::{Choice, Joint};
use policy::Policy;
use rustc_hash::FxHashMap;
use sites::{Couple, Link, Site, couples};

/// The name of the pass.
const PASS: &str = "cut";

/// Rounds of cleaning a forward and its backward up.
const ROUNDS: usize = 8;

/// Says which values a forward keeps for its backward, and which the backward computes again.
///
/// Both are seen as one function, where equal instructions are one. Of the values that follow from the arguments of the forward,
/// those are kept that cost the fewest bytes, such that all that the backward reads can be computed from them and from weights by
/// instructions that the recipe lets be computed again: `recompute`. Without one these are chains of element-wise ops and
/// movements; the results of matmuls and reductions are kept.
///
/// Where calls are written out in the end, what is computed again would be merged with what it repeats: there all is kept
/// unless `recompute` says otherwise, and then an `optimization_barrier` holds what it is computed of until the first cotangent
/// is there.
///
/// ```text
/// func @f_forward(%x) -> (.., f32[4,8], f32[4,8] {residual})     func @f_forward(%x) -> (.., f32[4,8] {residual})
///   %h = dot_general %x, %w                                        %h = dot_general %x, %w
///   %e = exponential %h                                      =>    ..
/// func @f_backward(%h, %e, %ct)                                  func @f_backward(%h, %ct)
///   %0 = multiply %ct, %e                                          %e = exponential %h
/// ```
#[derive(Debug)]
pub(crate) struct Cut;

impl Pass for Cut {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "say what forwards keep for their backwards", Relation::Identical)
            .required()
            .needs(Phase::Differentiated..=Phase::Step)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe(PASS)?;
        let asked = !matches!(recipe.recompute[..], [] | [Recompute::None]);
        if cx.target.calls == Calls::Inline && !asked {
            return Ok(Changed::No);
        }
        let entry = module.take_entry()?;
        let free: Vec<bool> = entry.params.iter().map(|param| param.role != ParamRole::Argument).collect();
        let mut made = Vec::new();
        let (entry, changed) = cut(module, cx, Policy::of(recipe), entry, &free, &mut made)?;
        module.functions.push(entry);
        if changed {
            module.drop_unreached();
            rename(module, made);
        } else if asked {
            cx.warn(idle);
        }
        Ok(Changed::when(changed))
    }
}

/// What is stated and does nothing.
fn idle() -> Diagnostic {
    Diagnostic::warning(codes::RECIPE_CLASH, "`recompute` has no effect: the model calls no function several times")
        .key("recompute")
        .note("what is computed again is that of functions, as of the block that a model repeats for each layer")
        .help("remove `recompute`, or write what the model repeats as a function of it")
}

/// Cuts what a function calls, given which of its parameters are there without being kept.
fn cut(
    module: &mut Module,
    cx: &PassCx<'_>,
    policy: Policy<'_>,
    function: Function,
    free: &[bool],
    made: &mut Vec<Made>,
) -> Result<(Function, bool)> {
    let couples = couples(module, &function);
    if couples.is_empty() {
        return Ok((function, false));
    }
    let mut calls: FxHashMap<usize, NewCall> = FxHashMap::default();
    for (couple, sites) in couples {
        let free = free_args(&function, &sites, free);
        let (choice, new) = cut_couple(module, cx, policy, &couple, &free, (&function, &sites), made)?;
        for site in sites {
            let own = couple.links.iter().enumerate().filter(|(_, link)| **link == Link::Own);
            let own: Values = own.map(|(at, _)| function.insts[site.backward].args[at]).collect();
            let args: Values = choice.args.iter().map(|&at| function.insts[site.forward].args[at]).collect();
            calls.insert(site.forward, NewCall::Forward(new[0]));
            calls.insert(site.backward, NewCall::Backward { callee: new[1], args, site: site.forward, own });
        }
    }
    rewrite(module, cx, &function, &calls).map(|function| (function, true))
}

/// What a call becomes.
enum NewCall {
    Forward(FuncId),
    /// It takes these, then what the forward at `site` keeps, then what it has of its own.
    Backward {
        callee: FuncId,
        args: Values,
        site: usize,
        own: Values,
    },
}

/// Which arguments of a forward are there without being kept: parameters of the caller that are, and what all calls are given.
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

fn cut_couple(
    module: &mut Module,
    cx: &PassCx<'_>,
    policy: Policy<'_>,
    couple: &Couple,
    free: &[bool],
    (caller, sites): (&Function, &[Site]),
    made: &mut Vec<Made>,
) -> Result<(Choice, [FuncId; 2])> {
    let mut joint = Joint::of(module, cx.registry, couple)?;
    let mut inner = free.to_vec();
    inner.resize(joint.function.params.len(), false);
    joint.function = cut(module, cx, policy, joint.function, &inner, made)?.0;
    joint.function = clean(module, cx, joint.function)?;
    let infer = InferCx { functions: &module.functions, registry: cx.registry };
    let choice = joint.choose(&infer, &module.locs, policy, free);
    let wanted = [couple.forward, couple.backward].map(|id| module.function(id).name.clone());
    cx.explain(|| {
        let scopes = sites.iter().map(|site| module.locs.scope(caller.insts[site.forward].loc));
        let message = explain::explain(&infer, &wanted[0], &joint, &choice);
        Remark::taken(PASS, "residuals", message).in_scopes(scopes)
    });
    let forward = joint.forward(module, cx.registry, &wanted[0], &choice)?;
    let holds = cx.target.calls == Calls::Inline;
    let backward = joint.backward(module, cx.registry, &wanted[1], &choice, holds)?;
    let new = [forward, backward];
    made.push((new.map(|id| module.function(id).name.clone()), wanted));
    Ok((choice, new))
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

fn rewrite(
    module: &mut Module,
    cx: &PassCx<'_>,
    function: &Function,
    calls: &FxHashMap<usize, NewCall>,
) -> Result<Function> {
    let mut b = Rewriter::new(module, cx.registry, function);
    let mut kept: FxHashMap<usize, Values> = FxHashMap::default();
    for (position, inst) in function.insts.iter().enumerate() {
        let (callee, args) = match calls.get(&position) {
            None => {
                b.copy(function, inst)?;
                continue;
            }
            Some(NewCall::Forward(callee)) => (*callee, b.values(&inst.args)?),
            Some(NewCall::Backward { callee, args, site, own }) => {
                let mut all = b.values(args)?;
                all.extend(kept.remove(site).unwrap_or_default());
                all.extend(b.values(own)?);
                (*callee, all)
            }
        };
        let outer = b.set_loc(inst.loc);
        let results = b.emit_all(Call { callee }, &args)?;
        b.set_loc(outer);
        let is_residual = |at: usize| b.module().function(callee).results[at].role == halite_ir::ResultRole::Residual;
        let first = (0..results.len()).find(|&at| is_residual(at)).unwrap_or(results.len());
        kept.insert(position, Values::from_slice(&results[first..]));
        b.keep_names(function, inst, &results[..first.min(inst.results.len())]);
        b.replace_all(inst, &results[..first]);
    }
    b.copy_results(function)?;
    Ok(b.into_builder().into_function())
}

/// The functions that were made, forward and backward, by their names; and those of what they stand for.
type Made = (Names, Names);

/// Two names: of a forward and of its backward.
type Names = [Name; 2];

/// Gives forwards and backwards the names of those that they stand for, one number for both.
fn rename(module: &mut Module, made: Vec<Made>) {
    for (own, wanted) in made {
        let bases = wanted.each_ref().map(|name| base(name));
        let numbered =
            |number: usize| bases.map(|base| if number == 0 { base.to_owned() } else { format!("{base}.{number}") });
        let is_free = |names: &[String; 2]| {
            names.iter().all(|name| own.iter().any(|own| **own == **name) || module.find(name).is_none())
        };
        let Some(names) = (0..=module.functions.len()).map(numbered).find(is_free) else { continue };
        let ids = own.map(|own| module.find(&own));
        for (id, name) in ids.into_iter().zip(names) {
            if let Some(id) = id {
                module.functions[id.index()].name = name.into();
            }
        }
    }
}

/// A name without the numbers that told it apart.
fn base(mut name: &str) -> &str {
    while let Some((rest, number)) = name.rsplit_once('.')
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        name = rest;
    }
    name
}
