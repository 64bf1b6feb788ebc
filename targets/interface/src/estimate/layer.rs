//! The layer that a step is of.

use super::graph::Graph;
use super::storage::{StepId, Steps};

/// That of the instruction which asked for it: the number in its own scope or, where layers share a function, in that of the call.
pub(super) fn of(graph: &Graph<'_>, steps: &Steps, step: StepId) -> Option<u32> {
    graph.scopes(steps.steps[step as usize].reader).find_map(number)
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
