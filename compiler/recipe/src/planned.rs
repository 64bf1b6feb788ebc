//! The layout over devices that a recipe plans and that is not compiled yet.

use crate::{MeshAxis, Parallel, Places, Recipe};
use halite_support::{Diagnostic, codes};

/// A key of the layout that asks for more than one device, or one step, does.
pub struct Planned {
    key: &'static str,
    value: String,
    /// What holds instead.
    told: String,
}

impl Planned {
    /// The entry as a recipe states it, and what holds instead.
    pub fn into_pair(self) -> (String, String) {
        (format!("{} = {}", self.key, self.value), self.told)
    }
}

/// What of a layout is not compiled. Of a layout, only the ranks of tensor parallelism reach the program: the weights that
/// are stored as one lie there in the shares of these ranks.
pub fn not_compiled(recipe: &Recipe) -> impl Iterator<Item = Planned> {
    let default = Parallel::default();
    let parallel = recipe.parallel.as_ref().unwrap_or(&default);
    let own = recipe.sizes().map_or(1, |sizes| sizes.batch * sizes.accumulate);
    let plan = of_degrees(parallel).into_iter().chain(of_weights(parallel)).chain([(
        parallel.global_batch.is_some_and(|all| u64::from(all) != own),
        "parallel.global_batch",
        parallel.global_batch.unwrap_or_default().to_string(),
        if own == 1 { "1 sequence in an update".to_owned() } else { format!("{own} sequences in an update") },
    )]);
    let plan: Vec<Entry> = plan.filter(|entry| entry.0).collect();
    plan.into_iter().map(|(_, key, value, told)| Planned { key, value, told })
}

/// Whether a key asks for more than one device does, the key, its value and what holds instead.
type Entry = (bool, &'static str, String, String);

/// How many ranks there are to be, and what they share.
fn of_degrees(parallel: &Parallel) -> [Entry; 5] {
    let &Parallel { data, tensor, pipeline, sequence, zero, .. } = parallel;
    let shares = format!("one device; weights that are stored as one lie in shares for {tensor} ranks");
    [
        (data.is_some_and(|data| data > 1), "parallel.data", data.unwrap_or(1).to_string(), "one replica".to_owned()),
        (tensor > 1, "parallel.tensor", tensor.to_string(), shares),
        (pipeline > 1, "parallel.pipeline", pipeline.to_string(), "one stage".to_owned()),
        (sequence && tensor > 1, "parallel.sequence", sequence.to_string(), "whole activations".to_owned()),
        (zero > 0, "parallel.zero", zero.to_string(), "the whole state of the optimizer".to_owned()),
    ]
}

/// Which rank is to hold what of the weights.
fn of_weights(parallel: &Parallel) -> [Entry; 3] {
    let Parallel { tensor, order, shard, place, .. } = parallel;
    let is_shared = *tensor > 1;
    let axes: Vec<_> = order.iter().map(|axis| axis.name()).collect();
    let placed: Vec<_> = place.iter().map(|(pattern, axes)| format!("{pattern:?} = {axes:?}")).collect();
    [
        (is_shared && order[..] != MeshAxis::ALL, "parallel.order", format!("{axes:?}"), "one rank".to_owned()),
        (is_shared && !shard.is_default(), "parallel.shard", format!("{{ tensor = {:?} }}", shard.tensor), whole()),
        (is_shared && !place.is_empty(), "parallel.place", format!("{{ {} }}", placed.join(", ")), whole()),
    ]
}

fn whole() -> String {
    "whole weights".to_owned()
}

/// A layout that is not compiled, at each of its keys.
pub fn warn_not_compiled(recipe: &Recipe, places: &Places) -> Option<Diagnostic> {
    let mut plan = not_compiled(recipe).peekable();
    plan.peek()?;
    let message = "the layout over devices is not compiled: this is the step of one device";
    let warning = Diagnostic::warning(codes::NOT_SUPPORTED, message)
        .note("sizes, costs and the launch are those of one device that does all of it")
        .help(
            "keep `[parallel]` as a plan for later, or remove it; a layout is compiled that states `parallel.data` and has no \
             pipeline",
        );
    Some(plan.fold(warning, |warning, Planned { key, value, told }| match (places.get(key), warning.primary()) {
        (Some(place), None) => warning.at(place, told),
        (Some(place), Some(_)) => warning.also(place, told),
        (None, _) => warning.note(format!("`{key} = {value}`: {told}")),
    }))
}
