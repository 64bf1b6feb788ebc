//! The kind of data that memory holds.

use super::graph::{Class, Graph, ValueId};
use super::liveness::Liveness;
use super::storage::{Home, Step, StepId, Steps};
use halite_bundle::estimate::MemoryKind;
use halite_ir::{OpName, StepPart};

/// The part of a training step that an instruction belongs to, by its scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Forward,
    Backward,
    Update,
}

/// The kind of data that each parameter and each result of a step holds.
pub(super) struct Kinds<'a> {
    arguments: &'a [MemoryKind],
    steps: Vec<MemoryKind>,
    parts: Vec<Part>,
    /// The position in the order at which the backward begins.
    pub(super) backward_at: Option<usize>,
}

impl<'a> Kinds<'a> {
    pub(super) fn new(
        graph: &Graph<'_>,
        steps: &Steps,
        order: &[StepId],
        liveness: &Liveness<'_>,
        arguments: &'a [MemoryKind],
    ) -> Self {
        let parts = parts(graph, steps);
        // A step that reads no other step may run at any time.
        let begins = |step: &StepId| parts[*step as usize] == Part::Backward && !steps.reads(*step).is_empty();
        let backward_at = order.iter().position(begins);
        let mut kinds = vec![MemoryKind::Workspace; steps.steps.len()];
        for (position, &step) in order.iter().enumerate() {
            let at = step as usize;
            let made = &steps.steps[at];
            if made.home == Home::Result {
                kinds[at] = MemoryKind::Results;
            } else if is_copy_of_weight(graph, arguments, made) && steps.reads(step).is_empty() {
                kinds[at] = MemoryKind::Weights;
            } else if let Some(backward) = backward_at
                && position < backward
                && liveness.last_read(step) as usize >= backward
            {
                kinds[at] = MemoryKind::Activations;
            }
            for &read in steps.reads(step) {
                let is_gradient = parts[at] == Part::Update && parts[read as usize] == Part::Backward;
                if is_gradient && steps.steps[read as usize].home == Home::Temporary {
                    kinds[read as usize] = MemoryKind::Gradients;
                }
            }
        }
        Self { arguments, steps: kinds, parts, backward_at }
    }

    /// Returns the kind of data that a parameter holds.
    pub(super) fn argument(&self, index: usize) -> MemoryKind {
        self.arguments.get(index).copied().unwrap_or(MemoryKind::Arguments)
    }

    /// Whether a step is one of the update, whose scopes are those of weights.
    pub(super) fn is_of_update(&self, step: StepId) -> bool {
        self.parts[step as usize] == Part::Update
    }

    /// Returns the kind of data that the result of a step is.
    pub(super) fn step(&self, step: StepId) -> MemoryKind {
        self.steps[step as usize]
    }
}

/// Whether a step that reads no other stores a weight in another form.
fn is_copy_of_weight(graph: &Graph<'_>, arguments: &[MemoryKind], step: &Step) -> bool {
    let index = step.last_parameter.and_then(|id| graph.parameters().binary_search(&id).ok());
    let is_copy = matches!(graph.value(step.value).class, Class::Fused { .. } | Class::Parameter);
    is_copy && index.and_then(|index| arguments.get(index)) == Some(&MemoryKind::Weights)
}

/// The part of each step: that of the instruction which asked for it.
fn parts(graph: &Graph<'_>, steps: &Steps) -> Vec<Part> {
    let name = |id: ValueId| graph.value(id).inst.metadata.as_ref().map_or("", |metadata| metadata.op_name.as_str());
    let names = || steps.steps.iter().map(|step| name(step.reader));
    // JAX marks what it differentiates, so that with a backward the rest is the update.
    let is_jax = names().any(|name| name.contains("transpose("));
    names().map(|name| if is_jax { jax_part(name) } else { part(name) }).collect()
}

/// By the scopes of Halite: `optimizer.x`, `vjp(x)`.
fn part(name: &str) -> Part {
    match OpName::read(name) {
        OpName { part: Some(StepPart::Update), .. } => Part::Update,
        OpName { is_gradient: true, .. } => Part::Backward,
        OpName { .. } => Part::Forward,
    }
}

/// By the scopes of JAX: `jit(step)/transpose(jvp(x))`, `jit(step)/jvp(x)`.
fn jax_part(name: &str) -> Part {
    if name.contains("transpose(") {
        Part::Backward
    } else if name.contains("jvp(") {
        Part::Forward
    } else {
        Part::Update
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_say_the_part() {
        for name in ["optimizer", "optimizer.lm_head.weight", "cast(optimizer.vectors)"] {
            assert_eq!(part(name), Part::Update, "{name}");
        }
        for name in ["vjp", "vjp(model.layers.0)", "cast(vjp(model.norm))", "vjp(_optimizer)"] {
            assert_eq!(part(name), Part::Backward, "{name}");
        }
        for name in ["", "model.optimizer_free", "cast(model.layers.0)", "_optimizer.w", "model.vjp"] {
            assert_eq!(part(name), Part::Forward, "{name}");
        }
        assert_eq!(jax_part("jit(step)/transpose(jvp(mlp))/dot_general"), Part::Backward);
        assert_eq!(jax_part("jit(step)/jvp(mlp)/dot_general"), Part::Forward);
        assert_eq!(jax_part("jit(step)/mul"), Part::Update);
    }
}
