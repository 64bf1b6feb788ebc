//! A pipeline makes the updates of one device.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite_bundle::Bundle;
use halite_bundle::tensors::Tensors;
use halite_support::Diagnostics;
use halite_tensor::{DType, HostTensor};
use halite_tests::compiled::expect;
use halite_tests::parallel::for_each;
use halite_tests::pipelines::{CLIP, Case, MODELS, Ran, asked, batch, is_long, start};
use halite_tests::quick;
use halite_train::TrainStep;
use halite_verify::verdict::{Residual, judge};
use std::collections::{BTreeMap, BTreeSet};

/// The element type of a tensor, and its numbers.
type Numbers = (DType, Vec<f64>);

/// Updates that are compared: the first, and what moments and averages make of the next ones.
const UPDATES: usize = 5;

/// The relative tolerance of numbers in `f64` against those of one device.
const APART: f64 = 1e-9;

fn run(bundle: &Bundle) -> Result<Ran, Diagnostics> {
    Ran::of(bundle, start(bundle, 3), UPDATES)
}

/// In `f64`, with a clip that bites, averages of weights, and labels that count in some micro-batches more than in others. In CI cases in
/// which choices meet, with `HALITE_PIPELINES=all` all of them, with `HALITE_PIPELINES=100` so many.
#[test]
fn a_pipeline_makes_the_updates_of_one_device() {
    let cases = asked().of(Case::all, Case::covering);
    let mut groups: BTreeMap<(usize, usize), Vec<Case>> = BTreeMap::new();
    cases.iter().for_each(|case| groups.entry((case.model, case.accumulate)).or_default().push(*case));
    let groups: Vec<Vec<Case>> = groups.into_values().collect();
    let found = for_each(&groups, |group| {
        let expected = expect(run(&group[0].compile_alone("fp64")));
        for (update, metrics) in expected.metrics.iter().enumerate() {
            let norm = metrics.get("grad_norm");
            assert!(norm > Some(CLIP), "{group:?}: the clip does not bite in update {update}: {norm:?}");
        }
        let told = |case: &Case| {
            let model = MODELS[case.model].0;
            match case.try_compile("fp64").and_then(|bundle| run(&bundle)) {
                Ok(found) => {
                    let (far, what) = found.apart(&expected);
                    (far, format!("{model} {case:?}: {what} is {far:e} off"))
                }
                Err(errors) => (f64::INFINITY, format!("{model} {case:?}: {errors:?}")),
            }
        };
        let told: Vec<(f64, String)> = group.iter().map(told).collect();
        println!("{} with {} micro-batches: {} cases done", MODELS[group[0].model].0, group[0].accumulate, told.len());
        told
    });
    let found: Vec<(f64, String)> = found.into_iter().flatten().collect();
    let most = found.iter().map(|(far, _)| *far).fold(0.0, f64::max);
    println!("{} cases, at most {most:e} from one device", found.len());
    let failed: Vec<&str> = found.iter().filter(|(far, _)| *far >= APART).map(|(_, told)| told.as_str()).collect();
    assert!(failed.is_empty(), "{} of {} cases fail\n{}", failed.len(), found.len(), failed.join("\n"));
}

/// Wherever a recipe has the model cut, the updates are the same, bit for bit: what is summed over parts is summed in the same order.
#[test]
fn cuts_of_a_recipe_make_the_updates_of_those_by_cost() {
    let of = |model| Case { model, accumulate: 4, schedule: 0, pipeline: 2, tensor: 1, data: 1, fsdp: 1, zero: 0 };
    let cases = [(of(4).by("gpipe"), "[1, 3]"), (of(1).by("interleaved"), "[\"h.0\", \"h.1\", \"h.3\"]")];
    for_each(&cases, |(case, stages)| {
        let (by_cost, stated) = (case.compile("fp64"), case.compile_cut("fp64", Some(stages)));
        assert!(by_cost.manifest.modules != stated.manifest.modules, "{case:?}: both are cut alike");
        let ran = |bundle: &Bundle| expect(Ran::of(bundle, start(bundle, 3), 2));
        let (far, what) = ran(&stated).apart(&ran(&by_cost));
        assert!(far == 0.0, "{case:?} cut as {stages}: {what} is {far:e} off");
    });
}

#[test]
fn choices_of_pipelines_meet_in_few_cases() {
    let (all, some) = (Case::all(), Case::covering());
    assert_eq!(all.len(), 5 * 2 * 4 * 23 - 2 * 7);
    assert!(some.len() <= 24, "{} cases", some.len());
    let pairs = |cases: &[Case]| cases.iter().flat_map(Case::pairs).collect::<BTreeSet<_>>();
    assert_eq!(pairs(&some), pairs(&all));
}

