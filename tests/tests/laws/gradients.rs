//! The gradient of every sample against central differences in f64, by the machinery of `auto-diff`.

use halite_ir::composites::shares::{COPIES, ROWS};
use halite_ir::{
    Builder, Interpreter, Module, Op, ParamRole, Registry, Sample, SampleValues, Vjp, VjpCx, sample_inputs,
    sample_module,
};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::cases::{cotangents, describe, objective, samples};
use halite_test_kit::numeric::central_differences;
use halite_test_kit::tolerances::GRADIENT;
use halite_test_kit::xla::run_passes;
use halite_tests::tolerances::DIFFERENCE_NOISE;
use std::collections::BTreeSet;

const SEED: u64 = 11;

/// Ops without a gradient, at least for some attributes or types, and why. Everything else has a rule, or a decomposition
/// that has one.
const WITHOUT_GRADIENT: &[(&str, &str)] = &[
    ("all_reduce", "bits have no derivative"),
    ("all_reduce", "products over ranks have no rule"),
    ("and", "the operands are integers or predicates"),
    ("bitcast_convert", "bits are not real numbers"),
    ("causal_mask", "the result is a predicate"),
    ("compare", "the result is a predicate"),
    ("convert", "the result is not a float"),
    ("coordinate_words", "random words do not depend smoothly on the step"),
    ("count_leading_zeros", "the operand is an integer"),
    ("is_finite", "the result is a predicate"),
    ("not", "the operand is an integer or a predicate"),
    ("or", "the operands are integers or predicates"),
    ("popcnt", "the operand is an integer"),
    ("random_bits", "random bits do not depend smoothly on words"),
    ("reduce", "bits have no derivative"),
    ("reduce_window", "bits have no derivative"),
    ("reduce_window", "products of windows have no rule"),
    ("rng_bit_generator", "random bits do not depend smoothly on the state"),
    ("scatter", "bits have no derivative"),
    ("scatter", "products of several updates for one element have no rule"),
    ("select_and_scatter", "gradients of extremes of windows are not differentiated again"),
    ("shift_left", "the operands are integers"),
    ("shift_right_arithmetic", "the operands are integers"),
    ("shift_right_logical", "the operands are integers"),
    ("stochastic_convert", "rounding is settled after differentiation"),
    ("stream_words", "random words do not depend smoothly on key and step"),
    ("xor", "the operands are integers or predicates"),
];

/// A narrowing convert is a staircase; its gradient is that of the identity, which differences cannot show.
fn narrows(sample: &Sample) -> bool {
    let narrow = |dtype: DType| dtype.is_float() && dtype != DType::F64;
    matches!(&sample.op, Op::Convert(convert) if narrow(convert.dtype) && sample.args[0].ty.dtype() == DType::F64)
}

/// Each of several copies of an element gets the derivative by all of them, while differences move one.
fn ties(sample: &Sample) -> bool {
    let Op::Composite(composite) = &sample.op else { return false };
    composite.name == "tied_copies"
        && composite.attrs.get(&COPIES).is_ok_and(|copies| copies.iter().any(|&copies| copies > 1))
}

/// No gradient goes through it, whatever differences say.
fn stops(sample: &Sample) -> bool {
    matches!(&sample.op, Op::Composite(composite) if composite.name == "stop_gradient")
}

