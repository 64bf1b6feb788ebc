//! Training: ten updates of the smallest preset.

use crate::bench::{Bench, PRESET};
use crate::check::{Case, Check, Probe, Told, Within};
use crate::program::{Program, parameters};
use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::ModuleRole;
use halite_ir::{Function, Module, Param, ParamRole, ResultRole};
use halite_support::{Diagnostic, Diagnostics, Result};
use halite_tensor::{DType, HostTensor, Init};

/// How many updates are made.
const UPDATES: usize = 10;

/// One layer, few tokens: what an interpreter gets through in seconds. In `f32`, where rounding moves every result a little and none far:
/// in `bf16` single roundings that fall otherwise would decide how far a device may be.
const SETTINGS: [&str; 6] = ["precision=fp32", "layers=1", "batch=2", "seq=8", "vocab=64", "schedule.warmup=0"];

/// How often training is perturbed.
const DRAWS: usize = 2;

/// How much further than perturbed runs of the interpreter a device may be: they are [`DRAWS`] draws of what rounding does.
const MARGIN: f64 = 8.0;

/// Units of roundoff by which every weight is perturbed before each update: an update rounds gradient, moments, root, quotient and sum.
const PERTURBATION: f64 = 8.0;

pub(super) struct Updates;

impl Check for Updates {
    fn name(&self) -> &'static str {
        "updates"
    }

    fn about(&self) -> &'static str {
        "ten updates of a small `tiny` in f32, their losses and gradient norms against the interpreter's"
    }

    fn meaning(&self) -> &'static str {
        "Training does something else than its program says. The checks above say which part; where they passed, it is how parts are joined."
    }

    fn told(&self) -> Vec<Told> {
        vec![Told::new(
            "runtime/training",
            "a training step compiled by `neuronx-cc` trains as its program says",
            "docs/neuron and README.md say on which device and release training was seen",
            "README.md names the target as one on which training is known to go wrong",
        )]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let program = step(bench).map_err(first)?;
        let runs: Vec<_> = (0..UPDATES).map(|update| vec![inputs(&program.module, update)]).collect();
        let mut case = Case::of(bench, "updates", program, runs)?;
        let entry = case.program.module.entry().ok_or_else(|| Diagnostic::bug("a step without an entry"))?.clone();
        let bounds = bounds(bench, &case, &entry)?;
        for (at, bound) in metrics(&entry).zip(bounds) {
            let label = format!("`{}` of {UPDATES} updates", entry.results[at].name);
            let facts = vec!["runtime/training".to_owned()];
            case.probes.push(Probe {
                label,
                facts,
                inputs: 0..0,
                outputs: at..at + 1,
                within: Within::OfRun(bound.into()),
            });
        }
        Ok(vec![case])
    }
}

fn first(mistakes: Diagnostics) -> Diagnostic {
    mistakes.into_iter().next().unwrap_or_else(|| Diagnostic::bug("no mistake"))
}

/// The training step, as a compile makes it.
fn step(bench: &Bench) -> std::result::Result<Program, Diagnostics> {
    let mut session = Session::new();
    let settings = [format!("target={}", bench.target)].into_iter().chain(SETTINGS.map(str::to_owned));
    let source = session.load(PRESET, &settings.collect::<Vec<_>>())?;
    let elaborated = session.elaborate(&source)?;
    let (role, target) = (ModuleRole::TRAIN_STEP, session.vocabulary.targets.get(&source.recipe.target)?);
    let options = CompileOptions::default().for_target(target, &source.recipe);
    let pipeline = session.pipeline(&role)?;
    let compiled = session.compile_role(&elaborated.module, &source.recipe, &role, &pipeline, &options)?;
    let given = parameters(&compiled.ir);
    Ok(Program::new("updates", compiled.ir, &given, bench.forms())?)
}

