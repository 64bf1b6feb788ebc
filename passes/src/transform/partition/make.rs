//! The plans of a function and of all that it calls.

use super::plan::{Given, Key, Plan, Plans};
use super::planner::Planner;
use super::preference::preferences;
use halite_ir::InferCx;
use halite_support::{Diagnostic, Result};
use std::rc::Rc;

/// The most rounds in which preferences are passed back; each materializes what the one before changed.
const ROUNDS: usize = 6;

/// The plan of a function, made after those of its callees.
///
/// # Errors
/// When an op refuses its operands, which is a bug.
pub(super) fn make(plans: &mut Plans, given: &Given<'_>, cx: &InferCx<'_>, key: Key) -> Result<Rc<Plan>> {
    let mut open = vec![Rc::new(key)];
    while let Some(key) = open.last().cloned() {
        if plans.index.contains_key(&key) {
            open.pop();
            continue;
        }
        match materialized(Planner::new(given, cx, plans, &key)?)? {
            Ok(plan) => {
                plans.index.insert(key.clone(), plans.done.len());
                plans.done.push((key, Rc::new(plan)));
            }
            Err(needed) => open.push(Rc::new(needed)),
        }
    }
    let (_, plan) = plans.done.last().ok_or_else(|| Diagnostic::bug("no plan was made"))?;
    Ok(plan.clone())
}

/// The plan once preferences hold still, or a callee whose plan has to be made before.
fn materialized(mut planner: Planner<'_>) -> Result<std::result::Result<Plan, Key>> {
    let mut rounds = 0;
    loop {
        let mut plan = match planner.forward()? {
            Ok(plan) => plan,
            Err(needed) => return Ok(Err(needed)),
        };
        let preferences = preferences(&planner, &plan)?;
        if preferences == planner.preferences || rounds == ROUNDS {
            let params = planner.function.params.iter();
            plan.wanted = params.map(|param| planner.preferences[param.value.index()].clone()).collect();
            return Ok(Ok(plan));
        }
        planner.preferences = preferences;
        rounds += 1;
    }
}