#[test]
fn gradients_are_central_differences() {
    let registry = Registry::builtin();
    let mut failures = Vec::new();
    let mut compared = 0;
    for sample in samples(DType::F64, &registry) {
        if differentiable(&sample, &registry).is_empty() || refusal(&sample, &registry).is_some() {
            continue;
        }
        if narrows(&sample) || ties(&sample) || stops(&sample) {
            continue;
        }
        compared += 1;
        let case = describe(&sample, DType::F64);
        match compare(&sample, &registry) {
            Ok(None) => {}
            Ok(Some(message)) => failures.push(format!("{case}: {message}")),
            Err(error) => failures.push(format!("{case}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{} of {compared} are wrong:\n{}", failures.len(), failures.join("\n"));
    assert!(compared > 100, "only {compared} samples have a gradient to compare");
}

#[test]
fn a_narrowing_convert_passes_cotangents_on() -> Result<()> {
    let registry = Registry::builtin();
    let mut tried = 0;
    for sample in samples(DType::F64, &registry).iter().filter(|sample| narrows(sample)) {
        let Op::Convert(convert) = &sample.op else { continue };
        let mut gradient = objective(sample, &registry, &[0])?;
        run_passes("auto-diff", &mut gradient, &registry)?;
        let found = run(&gradient, &registry, sample_inputs(sample, SEED))?[0][1].f64s();
        assert_eq!(found, cotangents(convert.dtype, sample.args[0].ty.shape(), 0).f64s(), "{}", sample.label);
        tried += 1;
    }
    assert_eq!(tried, 3);
    Ok(())
}

#[test]
fn nothing_goes_through_a_stopped_gradient() -> Result<()> {
    let registry = Registry::builtin();
    let samples = samples(DType::F64, &registry);
    let sample = samples.iter().find(|sample| stops(sample) && sample.args[0].ty.dtype().is_float());
    let sample = sample.expect("it has a sample of floats");
    let mut gradient = objective(sample, &registry, &[0])?;
    run_passes("auto-diff", &mut gradient, &registry)?;
    let found = run(&gradient, &registry, sample_inputs(sample, SEED))?[0][1].f64s();
    assert!(!found.is_empty() && found.iter().all(|&ct| ct == 0.0), "{found:?}");
    Ok(())
}

#[test]
fn tied_copies_share_their_cotangents() -> Result<()> {
    let registry = Registry::builtin();
    let mut tried = 0;
    for sample in samples(DType::F64, &registry).iter().filter(|sample| ties(sample)) {
        let Op::Composite(composite) = &sample.op else { continue };
        let mut gradient = objective(sample, &registry, &[0])?;
        run_passes("auto-diff", &mut gradient, &registry)?;
        let found = run(&gradient, &registry, sample_inputs(sample, SEED))?[0][1].f64s();
        let shape = sample.args[0].ty.shape();
        let cts = cotangents(DType::F64, shape, 0).f64s();
        let columns: usize = shape[2..].iter().product();
        let (rows, copies) = (composite.attrs.get(&ROWS)?, composite.attrs.get(&COPIES)?);
        let ends = rows.iter().scan(0, |end, &rows| {
            *end += rows as usize;
            Some(*end)
        });
        let ends: Vec<_> = ends.collect();
        for (at, found) in found.iter().enumerate() {
            let (rank, row, column) = (at / columns / shape[1], at / columns % shape[1], at % columns);
            let part = ends.iter().position(|&end| row < end).expect("a part of every row");
            let copies = copies[part] as usize;
            let first = rank / copies * copies;
            let of = |rank: usize| cts[(rank * shape[1] + row) * columns + column];
            assert_eq!(*found, (first..first + copies).map(of).sum::<f64>(), "{} at {at}", sample.label);
        }
        tried += 1;
    }
    assert_eq!(tried, 2);
    Ok(())
}

#[test]
fn ops_without_a_gradient_are_listed_with_the_reason() {
    let found = without_gradient(&Registry::builtin());
    let found: Vec<_> = found.iter().map(|(name, reason)| (name.as_str(), reason.as_str())).collect();
    assert_eq!(found, WITHOUT_GRADIENT);
}

/// The reasons of every op that answers a cotangent of some sample with [`Vjp::None`].
fn without_gradient(registry: &Registry) -> BTreeSet<(String, String)> {
    let samples = samples(DType::F64, registry);
    samples.iter().filter_map(|sample| Some((sample.op.name().to_owned(), refusal(sample, registry)?))).collect()
}

/// Why the op's own rule has no derivative for a sample, asked for those of all operands given those of all results.
fn refusal(sample: &Sample, registry: &Registry) -> Option<String> {
    if let Op::Composite(composite) = &sample.op
        && !registry.composite(&composite.name).is_ok_and(|def| def.vjp().is_some())
    {
        return None;
    }
    let mut module = Module::new("refusal");
    let mut b = Builder::new(&mut module, registry, "main");
    let args = sample.args.iter().enumerate();
    let args: Vec<_> = args.map(|(at, arg)| b.param(format!("x{at}"), arg.ty.clone(), ParamRole::Argument)).collect();
    let results = b.emit_all(sample.op.clone(), &args).ok()?;
    let results_of = results.iter().enumerate();
    let cts: Vec<_> = results_of
        .map(|(at, &result)| Some(b.param(format!("ct{at}"), b.ty(result).clone(), ParamRole::Argument)))
        .collect();
    let wanted = vec![true; args.len()];
    match sample.op.def().vjp(&mut b, &VjpCx { args: &args, results: &results, cts: &cts, wanted: &wanted }) {
        Ok(Vjp::None(reason)) => Some(reason),
        // A rule for floats may refuse the cotangent of an integer, which auto-diff never makes.
        Ok(Vjp::Cotangents(_)) | Err(_) => None,
    }
}

/// The operands to differentiate by: uniform floats, when some result is a float.
fn differentiable(sample: &Sample, registry: &Registry) -> Vec<usize> {
    let module = sample_module(sample, registry).unwrap_or_else(|error| panic!("{}: {error}", sample.op.name()));
    if !module.functions[0].result_types().iter().any(|ty| ty.dtype().is_float()) {
        return Vec::new();
    }
    let uniform = |(at, arg): (usize, &halite_ir::SampleArg)| {
        (arg.ty.dtype().is_float() && matches!(arg.values, SampleValues::Uniform(..))).then_some(at)
    };
    sample.args.iter().enumerate().filter_map(uniform).collect()
}

/// The error of the gradient against differences, if it is too large.
fn compare(sample: &Sample, registry: &Registry) -> Result<Option<String>> {
    let operands = differentiable(sample, registry);
    let primal = objective(sample, registry, &operands)?;
    let mut gradient = primal.clone();
    run_passes("auto-diff", &mut gradient, registry)?;
    let inputs = sample_inputs(sample, SEED);
    let results = run(&gradient, registry, inputs.clone())?;
    let value = |inputs: &[Vec<HostTensor>]| -> Result<f64> {
        let ranks = run(&primal, registry, inputs.to_vec())?;
        Ok(ranks.iter().map(|results| results[0].f64s()[0]).sum())
    };
    let total = value(&inputs)?;
    for rank in 0..sample.ranks {
        for (position, &operand) in operands.iter().enumerate() {
            let found = results[rank][1 + position].f64s();
            let expected = central_differences(&inputs[rank][operand], |moved| {
                let mut inputs = inputs.clone();
                inputs[rank][operand] = moved;
                value(&inputs)
            })?;
            let scale = expected.iter().fold(0f64, |scale, value| scale.max(value.abs()));
            // Rounding of the objective, divided by the step, is all that is left where the gradient is zero.
            let allowed = GRADIENT * scale + DIFFERENCE_NOISE * (1.0 + total.abs());
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                if (found - expected).abs() > allowed || !found.is_finite() {
                    let place = format!("operand {operand} of rank {rank} at {at}");
                    return Ok(Some(format!("by {place} is {found}, central differences say {expected}")));
                }
            }
        }
    }
    Ok(None)
}

fn run(module: &Module, registry: &Registry, inputs: Vec<Vec<HostTensor>>) -> Result<Vec<Vec<HostTensor>>> {
    let entry = module.entry().expect("the objective has an entry");
    Interpreter::of(module, registry).run_ranks(entry, inputs)
}