/// The positions of the step's `f32` results that are its loss or metrics.
fn metrics(entry: &Function) -> impl Iterator<Item = usize> {
    let is_shown = |role: &ResultRole| matches!(role, ResultRole::Metric | ResultRole::Loss);
    let results = entry.results.iter().enumerate();
    let float = |value| entry.ty(value).dtype() == DType::F32;
    results.filter(move |(_, result)| is_shown(&result.role) && float(result.value)).map(|(at, _)| at)
}

/// Inputs of an update: weights of both signs, fresh state, tokens that repeat so that there is something to learn.
fn inputs(module: &Module, update: usize) -> Vec<HostTensor> {
    let Some(entry) = module.entry() else { return Vec::new() };
    let input = |(at, param): (usize, &Param)| {
        let ty = entry.ty(param.value);
        let (dtype, shape) = (ty.dtype(), ty.shape().clone());
        match &param.role {
            ParamRole::Weight(info) => {
                let center = f64::from(u8::from(info.init == Init::Ones));
                let values = (0..shape.num_elements()).map(|index| center + spread(at * 8191 + index) * 0.1);
                HostTensor::from_f64s(dtype, shape.clone(), values)
            }
            ParamRole::State(_) => HostTensor::zeros(dtype, shape),
            ParamRole::Known(content) => content.tensor(&shape, 0),
            ParamRole::Batch | ParamRole::Argument => {
                let token = |index: usize| ((index * 37 + update % 3 * 11 + at) % 61) as i128;
                HostTensor::from_ints(dtype, shape.clone(), (0..shape.num_elements()).map(token))
            }
        }
    };
    entry.params.iter().enumerate().map(input).collect()
}

/// A number of [-1, 1) for each index, evenly spread: the fractional part of its multiples of the golden ratio.
fn spread(index: usize) -> f64 {
    (index as f64 * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0
}

/// The relative tolerance of each metric after each update: the effect on it of perturbing every weight before each update, with a
/// margin. Where rounding moves a metric far, a device may be far.
fn bounds(bench: &Bench, case: &Case, entry: &Function) -> Result<Vec<Vec<f64>>> {
    let mut bounds: Vec<Vec<f64>> = metrics(entry).map(|_| vec![0.0; case.runs.len()]).collect();
    for draw in 1..=DRAWS {
        let mut carried: Option<Vec<HostTensor>> = None;
        for (update, (run, expected)) in case.runs.iter().zip(&case.expected).enumerate() {
            let mut inputs = run[0].clone();
            for (output, alias) in case.program.aliases.iter().enumerate() {
                if let (Some(input), Some(carried)) = (alias, &carried) {
                    inputs[*input] = carried[output].clone();
                }
            }
            perturb(entry, &mut inputs, draw);
            let results = bench.interpret(&case.program, &[inputs])?.swap_remove(0);
            for (bound, at) in bounds.iter_mut().zip(metrics(entry)) {
                let apart = halite_tensor::compare::difference(&results[at], &expected[0][at]).relative();
                bound[update] = f64::max(bound[update], apart);
            }
            carried = Some(results);
        }
    }
    let with_margin = |bound: Vec<f64>| bound.into_iter().map(|bound| MARGIN * bound).collect();
    Ok(bounds.into_iter().map(with_margin).collect())
}

/// Moves every weight by up to [`PERTURBATION`] units of its own.
fn perturb(entry: &Function, inputs: &mut [HostTensor], draw: usize) {
    for (at, (param, tensor)) in entry.params.iter().zip(inputs).enumerate() {
        if matches!(param.role, ParamRole::Weight(_)) && tensor.dtype().is_float() {
            let unit = PERTURBATION * tensor.dtype().unit_roundoff();
            let moved =
                |(index, value): (usize, f64)| value * (1.0 + unit * spread((at * 131 + index) * (draw + 1) + draw));
            let values: Vec<f64> = tensor.f64s().into_iter().enumerate().map(moved).collect();
            *tensor = HostTensor::from_f64s(tensor.dtype(), tensor.shape().clone(), values);
        }
    }
}
