//! The definitions of the passes that make the step, compared with models that share no code with them.

use crate::accumulation::check_accumulation;
use crate::dropout::check_dropout;
use crate::finite::check_finite;
use crate::loss_scale::check_loss_scale;
use crate::optimizer::check_update;
use crate::partitioned::{check_partition, check_told};
use halite::Session;
use halite_ir::Module;
use halite_recipe::Recipe;
use halite_test_kit::Oracle;

/// Models of the passes of Halite that define something.
#[derive(Clone, Copy, Debug)]
pub struct StepModels;

impl Oracle for StepModels {
    fn check(
        &self,
        pass: &str,
        before: &Module,
        after: &Module,
        recipe: &Recipe,
        session: &Session,
    ) -> Option<Result<(), String>> {
        let registry = &session.registry;
        Some(match pass {
            "accumulate" | "add-to-accumulators" | "read-accumulators" => check_accumulation(before, after, registry),
            "scale-loss" | "unscale" | "adjust-loss-scale" => check_loss_scale(pass, before, after, recipe, registry),
            "key-dropout" => check_dropout(before, after, recipe, registry),
            "clip" | "update" => check_update(before, after, recipe, session),
            "take-rank" => check_told(before, after, registry),
            "partition" => check_partition(before, after, registry),
            "finite" => check_finite(before, after, recipe, registry),
            _ => return None,
        })
    }
}
