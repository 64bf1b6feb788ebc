//! `order-collectives`.

mod gathers;
mod places;
mod scatters;
mod write;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use gathers::gathers;
use halite_ir::{Function, InferCx, Module, fingerprint, rewrite_planned};
use halite_recipe::Calls;
use halite_support::units::bytes;
use halite_support::{Diagnostic, Result, codes};
use places::places;
use scatters::scatters;

/// Starts the gathers of a layer's weights before the layer before it computes, and leaves the gradients of a layer to be scattered later,
/// where ranks store parts of weights: so both run beside products. A gather waits for what is computed last before its new place, which
/// bounds the weights that are held at once. All ranks run one program, so all have one order. Layers that are calls gather and scatter in
/// them.
///
/// ```text
/// %a = all_gather %w0 {..}                      %a = all_gather %w0 {..}
/// %x1 = dot_general %x0, %a {..}                %b = all_gather %w1 {..}
/// %b = all_gather %w1 {..}              =>      %x1 = dot_general %x0, %a {..}
/// %x2 = dot_general %x1, %b {..}                %0, %1 = optimization_barrier %w2, %x1
/// %c = all_gather %w2 {..}                      %c = all_gather %0 {..}
/// %x3 = dot_general %x2, %c {..}                %x2 = dot_general %x1, %b {..}
/// ```
#[derive(Debug)]
pub(crate) struct OrderCollectives;

impl Pass for OrderCollectives {
    fn info(&self) -> PassInfo {
        let does = "gather weights before the layer before theirs computes, and scatter gradients later";
        PassInfo::new("order-collectives", does, Relation::Identical).example(golden!("order_collectives" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let Some(parallel) = cx.recipe.and_then(|recipe| recipe.parallel.as_ref()) else { return Ok(Changed::No) };
        if !parallel.stores_parts() {
            return Ok(Changed::No);
        }
        if cx.target.calls != Calls::Inline {
            let stated = [
                (parallel.fsdp_prefetch > 1, "parallel.fsdp_prefetch"),
                (parallel.fsdp_delay > 0, "parallel.fsdp_delay"),
            ];
            let stated = stated.into_iter().find(|(is_stated, _)| *is_stated);
            stated.into_iter().for_each(|(_, key)| cx.warn(|| in_calls(key)));
            return Ok(Changed::No);
        }
        let before = fingerprint(module);
        let most = parallel.fsdp_bytes.map_or(u64::MAX, u64::from);
        let mut largest = 0;
        let plan = |infer: InferCx<'_>, function: &Function| {
            let gathers = gathers(&infer, function);
            largest = gathers.iter().map(|layer| layer.bytes).fold(largest, u64::max);
            let places = places(scatters(function, &gathers), gathers, (parallel, most));
            (!places.moves.is_empty()).then_some(places)
        };
        let written = rewrite_planned(module, cx.registry, plan, write::write)?;
        if largest > most {
            cx.warn(|| small(largest, most));
        }
        // What is in order already is written as it was.
        Ok(Changed::when(written && fingerprint(module) != before))
    }
}

/// Says that layers that are calls gather and scatter in them.
fn in_calls(key: &str) -> Diagnostic {
    let message = "layers are calls, each of which gathers its weights and scatters its gradients itself: nothing is early or late";
    Diagnostic::warning(codes::RECIPE_CLASH, message)
        .key(key)
        .help(format!("set `emit.calls = \"inline\"`, or leave out `{key}`"))
}

/// Says that a layer's weights are more than may be held at once.
fn small(largest: u64, most: u64) -> Diagnostic {
    let message = format!(
        "the weights that a layer gathers take {} on a rank, and `parallel.fsdp_bytes` is {}",
        bytes(largest),
        bytes(most)
    );
    Diagnostic::warning(codes::RECIPE_CLASH, message)
        .key("parallel.fsdp_bytes")
        .note("such a layer gathers each weight where it is read")
        .help(format!("set `fsdp_bytes = {}`, which is two such layers, or leave it out", largest.saturating_mul(2)))
}
