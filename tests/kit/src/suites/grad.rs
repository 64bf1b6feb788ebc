//! `grad`.

use super::Suite;
use super::opt::{Failure, Transformed, blocks, transform};
use crate::inputs::{InputKind, seeded_inputs};
use crate::kit::{Case, Outcome};
use crate::tolerances::GRADIENT;
use halite::Session;
use halite_ir::{Interpreter, Module, ResultRole};
use halite_tensor::HostTensor;

/// Distance of the two points of a central difference.
const STEP: f64 = 1e-5;

/// The gradients of an objective in `f64`, compared with central differences.
#[derive(Debug)]
pub(super) struct Grad;

impl Suite for Grad {
    fn name(&self) -> &str {
        "grad"
    }

    fn run(&self, case: &Case, session: &Session) -> Result<Outcome, String> {
        let before = case.module(session)?;
        case.execute(&before, session)?;
        let Transformed { after, .. } =
            transform(case, session, "auto-diff", &before).map_err(|failure| match failure {
                Failure::Refused(diagnostic) => case.show(&diagnostic),
                Failure::Wrong(error) => error,
            })?;
        check_gradients(&after, session)?;
        Ok(Outcome::new(blocks(case, &before, &after)))
    }
}

/// Compares each gradient, along a seeded direction, with the change of the objective.
fn check_gradients(module: &Module, session: &Session) -> Result<(), String> {
    let entry = module.entry().ok_or("there is no entry")?;
    let interpreter = Interpreter::of(module, &session.registry);
    let inputs = seeded_inputs(entry, InputKind::Plain, 5);
    let directions = seeded_inputs(entry, InputKind::Plain, 6);
    let run = |inputs: Vec<HostTensor>| interpreter.run(entry, inputs).map_err(|error| error.to_string());
    let loss =
        entry.results.iter().position(|result| result.role == ResultRole::Loss).ok_or("there is no objective")?;
    let results = run(inputs.clone())?;
    for (result, gradient) in entry.results.iter().zip(&results) {
        let ResultRole::Gradient(of) = &result.role else { continue };
        let position = entry.params.iter().position(|param| param.name == *of).ok_or("a gradient of no parameter")?;
        let moved = |by: f64| {
            let mut inputs = inputs.clone();
            let steps = inputs[position].f64s().into_iter().zip(directions[position].f64s());
            let (dtype, shape) = (inputs[position].dtype(), inputs[position].shape().clone());
            inputs[position] = HostTensor::from_f64s(dtype, shape, steps.map(|(at, along)| at + by * along));
            run(inputs).map(|results| results[loss].f64s()[0])
        };
        let difference = (moved(STEP)? - moved(-STEP)?) / (2.0 * STEP);
        let along: f64 = gradient.f64s().iter().zip(directions[position].f64s()).map(|(g, d)| g * d).sum();
        let scale = difference.abs().max(along.abs()).max(1.0);
        if (along - difference).abs().partial_cmp(&(GRADIENT * scale)) != Some(std::cmp::Ordering::Less) {
            return Err(format!(
                "the gradient by `{of}` along a direction is {along}, the central difference {difference}"
            ));
        }
    }
    Ok(())
}