/// Both schedules add the same gradients in the same order, so that stochastic rounding writes the same bits.
#[test]
fn schedules_write_the_same_bits() {
    let cases = [
        Case { model: 2, accumulate: 4, schedule: 0, pipeline: 2, tensor: 1, data: 2, fsdp: 1, zero: 1 },
        Case { model: 1, accumulate: 8, schedule: 0, pipeline: 4, tensor: 2, data: 1, fsdp: 1, zero: 0 },
    ];
    for_each(&cases, |case| {
        let state = |case: Case| {
            let bundle = case.compile("bf16-sr");
            let start = start(&bundle, 3);
            let mut states = expect(Ran::of(&bundle, start.clone(), 2)).states;
            states.insert(0, start);
            states
        };
        let (one, other) = (state(case.by("1f1b")), state(case.by("gpipe")));
        assert!(one == other, "{case:?}");
        let rounded = one[0].values().filter(|tensor| tensor.dtype() == DType::Bf16).count();
        assert!(rounded > 5 && one[1] != one[0] && one[2] != one[1], "{case:?}: nothing was rounded at random");
    });
}

/// The changes that one update makes of a state, in `f64`, by name.
fn changes(step: &mut TrainStep, start: Tensors) -> Vec<(DType, Vec<f64>)> {
    let before = start.clone();
    expect(step.set_state(start));
    let batch = batch(step.manifest(), 0);
    expect(step.step(&batch));
    let change = |(name, tensor): (&String, &HostTensor)| {
        let values = tensor.f64s().into_iter().zip(before[name].f64s()).map(|(new, old)| new - old);
        (tensor.dtype(), values.collect())
    };
    let state = expect(step.state());
    let floats: BTreeMap<&String, &HostTensor> = state.iter().filter(|(_, tensor)| tensor.dtype().is_float()).collect();
    floats.into_iter().map(change).collect()
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.map(f64::abs).fold(0.0, f64::max)
}

/// In `mixed`, a pipeline errs as `halite verify` lets an optimized program err beside that of one device.
#[test]
fn mixed_pipelines_are_held_to_the_rule_of_verify() {
    let of = |model, schedule, pipeline, tensor, data, zero| Case {
        model,
        accumulate: 4,
        schedule,
        pipeline,
        tensor,
        data,
        fsdp: 1,
        zero,
    };
    let cases = [of(0, 0, 2, 2, 2, 1), of(2, 2, 2, 1, 2, 0), of(3, 1, 4, 2, 1, 0), of(4, 0, 4, 1, 2, 1)];
    let cases: Vec<Case> = cases.into_iter().step_by(if is_long() { 1 } else { 2 }).collect();
    for_each(&cases, |case| {
        let load = |bundle: &Bundle| expect(TrainStep::load(quick::executor(), bundle));
        let [mixed, exact] = ["mixed", "fp64"].map(|precision| case.compile_alone(precision));
        let mut steps = [case.compile("mixed"), mixed.clone(), exact.clone()].map(|bundle| load(&bundle));
        let draw = |number: u64| -> Result<Vec<Residual>, std::convert::Infallible> {
            let own = start(&mixed, number + 5);
            let as_exact = |(name, tensor): (String, HostTensor)| match own.get(&name) {
                Some(own) => (name, HostTensor::from_f64s(tensor.dtype(), tensor.shape().clone(), own.f64s())),
                None => (name, tensor),
            };
            let whole: Tensors = start(&exact, number + 5).into_iter().map(as_exact).collect();
            let [found, alone, exact] = [own.clone(), own.clone(), whole];
            let [found, alone, exact] =
                [changes(&mut steps[0], found), changes(&mut steps[1], alone), changes(&mut steps[2], exact)];
            assert!(found.len() == exact.len() && alone.len() == exact.len() && found.len() > 10);
            let residual = |((found, alone), exact): ((&Numbers, &Numbers), &Numbers)| {
                let scale = largest(exact.1.iter().copied()).max(f64::MIN_POSITIVE);
                let far = |own: &[f64]| largest(own.iter().zip(&exact.1).map(|(own, exact)| own - exact)) / scale;
                let roundoff = DType::Bf16.unit_roundoff().max(found.0.unit_roundoff());
                Residual { optimized: far(&found.1), unoptimized: far(&alone.1), roundoff }
            };
            Ok(found.iter().zip(&alone).zip(&exact).map(residual).collect())
        };
        let judged = judge(cases.len(), draw).unwrap_or_else(|never| match never {});
        assert!(judged.iter().all(|one| one.outcome.is_right()), "{case:?}: {judged:?}");
        let most = judged.iter().map(|one| one.first.optimized).fold(0.0, f64::max);
        assert!(most > 1e-6, "{case:?}: nothing was computed in `bf16`");
        println!("{case:?}: {} results, at most {most:e} from `f64`", judged.len());
    });
}
