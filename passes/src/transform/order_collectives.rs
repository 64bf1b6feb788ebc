//! `order-collectives`.

mod gathers;
mod places;
mod scatters;
mod write;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use gathers::gathers;
use halite_ir::{Function, InferCx, Module, fingerprint, rewrite_planned};
use halite_recipe::Parallel;
use halite_support::Result;
use places::{Places, places};
use scatters::scatters;

/// Starts the gathers of a layer's weights before the layer before it computes, and leaves the gradients of a layer to be scattered later,
/// where ranks store parts of weights: so both run beside products. A gather waits for what is computed last before its new place, which
/// bounds the weights that are held at once. All ranks run one program, so all have one order.
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
        let before = fingerprint(module);
        let plan = |cx: InferCx<'_>, function: &Function| plan(&cx, function, parallel);
        let written = rewrite_planned(module, cx.registry, plan, write::write)?;
        // What is in order already is written as it was.
        Ok(Changed::when(written && fingerprint(module) != before))
    }
}

/// The places of what moves; `None` where nothing does.
fn plan(cx: &InferCx<'_>, function: &Function, parallel: &Parallel) -> Option<Places> {
    let gathers = gathers(cx, function);
    let scatters = scatters(function, &gathers);
    let places = places(gathers, scatters, parallel);
    (!places.moves.is_empty()).then_some(places)
}
