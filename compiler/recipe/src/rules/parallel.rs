//! A layout that is one: axes that there are, and no name twice.

use crate::{Cuts, Divides, Form, MeshAxis, Parallel, Places, Recipe};
use halite_schedule::ScheduleKind;
use halite_support::nearest::{list, nearest};
use halite_support::{Diagnostic, Diagnostics, codes};
use std::collections::BTreeSet;

pub(super) fn check(recipe: &Recipe, places: &Places, mistakes: &mut Diagnostics) {
    let at_key = |error: Diagnostic, label: &str| {
        let place = error.recipe_key().and_then(|key| places.nearest(key));
        error.or_at(place, label)
    };
    mistakes.extend(recipe.mesh().err().map(|error| at_key(error, "set here")));
    let Some(parallel) = &recipe.parallel else { return };
    mistakes.extend(pipeline(recipe, parallel).map(|error| at_key(error, "set here")));
    mistakes.extend(parts(parallel).map(|error| at_key(error, "set here")));
    mistakes.extend(twice(&parallel.shard.tensor).map(|error| at_key(error, "again here")));
    for (pattern, axes) in &parallel.place {
        mistakes.extend(axis(pattern, axes).map(|error| at_key(error, "not allowed here")));
    }
}

/// A pipeline that has no such schedule or no such parts, or what is said of the stages of none.
fn pipeline(recipe: &Recipe, parallel: &Parallel) -> Option<Diagnostic> {
    if parallel.pipeline > 1 && recipe.accumulate.is_some_and(|accumulate| accumulate.form == Some(Form::One)) {
        let message = "`accumulate.form` is `one`, and stages take micro-batches one by one";
        let error = Diagnostic::error(codes::RECIPE_CLASH, message).key("accumulate.form");
        return Some(error.help("leave out `form`, or set `parallel.pipeline = 1`"));
    }
    if parallel.pipeline > 1 {
        // Sizes that disagree are told by who makes a step of them.
        return recipe.sizes().ok().and_then(|_| recipe.pipeline().err());
    }
    let Parallel { chunks, schedule, .. } = *parallel;
    let (key, stated) = match schedule == ScheduleKind::OneForwardOneBackward {
        _ if chunks > 1 => ("parallel.chunks", format!("is {chunks}")),
        false => ("parallel.schedule", format!("is `{}`", schedule.name())),
        true if recipe.cuts().is_some() => (Cuts::KEY, "cuts the model into parts".to_owned()),
        true => return None,
    };
    let message = format!("`{key}` {stated}, and the pipeline has one stage");
    let help = format!("set `parallel.pipeline`, or leave out `{key}`");
    Some(Diagnostic::error(codes::RECIPE_CLASH, message).key(key).help(help))
}

/// A key that says something of weights in parts where ranks store none.
fn parts(parallel: &Parallel) -> Option<Diagnostic> {
    if parallel.stores_parts() {
        return None;
    }
    let Parallel { fsdp_prefetch, fsdp_delay, fsdp_bytes, .. } = *parallel;
    let (key, value) = match (fsdp_prefetch, fsdp_delay, fsdp_bytes) {
        (_, _, Some(bytes)) => ("parallel.fsdp_bytes", bytes),
        (_, 1.., None) => ("parallel.fsdp_delay", fsdp_delay),
        (0 | 2.., 0, None) => ("parallel.fsdp_prefetch", fsdp_prefetch),
        (1, 0, None) => return None,
    };
    let message = format!("`{key}` is {value}, and ranks store no parts of weights");
    let help = format!("set `parallel.fsdp`, or `parallel.zero = 3` with ranks along `data`, or leave out `{key}`");
    Some(Diagnostic::error(codes::RECIPE_CLASH, message).key(key).help(help))
}

/// A dimension that stands in a list twice.
fn twice(names: &[String]) -> Option<Diagnostic> {
    let mut seen = BTreeSet::new();
    let at = names.iter().position(|name| !seen.insert(name))?;
    let message = format!("`parallel.shard.tensor` has `{}` twice", names[at]);
    let error = Diagnostic::error(codes::RECIPE_CLASH, message).key(format!("parallel.shard.tensor.{at}"));
    Some(error.help("remove one of the two"))
}

/// An axis that there is not, or that is to shard two dimensions of one parameter.
fn axis(pattern: &str, axes: &[String]) -> Option<Diagnostic> {
    let known: Vec<&str> = MeshAxis::that_divide(Divides::Weights).map(MeshAxis::name).collect();
    let is_wrong = |&at: &usize| {
        let axis = &axes[at];
        !axis.is_empty() && (!known.contains(&axis.as_str()) || axes[..at].contains(axis))
    };
    let at = (0..axes.len()).find(is_wrong)?;
    let axis = axes[at].as_str();
    let (code, message, help) = match known.contains(&axis) {
        true => (
            codes::RECIPE_CLASH,
            format!("`{axis}` shards two dimensions of `{pattern}`"),
            "keep one of the two, and write `\"\"` for the other".to_owned(),
        ),
        false => (
            codes::RECIPE_RANGE,
            match MeshAxis::ALL.into_iter().find(|own| own.name() == axis) {
                Some(_) => format!("`{axis}` divides the batch, and shards no dimension of its own of a weight"),
                None => format!("there is no axis `{axis}`"),
            },
            nearest(axis, known.iter().copied()).map_or_else(
                || format!("write {}, or `\"\"` for a dimension that each rank holds whole", list(&known)),
                |near| format!("did you mean `{near}`?"),
            ),
        ),
    };
    Some(Diagnostic::error(code, message).key(format!("parallel.place.{pattern}.{at}")).help(help))
}
