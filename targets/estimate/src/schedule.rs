//! The order in which steps run.

use super::backend::Order;
use super::storage::{StepId, Steps};
use std::collections::VecDeque;

/// All steps in the order in which they run.
pub(super) fn schedule(steps: &Steps, order: Order) -> Vec<StepId> {
    let num = steps.steps.len() as StepId;
    match order {
        Order::Program => (0..num).collect(),
        Order::BreadthFirst => breadth_first(steps),
    }
}

/// Runs first the steps that read parameters alone, in the order of parameters, then steps as they become ready, first come first
/// served. Steps that read nothing at all, such as the zeros that a scatter adds to, run before their first reader.
fn breadth_first(steps: &Steps) -> Vec<StepId> {
    let num = steps.steps.len();
    let is_filled = |step: StepId| steps.reads(step).is_empty() && steps.steps[step as usize].last_parameter.is_none();
    let mut users: Vec<Vec<StepId>> = vec![Vec::new(); num];
    let mut waits: Vec<u32> = vec![0; num];
    let mut first = Vec::new();
    for step in (0..num as StepId).filter(|step| !is_filled(*step)) {
        for &read in steps.reads(step).iter().filter(|read| !is_filled(**read)) {
            users[read as usize].push(step);
            waits[step as usize] += 1;
        }
        if waits[step as usize] == 0 {
            first.push(step);
        }
    }
    first.sort_by_key(|step| steps.steps[*step as usize].last_parameter);
    let mut ready = VecDeque::from(first);
    let mut order = Vec::with_capacity(num);
    let mut filled = vec![false; num];
    while let Some(step) = ready.pop_front() {
        let fills = steps.reads(step).iter().copied().filter(|read| is_filled(*read));
        order.extend(fills.filter(|read| !std::mem::replace(&mut filled[*read as usize], true)));
        order.push(step);
        for &user in &users[step as usize] {
            waits[user as usize] -= 1;
            if waits[user as usize] == 0 {
                ready.push_back(user);
            }
        }
    }
    // What nothing reads is a result.
    order.extend((0..num as StepId).filter(|step| is_filled(*step) && !filled[*step as usize]));
    order
}
