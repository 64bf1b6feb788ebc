//! Preferred shardings of values, from their readers.

use super::fact::{Fact, Placement, SubAxes, of_factors, to_factors};
use super::plan::Plan;
use super::planner::Planner;
use halite_ir::dims::{Factor, FactorKind, FactorMap};
use halite_ir::ops::Reduction;
use halite_ir::{Inst, Linear};
use halite_support::{Result, check_cancelled};
use halite_tensor::{DimShards, Sharding};

/// For each value, its preferred sharding if that differs from the one in which it is made, from the last instruction to the first.
///
/// A value of which all readers want a smaller part is computed as that part alone. For a partial sum, the first reader that wants a
/// shard of it decides its sharding.
pub(super) fn preferences(planner: &Planner<'_>, plan: &Plan) -> Result<Vec<Option<Sharding>>> {
    let function = planner.function;
    let mut asked: Vec<Option<Sharding>> = vec![None; function.values.len()];
    for (at, result) in function.results.iter().enumerate() {
        let rank = function.ty(result.value).rank();
        let own = planner.returned_at(&result.role, rank).map(|place| place.sharding);
        let preference = own.or_else(|| planner.key.preferences.get(at)?.clone());
        if let Some(preference) = preference {
            ask(plan, &mut asked[result.value.index()], result.value.index(), preference);
        }
    }
    let mut preferences = vec![None; function.values.len()];
    for (at, inst) in function.insts.iter().enumerate().rev() {
        check_cancelled()?;
        for &result in &inst.results {
            preferences[result.index()] = preference(plan, result.index(), &asked[result.index()]);
        }
        let indifferent = indifferent(planner, inst, at, &asked);
        for (&arg, request) in inst.args.iter().zip(requests(planner, plan, inst, at, &preferences)) {
            let place = &plan.facts[arg.index()].place;
            // Where it lies by a preference it is asked for there again, so that it stays.
            let own = place.is_whole() && planner.preferences[arg.index()].is_none();
            let asks = |request: &Sharding| !(indifferent && own && *request == place.sharding);
            if let Some(request) = request.filter(asks) {
                ask(plan, &mut asked[arg.index()], arg.index(), request);
            }
        }
    }
    for param in &function.params {
        preferences[param.value.index()] = preference(plan, param.value.index(), &asked[param.value.index()]);
    }
    Ok(preferences)
}

/// Joins a request to those before. For a whole value it is the sharding that all have in common. For a partial sum, and for a weight,
/// to which other operands are brought, it is the first in the program that asks for a shard.
fn ask(plan: &Plan, asked: &mut Option<Sharding>, value: usize, request: Sharding) {
    let Fact { place, stationary, .. } = &plan.facts[value];
    let shared = request != place.sharding;
    *asked = match asked.take() {
        Some(other) if place.is_whole() && !stationary => Some(common(&other, &request)),
        Some(other) if !shared => Some(other),
        _ => Some(request),
    };
}

fn common(x: &Sharding, y: &Sharding) -> Sharding {
    let both = |(x, y): (&DimShards, &DimShards)| x.iter().filter(|digit| y.contains(digit)).copied().collect();
    Sharding(x.0.iter().zip(&y.0).map(both).collect())
}

/// The sharding that is asked of a value, if it extends the one that the value has.
fn preference(plan: &Plan, value: usize, asked: &Option<Sharding>) -> Option<Sharding> {
    let place = &plan.facts[value].place;
    let sharding = asked.as_ref()?;
    let includes = common(sharding, &place.sharding) == place.sharding;
    includes.then(|| sharding.clone())
}

/// Whether an instruction can be computed wherever its operands are, and no reader of it minds: it works position by position, or makes
/// one number of all.
fn indifferent(planner: &Planner<'_>, inst: &Inst, at: usize, asked: &[Option<Sharding>]) -> bool {
    let scalar = inst.results.iter().all(|&result| planner.function.ty(result).rank() == 0);
    let anywhere = |factor: &Factor| match factor.kind {
        FactorKind::Parallel => true,
        FactorKind::Contracted(reduction) => scalar && reduction == Some(Reduction::Sum),
        FactorKind::Indexed | FactorKind::Mixed => false,
    };
    let unasked = inst.results.iter().all(|result| asked[result.index()].is_none());
    (unasked || scalar) && planner.known.maps[at].factors.iter().all(anywhere)
}

/// The shardings that an instruction wants for its operands, when its results have their preferred ones.
fn requests(
    planner: &Planner<'_>,
    plan: &Plan,
    inst: &Inst,
    at: usize,
    preferences: &[Option<Sharding>],
) -> Vec<Option<Sharding>> {
    let step = &plan.steps[at];
    if let Some(callee) = &step.callee {
        let wanted = planner.plans.get(callee).map(|plan| plan.wanted.clone()).unwrap_or_default();
        let request = |(position, place): (usize, &Placement)| {
            place.is_whole().then(|| wanted.get(position).cloned().flatten().unwrap_or_else(|| place.sharding.clone()))
        };
        return step.decision.operands.iter().enumerate().map(request).collect();
    }
    let own: Vec<Option<Sharding>> = inst.results.iter().map(|result| preferences[result.index()].clone()).collect();
    let decision = planner.again(plan, inst, at, &own);
    let passed = decision.operands.iter().filter(|place| !place.is_whole()).count();
    let request = |(position, place): (usize, &Placement)| {
        let arg = inst.args[position].index();
        if place.is_whole() || place.partial.len() < plan.facts[arg].place.partial.len() {
            return Some(place.sharding.clone());
        }
        // Terms are narrowed before they travel.
        if inst.rounding.is_some() {
            return None;
        }
        let single = passed == 1 && planner.known.linear[at] != Linear::No;
        let Some(preference) = own.first().cloned().flatten().filter(|_| single) else {
            return planner.preferences[arg].is_some().then(|| place.sharding.clone());
        };
        Some(back(&planner.known.maps[at], position, &preference, &place.sharding, &place.partial))
    };
    decision.operands.iter().enumerate().map(request).collect()
}

/// A sharding of the first result as one of an operand.
fn back(map: &FactorMap, operand: usize, preference: &Sharding, now: &Sharding, partial: &SubAxes) -> Sharding {
    let mut sharded = vec![DimShards::new(); map.factors.len()];
    for (digits, factors) in preference.0.iter().zip(&map.results[0]) {
        for at in to_factors(map, factors, digits).filter(|at| partial.contains(&at.digit.sub_axis)) {
            sharded[at.factor].push(at.digit);
        }
    }
    let mut request = now.clone();
    for (dim, factors) in map.operands[operand].iter().enumerate() {
        for digit in of_factors(map, factors, &sharded) {
            request = request.with(dim, digit);
        }
    }
    request
}
