//! The roles that Halite comes with.

use super::{Calls, Returned, Role};
use crate::pipelines::{grad_step, grads, inference, train_step, update_step};
use halite_bundle::ModuleRole;

/// The roles that Halite comes with, in the order in which their modules stand in a bundle.
pub(super) fn roles() -> Vec<Role> {
    let loss = || vec![Returned::Loss];
    vec![
        Role::new(
            ModuleRole::TRAIN_STEP,
            "one update: state and batch to state and metrics",
            [Returned::Loss, Returned::Probes],
            train_step(),
        )
        .called(Calls::Once),
        Role::new(ModuleRole::FORWARD, "batch and weights to what the model shows", [Returned::Probes], inference()),
        Role::new(ModuleRole::EVAL, "batch and weights to loss and count", loss(), inference()),
        Role::new(ModuleRole::GRADS, "batch and weights to loss, count and gradients", loss(), grads()),
        Role::new(ModuleRole::GRAD_STEP, "the part of an update that adds up one micro-batch", loss(), grad_step())
            .called(Calls::PerMicroBatch),
        Role::new(ModuleRole::UPDATE_STEP, "the part of an update that follows `grad_step`", loss(), update_step())
            .called(Calls::Once),
    ]
}
