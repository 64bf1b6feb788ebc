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

/// First what reads nothing or parameters alone, in the order of parameters; then what became ready, first come first
/// served.
fn breadth_first(steps: &Steps) -> Vec<StepId> {
    let num = steps.steps.len();
    let mut users: Vec<Vec<StepId>> = vec![Vec::new(); num];
    let mut waits: Vec<u32> = vec![0; num];
    let mut first = Vec::new();
    for step in 0..num as StepId {
        let reads = steps.reads(step);
        waits[step as usize] = reads.len() as u32;
        for &read in reads {
            users[read as usize].push(step);
        }
        if reads.is_empty() {
            first.push(step);
        }
    }
    first.sort_by_key(|step| steps.steps[*step as usize].last_parameter);
    let mut ready = VecDeque::from(first);
    let mut order = Vec::with_capacity(num);
    while let Some(step) = ready.pop_front() {
        order.push(step);
        for &user in &users[step as usize] {
            waits[user as usize] -= 1;
            if waits[user as usize] == 0 {
                ready.push_back(user);
            }
        }
    }
    order
}
