//! An independent model of what the passes that scale the loss define, in plain `f64` arithmetic.

use halite_ir::{FuncResult, Function, Interpreter, Module, Registry, ResultRole};
use halite_recipe::{DynamicLossScale, LossScale, Recipe};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::{InputKind, Tolerance, agree, seeded_inputs};

/// Cases of a dynamic scale: its value, the updates that are missing to the interval since it was set, and the value fed for `pred`.
const TRIED: [(f64, i128, bool); 7] = [
    (64.0, 2, true),
    (64.0, 1, true),
    (64.0, 2, false),
    (64.0, 1, false),
    (2.0, 2, false),
    (1.0, 2, false),
    ((1 << 24) as f64, 1, true),
];

/// The tolerance of a result against the model, in units of roundoff of its element type: products with powers of two are exact.
const ULPS: f64 = 0.0;

/// Checks what `pass` made of the entry of `before`.
///
/// # Errors
/// Naming the result that differs.
pub(crate) fn check_loss_scale(
    pass: &str,
    before: &Module,
    after: &Module,
    recipe: &Recipe,
    registry: &Registry,
) -> Result<(), String> {
    let (old, new) = before.entry().zip(after.entry()).ok_or("there is no entry")?;
    for (scale, lacking, finite) in TRIED {
        let state = State::of(recipe.scale_of_loss(), scale, lacking);
        let mut inputs = seeded_inputs(new, InputKind::Plain, 11);
        state.put(new, &mut inputs, finite);
        let results = |module, function: &Function, inputs: &[HostTensor]| {
            Interpreter::of(module, registry).run(function, inputs.to_vec()).map_err(|error| error.to_string())
        };
        let parts = results(before, old, &inputs[..old.params.len()])?;
        for (result, found) in new.results.iter().zip(results(after, new, &inputs)?) {
            let wanted = expected(pass, &state, (old, &parts), result)?;
            let wanted = HostTensor::from_f64s(found.dtype(), found.shape().clone(), wanted);
            agree(&[found], &[wanted], Tolerance::Ulps(ULPS))
                .map_err(|error| format!("`{}` at the scale {scale}: {error}", result.name))?;
        }
    }
    Ok(())
}

/// A scale and the updates since it was set, with the rule that changes it.
struct State {
    scale: f64,
    steps: i128,
    rule: DynamicLossScale,
}

impl State {
    fn of(recipe: LossScale, scale: f64, lacking: i128) -> Self {
        match recipe {
            LossScale::Fixed(scale) => Self { scale: f64::from(scale), steps: 0, rule: DynamicLossScale::default() },
            LossScale::Dynamic(rule) => Self { scale, steps: i128::from(rule.interval) - lacking, rule },
        }
    }

    fn put(&self, entry: &Function, inputs: &mut [HostTensor], finite: bool) {
        for (param, input) in entry.params.iter().zip(inputs) {
            let (dtype, shape) = (input.dtype(), input.shape().clone());
            match &*param.name {
                "scaler" => *input = HostTensor::from_f64s(dtype, shape, [self.scale]),
                "scaler_steps" => *input = HostTensor::from_ints(dtype, shape, [self.steps]),
                _ if dtype == DType::Pred => *input = HostTensor::from_ints(dtype, shape, [i128::from(finite)]),
                _ => {}
            }
        }
    }

    /// The next scale, and the updates since it was set.
    fn next(&self, finite: bool) -> [f64; 2] {
        let Self { scale, steps, rule } = self;
        match (finite, steps + 1 >= i128::from(rule.interval)) {
            (false, _) => [(scale / 2.0).max(f64::from(rule.min)), 0.0],
            (true, true) => [(scale * 2.0).min(f64::from(LossScale::MAX)), 0.0],
            (true, false) => [*scale, (steps + 1) as f64],
        }
    }
}

/// The expected result of the new entry.
fn expected(
    pass: &str,
    state: &State,
    (old, parts): (&Function, &[HostTensor]),
    result: &FuncResult,
) -> Result<Vec<f64>, String> {
    let of_role = |role: &ResultRole| {
        let at = old
            .results
            .iter()
            .position(|old| old.role == *role && (old.name == result.name || *role == ResultRole::Finite));
        at.map(|at| parts[at].f64s()).ok_or(format!("nothing defines `{}`", result.name))
    };
    let finite = || Ok::<_, String>(of_role(&ResultRole::Finite)?[0] != 0.0);
    let times = |factor: f64| Ok(of_role(&result.role)?.into_iter().map(|x| x * factor).collect());
    match (pass, &result.role) {
        ("scale-loss", ResultRole::Loss) => times(state.scale),
        ("unscale", ResultRole::Loss | ResultRole::Gradient(_)) => times(1.0 / state.scale),
        ("adjust-loss-scale", ResultRole::State(name)) => match &**name {
            "scaler" => Ok(vec![state.next(finite()?)[0]]),
            "scaler_steps" => Ok(vec![state.next(finite()?)[1]]),
            _ => times(1.0),
        },
        ("adjust-loss-scale", ResultRole::Metric) if &*result.name == "loss_scale" => Ok(vec![state.scale]),
        _ => times(1.0),
    }
}
