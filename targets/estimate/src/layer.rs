//! The layer that a step belongs to.

use super::graph::Graph;
use super::storage::{StepId, Steps};
use halite_ir::{OpName, StepPart};

/// Returns the layer of the instruction which asked for the step: the number in the scope of the outermost call that it is made in, or
/// else in its own. Layers may share a function, whose instructions have the scopes of the first of them. Steps of the update belong
/// to no layer.
pub(super) fn of(graph: &Graph<'_>, steps: &Steps, step: StepId) -> Option<u32> {
    let scopes = || graph.scopes(steps.steps[step as usize].reader);
    let is_of_update = |scope: &str| OpName::read(scope).part == Some(StepPart::Update);
    if scopes().any(is_of_update) { None } else { scopes().filter_map(number).last() }
}

/// The first number that is a level of a scope.
fn number(scope: &str) -> Option<u32> {
    let is_number = |level: &&str| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit());
    scope.split(['.', '/', '(', ')']).find(is_number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_say_the_layer() {
        for (scope, layer) in [
            ("model.layers.12.mlp", Some(12)),
            ("vjp(h.0)", Some(0)),
            ("optimizer.model.layers.3.mlp.up_proj.weight", Some(3)),
            ("jit(step)/layers/7/dot", Some(7)),
            ("model.norm2", None),
            ("", None),
            ("h.99999999999", None),
        ] {
            assert_eq!(number(scope), layer, "{scope}");
        }
    }
}
