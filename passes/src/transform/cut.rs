//! `cut`.

mod budget;
mod couple;
mod cutter;
mod explain;
mod joint;
mod min_cut;
mod names;
mod policy;
mod price;
mod rewrite;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Milestone, Pass, PassCx, PassInfo, Relation};
use crate::framework::remark::Remark;
use budget::Plan;
use cutter::{Around, Cutter, Made};
use halite_ir::{Function, Module, ParamRole, Phase, fingerprint};
use halite_recipe::{Calls, Parallel};
use halite_support::{Diagnostic, Name, Result, codes};
use policy::Policy;
use price::{Price, Totals};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// The name of the pass.
const PASS: &str = "cut";

/// Says which values a forward keeps for its backward, and which the backward computes again.
///
/// Both are seen as one function, where equal instructions are one. Of the values that follow from the arguments of the forward,
/// those are kept that cost the fewest bytes, such that all that the backward reads can be computed from them and from weights by
/// instructions that the recipe lets be computed again: `recompute`. Without one these are chains of element-wise ops and
/// movements; the results of matmuls and reductions are kept.
///
/// If calls are written out in the end, a recomputation would be merged with what it repeats. Then all is kept unless `recompute` says
/// otherwise, and an `optimization_barrier` holds the operands of the recomputation until the first cotangent is there.
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
            .milestone(Milestone::Recompute)
            .example(golden!("cut" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe(PASS)?;
        // Weights that ranks store parts of are gathered again in any case.
        let stores = recipe.parallel.as_ref().is_some_and(Parallel::stores_parts);
        if cx.target.calls == Calls::Inline && !recipe.recomputes() && !stores {
            return Ok(Changed::No);
        }
        let policy = Policy::of(recipe);
        let before = fingerprint(module);
        let entry = module.take_entry()?;
        // The second of two modules that make an update has no forward to compute again.
        let is_fed = entry.params.iter().any(|param| param.role == ParamRole::Batch);
        let plan = match recipe.residual_budget() {
            None => Plan::all(Price::MEMORY),
            Some(budget) => within(budget, module, cx, &policy, &entry)?,
        };
        let mut cutter = Cutter::new(module, cx, &policy);
        let (changed, ..) = cut(&mut cutter, &entry, plan)?;
        let (made, renamed) = cutter.finish();
        let is_changed = changed.is_some();
        module.functions.push(changed.unwrap_or(entry));
        if is_changed {
            policy.check()?;
            module.drop_unreached();
            let names = names::rename(module, renamed);
            // What was cut before is made as it was.
            if fingerprint(module) == before {
                return Ok(Changed::No);
            }
            say(cx, made, &names);
        } else if is_fed && recipe.recomputes() {
            cx.warn(idle);
        }
        Ok(Changed::when(is_changed))
    }
}

/// An entry that calls what was cut, `None` where that is nothing; what that keeps and repeats; and how many couples had a price of
/// the plan.
type Outcome = (Option<Function>, Totals, usize);

/// Cuts what an entry calls.
fn cut(cutter: &mut Cutter<'_>, entry: &Function, plan: Plan) -> Result<Outcome> {
    let free: Vec<bool> = entry.params.iter().map(|param| param.role != ParamRole::Argument).collect();
    let couples = Cell::new(0);
    let price = |ordinal: usize| {
        couples.set(couples.get().max(ordinal + 1));
        plan.price(ordinal)
    };
    let (function, totals) = cutter.cut(entry, Around { free: &free, scope: "", depth: 0, price: &price })?;
    Ok((function, totals, couples.get()))
}

/// The plan of recomputation that keeps no more than a budget; each plan is tried on a copy.
fn within(budget: u64, module: &Module, cx: &PassCx<'_>, policy: &Policy<'_>, entry: &Function) -> Result<Plan> {
    let quiet = PassCx { findings: None, ..*cx };
    budget::plan(budget, |plan| {
        let (_, totals, couples) = cut(&mut Cutter::new(&mut module.clone(), &quiet, policy), entry, plan)?;
        Ok((totals, couples))
    })
}

/// Says of each forward what it keeps, by its new name.
fn say(cx: &PassCx<'_>, made: Vec<Made>, names: &FxHashMap<Name, Name>) {
    for Made { name, remark, scopes, .. } in made {
        if let Some(remark) = remark {
            let message = format!("`@{}` {remark}", names.get(&name).unwrap_or(&name));
            cx.explain(|| Remark::taken(PASS, "residuals", message).in_scopes(scopes));
        }
    }
}

/// The warning that `recompute` is stated and does nothing.
fn idle() -> Diagnostic {
    Diagnostic::warning(codes::RECIPE_CLASH, "`recompute` has no effect: the model calls no function several times")
        .key("recompute")
        .note("what is computed again is that of functions, as of the block that a model repeats for each layer")
        .help("remove `recompute`, or write what the model repeats as a function of it")
}
