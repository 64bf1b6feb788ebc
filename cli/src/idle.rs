//! Runs that are longer or shorter than the schedule of their learning rate.

use halite_optim::{BoundShape, ScheduleShapes};
use halite_recipe::{Recipe, Schedule};
use halite_support::{Diagnostic, codes};

/// A warning where so many updates go on behind the one at which the learning rate becomes 0.
pub(super) fn warning(schedule: &Schedule, shapes: &ScheduleShapes, steps: u64) -> Option<Diagnostic> {
    // The recipe of a bundle may have a shape of another session.
    let shape = shapes.read(schedule).ok()?;
    let first = first_idle(shape.as_ref(), u64::from(schedule.warmup), steps)?;
    let idle = steps - first;
    if idle == 0 {
        return None;
    }
    let updates = if idle == 1 {
        "the last update changes nothing".to_owned()
    } else {
        format!("the last {idle} updates change nothing")
    };
    let message = format!("the learning rate is 0 from update {first} on: {updates}");
    let warning = Diagnostic::warning(codes::RECIPE_CLASH, message).key("schedule.steps");
    let help = if first == u64::from(schedule.steps) {
        format!("set `schedule.steps = {steps}`, or a `schedule.floor` above 0")
    } else {
        format!("end after update {first}, or change the schedule")
    };
    Some(warning.note("a run that goes on takes another schedule with `--allow-changes`").help(help))
}

/// A line where a run ends before its learning rate has fallen as far as the schedule says. What was compiled before has its schedule.
pub(super) fn unfinished(recipe: &Recipe, shapes: &ScheduleShapes, steps: u64, is_compiled: bool) -> Option<String> {
    let schedule = &recipe.schedule;
    let shape = shapes.read(schedule).ok()?;
    let (end, rate) = (u64::from(schedule.steps), |update: u64| shape.reference(update as f64));
    let (last, lowest) = (rate(steps), rate(end));
    (steps > u64::from(schedule.warmup) && steps < end && last > lowest).then(|| {
        let of = |factor: f64| format!("{:.2e}", factor * recipe.optimizer.lr);
        let when = if is_compiled { "when it is compiled " } else { "" };
        format!(
            "the learning rate falls until update {end}, to {}, and this run ends after {steps}, at {}; `--set schedule.steps={steps}` {when}makes it fall faster\n",
            of(lowest),
            of(last),
        )
    })
}

/// The first of the updates at the end, up to `steps`, whose learning rate is 0; none where the last has one.
fn first_idle(shape: &dyn BoundShape, warmup: u64, steps: u64) -> Option<u64> {
    let is_idle = |update: u64| update > warmup && shape.reference(update as f64) == 0.0;
    if !is_idle(steps) {
        return None;
    }
    // Rates that have fallen stay.
    let (mut moves, mut idle) = (warmup, steps);
    while idle - moves > 1 {
        let middle = moves + (idle - moves) / 2;
        if is_idle(middle) {
            idle = middle;
        } else {
            moves = middle;
        }
    }
    Some(idle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(schedule: &str, steps: u64) -> Option<(String, String)> {
        let schedule: Schedule = toml::from_str(schedule).unwrap();
        let warning = warning(&schedule, &ScheduleShapes::builtin(), steps)?;
        Some((warning.message().to_owned(), warning.help_text().unwrap_or_default().to_owned()))
    }

    #[test]
    fn it_is_told_from_which_update_on_nothing_changes() {
        let from =
            |first: u64, idle: &str| format!("the learning rate is 0 from update {first} on: the last {idle} nothing");
        for shape in ["", "shape = 'linear'", "shape = 'warmup_stable_decay'\ndecay = 100"] {
            let schedule = format!("warmup = 20\nsteps = 300\n{shape}");
            let (message, help) = told(&schedule, 400).unwrap();
            assert_eq!(message, from(300, "100 updates change"), "{shape}");
            assert_eq!(help, "set `schedule.steps = 400`, or a `schedule.floor` above 0");
            assert_eq!(told(&schedule, 301).unwrap().0, from(300, "update changes"));
            assert_eq!(told(&schedule, u64::MAX).unwrap().0, from(300, &format!("{} updates change", u64::MAX - 300)));
            assert_eq!(told(&schedule, 300), None);
            assert_eq!(told(&schedule, 250), None);
            assert_eq!(told(&format!("floor = 0.1\n{schedule}"), 400), None);
        }
        let (message, help) = told("shape = 'piecewise_constant'\nat = [10, 20]\nfactors = [0.5, 0.0]", 30).unwrap();
        assert_eq!(
            (message, help.as_str()),
            (from(20, "10 updates change"), "end after update 20, or change the schedule")
        );
        for kept in ["", "warmup = 20", "shape = 'constant'", "shape = 'inverse_sqrt'", "shape = 'of another session'"]
        {
            assert_eq!(told(kept, 1_000_000), None, "{kept}");
        }
    }
}
