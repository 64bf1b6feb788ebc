//! What the passes that make the step define, held to models of it that share no code with them.

use crate::accumulation::check_accumulation;
use crate::dropout::check_dropout;
use crate::finite::check_finite;
use crate::loss_scale::check_loss_scale;
use crate::optimizer::check_update;
use crate::partitioned::{check_partition, check_told};
use halite::Session;
use halite_ir::Module;
use halite_passes::Relation;
use halite_recipe::Recipe;

/// Checks that `after` is what `pass` defines, given `before`. Passes that define nothing hold it.
///
/// # Errors
/// Naming the result that differs.
pub fn check_defined(
    pass: &str,
    before: &Module,
    after: &Module,
    recipe: &Recipe,
    session: &Session,
) -> Result<(), String> {
    match pass {
        "accumulate" | "add-to-accumulators" | "read-accumulators" => {
            check_accumulation(before, after, &session.registry)
        }
        "scale-loss" | "unscale" | "adjust-loss-scale" => {
            check_loss_scale(pass, before, after, recipe, &session.registry)
        }
        "key-dropout" => check_dropout(before, after, recipe, &session.registry),
        "clip" | "update" => check_update(before, after, recipe, session),
        "take-rank" => check_told(before, after, &session.registry),
        "partition" => check_partition(before, after, &session.registry),
        "finite" => check_finite(before, after, recipe, &session.registry),
        _ => match session.passes.get(pass) {
            Ok(known) if known.info().relation == Relation::Defines => Err("nothing models what it defines".to_owned()),
            _ => Ok(()),
        },
    }
}
