//! Plans as a plot.

use super::show::described;
use crate::context::Result;
use crate::table::counted;
use halite_page::plot::{self, Label, PlacedLayout};
use halite_plan::{Plan, Planned, Question};
use halite_support::Diagnostic;

/// Plans for numbers of instances, drawn: the one that was chosen, and the others beside it.
pub(super) fn plans(all: &[(&Question, Plan)], chosen: usize) -> Result<String> {
    let Some((question, plan)) = all.get(chosen) else { return Err(Diagnostic::bug("a plan of nothing").into()) };
    let Some(best) = plan.planned.first() else { return Err(Diagnostic::bug("a plan without a layout").into()) };
    let instances: Vec<u64> = all.iter().map(|(question, _)| question.instances).collect();
    let placed = all.iter().enumerate().flat_map(|(at, (_, plan))| of_plan(plan, at, instances[at], at == chosen));
    let instance = &question.machine.instance.name;
    let title = match instances[..] {
        [one] => format!("{} on {} of {instance}", question.input, counted(one as usize, "instance")),
        _ => {
            let numbers: Vec<String> = instances.iter().map(u64::to_string).collect();
            format!("{} on {} instances of {instance}", question.input, numbers.join(", "))
        }
    };
    Ok(plot::plan(&title, &placed.collect::<Vec<_>>(), best.bill.memory[1] as f64)?)
}

/// The layouts of a plan. Those of the chosen plan have their numbers in its table, of another one the best has its instances.
fn of_plan(plan: &Plan, group: usize, instances: u64, is_chosen: bool) -> Vec<PlacedLayout> {
    let Some(best) = plan.planned.first() else { return Vec::new() };
    let tokens = best.bill.tokens as f64;
    let hour = best.bill.cost().map(|cost| cost.hour);
    let dollars = |rate: f64| hour.map(|hour| hour / 3600.0 / rate * 1e9);
    let label = |at: usize, own: &Planned| {
        let on = counted(instances as usize, "instance");
        let mark = if is_chosen { (at + 1).to_string() } else { on.clone() };
        let words = described(&own.layout);
        (is_chosen || at == 0).then_some(Label { mark, words, is_best: is_chosen && at == 0 })
    };
    let planned = plan.planned.iter().enumerate().map(|(at, own)| PlacedLayout {
        bytes: own.bill.memory[0] as f64,
        tokens_per_second: own.bill.tokens_per_second(),
        dollars: dollars(own.bill.tokens_per_second()),
        group,
        is_ranked: true,
        label: label(at, own),
    });
    let told = plan.found.iter().filter(|own| plan.planned.iter().all(|planned| planned.layout != own.layout));
    let told = told.map(|own| PlacedLayout {
        bytes: own.bytes,
        tokens_per_second: tokens / own.seconds,
        dollars: dollars(tokens / own.seconds),
        group,
        is_ranked: false,
        label: None,
    });
    told.chain(planned).collect()
}
