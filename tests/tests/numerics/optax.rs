//! Update rules and schedules against Optax: its fixtures hold twenty updates of four small tensors, the signs of Lion, and the
//! factors of schedules.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]
#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite_ir::{Interpreter, Module, Param, ParamRole, text};
use halite_passes::{Runner, RunnerOptions, decay_of, groups_of};
use halite_recipe::Recipe;
use halite_support::{FileId, SourceMap};
use halite_tensor::{DType, HostTensor, Init};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

type Tensors = BTreeMap<String, Vec<f64>>;

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("optax/fixtures")
}

fn fixture(name: &str) -> Json {
    serde_json::from_str(&std::fs::read_to_string(fixtures().join(format!("{name}.json"))).unwrap()).unwrap()
}

fn numbers(list: &Json) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn tensors(table: &Json) -> Tensors {
    table.as_object().unwrap().iter().map(|(name, list)| (name.clone(), numbers(list))).collect()
}

/// The recipe of a fixture at a precision, which is TOML, as a session loads it.
fn recipe(session: &Session, stated: &str, precision: &str) -> Recipe {
    let mut sources = SourceMap::new();
    let text = format!("halite = 1\nbatch = 1\nseq = 1\nmodel.name = 'optax'\nprecision = {precision}\n{stated}");
    let file = sources.add("r.toml", text);
    halite_recipe::load(file, &[], &session.vocabulary, &mut sources).unwrap_or_else(|e| panic!("{stated}: {e:?}")).0
}

/// A module whose inputs are the weights and, in their order, the gradients by them.
fn module(session: &Session, shapes: &BTreeMap<String, Vec<usize>>, dtype: DType) -> Module {
    let (mut params, mut results, mut values) = (String::new(), String::new(), String::new());
    for (index, (name, shape)) in shapes.iter().enumerate() {
        let ty = format!("{dtype}{shape:?}").replace(' ', "");
        write!(params, "%g{index}: {ty} {{batch}}, ").unwrap();
        write!(results, ", g{index}: {ty} {{gradient = \"{name}\"}}").unwrap();
        write!(values, ", %g{index}").unwrap();
    }
    for (name, shape) in shapes {
        let ty = format!("{dtype}{shape:?}").replace(' ', "");
        write!(params, "%{name}: {ty} {{weight, init = ones}}, ").unwrap();
    }
    let text = format!(
        "module @optax {{phase = differentiated}}\n\nfunc @main({}) -> (loss: {dtype}[] {{loss}}, count: {dtype}[] \
         {{count}}{results}) {{\n  %one = constant 1.0 : {dtype}[]\n  return %one, %one{values}\n}}\n",
        params.trim_end_matches(", ")
    );
    text::parse(&text, FileId::of("optax.ir", &text), &session.registry).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
}

/// The step of a recipe.
fn step(session: &Session, recipe: &Recipe, mut module: Module) -> Module {
    // `bind-recipe` takes modules that are built.
    for param in module.functions.iter_mut().flat_map(|function| &mut function.params) {
        let group = groups_of(&recipe.optimizer, &param.name).next().map(|(_, group)| group);
        let decay = decay_of(&recipe.optimizer, group, &param.name);
        if let ParamRole::Weight(info) = &mut param.role {
            (info.decay, info.group) = (decay, group.map(|group| group.name.as_str().into()));
        }
    }
    let pipeline = session.passes.parse("clip, update").unwrap();
    let cx = session.pass_cx(Some(recipe), None).unwrap();
    Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx).unwrap_or_else(|e| panic!("{e:?}"));
    module
}

/// The difference of two lists relative to the largest number.
fn difference(found: &[f64], wanted: &[f64]) -> f64 {
    let largest = wanted.iter().fold(1e-3, |most: f64, x| most.max(x.abs()));
    found.iter().zip(wanted).map(|(found, wanted)| (found - wanted).abs()).fold(0.0, f64::max) / largest
}

/// Steps a module through the twenty updates of a fixture; gives the largest difference from what it has.
fn run(fixture: &Json, precision: &str) -> f64 {
    let session = Session::new();
    let recipe = recipe(&session, fixture["recipe"].as_str().unwrap(), precision);
    let dtype = recipe.precision.update;
    let shapes = fixture["shapes"].as_object().unwrap().iter();
    let shapes: BTreeMap<String, Vec<usize>> =
        shapes.map(|(name, shape)| (name.clone(), numbers(shape).into_iter().map(|n| n as usize).collect())).collect();
    let step = step(&session, &recipe, module(&session, &shapes, dtype));
    let entry = step.entry().unwrap();
    let mut state = tensors(&fixture["initial"]);
    let mut worst = 0.0_f64;
    for (index, gradients) in fixture["gradients"].as_array().unwrap().iter().enumerate() {
        let gradients: Vec<Vec<f64>> = tensors(gradients).into_values().collect();
        let input = |(position, param): (usize, &Param)| {
            let ty = entry.ty(param.value);
            let start = || match &param.role {
                ParamRole::State(spec) if spec.init == Init::Weight => state[&**spec.of.as_ref().unwrap()].clone(),
                _ => vec![0.0; ty.shape().num_elements()],
            };
            let given = gradients.get(position).or_else(|| state.get(&*param.name)).cloned();
            let values = given.unwrap_or_else(start);
            match ty.dtype() {
                DType::S32 => HostTensor::from_ints(DType::S32, ty.shape().clone(), [values[0] as i128]),
                dtype => HostTensor::from_f64s(dtype, ty.shape().clone(), values),
            }
        };
        let inputs: Vec<HostTensor> = entry.params.iter().enumerate().map(input).collect();
        let results = Interpreter::of(&step, &session.registry).run(entry, inputs).unwrap();
        state = entry.results.iter().zip(&results).map(|(r, value)| (r.name.to_string(), value.f64s())).collect();
        let mut after = fixture["after"].as_array().unwrap().iter();
        let Some(after) = after.find(|after| after["update"] == index + 1) else { continue };
        for (name, wanted) in tensors(&after["weights"]) {
            worst = worst.max(difference(&state[&name], &wanted));
        }
        for (kind, of) in after["state"].as_object().unwrap() {
            for (name, wanted) in tensors(of) {
                worst = worst.max(difference(&state[&format!("{kind}.{name}")], &wanted));
            }
        }
    }
    worst
}

/// Every rule, with what changes it.
const FIXTURES: [&str; 22] = [
    "adam",
    "adam-decay",
    "adamw",
    "adamw-clip_group_norm",
    "adamw-clip_norm",
    "adamw-clip_value",
    "adamw-decay",
    "adamw-ema",
    "adamw-groups",
    "lans",
    "lans-decay",
    "lion",
    "lion-decay",
    "muon",
    "muon-decay",
    "muon-no_nesterov",
    "sgd",
    "sgd-decay",
    "sgd-momentum",
    "sgd-momentum-decay",
    "sgd-nesterov",
    "sgd-nesterov-decay",
];

#[test]
fn rules_agree_with_optax_in_f64() {
    for name in FIXTURES {
        let worst = run(&fixture(name), "'fp64'");
        assert!(worst < 1e-9, "{name}: {worst:e}");
    }
}

#[test]
fn rules_agree_with_optax_in_f32() {
    // No argument of Lion's sign is near 0 in its fixtures.
    for name in FIXTURES {
        let worst = run(&fixture(name), "'fp32'");
        assert!(worst < 1e-5, "{name}: {worst:e}");
    }
}

/// The gradient of an update in `lion-signs`: for each element a whole number over a power of two.
fn exact_gradient(elements: usize, update: u64) -> Vec<f64> {
    let below = 1024.0 * [1.0, 8.0, 32.0][(update % 3) as usize];
    let hashed = |at: u64| ((20 * at + update) * 2_654_435_769 % (1 << 32)) / 256;
    (0..elements as u64).map(|at| ((hashed(at) % 2001) as f64 - 1000.0) / below).collect()
}

/// The number of elements of `lion-signs` that move, in one of its twenty updates, in another direction than under optax in `f64`; and
/// the number of all elements.
fn other_signs(precision: &str) -> (usize, usize) {
    let (session, fixture) = (Session::new(), fixture("lion-signs"));
    let shape: Vec<usize> = numbers(&fixture["shapes"]["w"]).into_iter().map(|size| size as usize).collect();
    let recipe = recipe(&session, fixture["recipe"].as_str().unwrap(), precision);
    let shapes = BTreeMap::from([("w".to_owned(), shape)]);
    let step = step(&session, &recipe, module(&session, &shapes, recipe.precision.update));
    let entry = step.entry().unwrap();
    let zero = |param: &Param| HostTensor::zeros(entry.ty(param.value).dtype(), entry.ty(param.value).shape().clone());
    let mut inputs: Vec<HostTensor> = entry.params.iter().map(zero).collect();
    let (mut other, mut all) = (0, 0);
    for (update, wanted) in (1..).zip(fixture["signs"].as_array().unwrap()) {
        let gradient = exact_gradient(inputs[0].len(), update);
        inputs[0] = HostTensor::from_f64s(inputs[0].dtype(), inputs[0].shape().clone(), gradient);
        let results = Interpreter::of(&step, &session.registry).run(entry, inputs.clone()).unwrap();
        for (param, input) in entry.params.iter().zip(&mut inputs).skip(1) {
            let at = entry.results.iter().position(|result| result.name == param.name).unwrap();
            if *param.name == *"w" {
                let moved = results[at].f64s().into_iter().zip(input.f64s()).map(|(new, old)| new - old);
                let signs = moved.map(|moved| {
                    if moved > 0.0 {
                        '+'
                    } else if moved < 0.0 {
                        '-'
                    } else {
                        '0'
                    }
                });
                other += signs.zip(wanted.as_str().unwrap().chars()).filter(|(found, wanted)| found != wanted).count();
                all += input.len();
            }
            *input = results[at].clone();
        }
    }
    (other, all)
}

/// A sign hangs on a rounding where its argument is near 0, so what is held is how many differ.
#[test]
fn lion_moves_as_in_optax() {
    for (precision, most) in [("'fp64'", 0), ("'fp32'", 4)] {
        let (other, all) = other_signs(precision);
        println!("{precision}: {other} of {all} elements move otherwise");
        assert_eq!(all, 40_960);
        assert!(other <= most, "{precision}: {other} of {all} elements move otherwise");
    }
    // Rounding of another size shows.
    let (other, _) = other_signs("{ recipe = 'fp32', moments = 'bf16' }");
    assert!(other > 4, "a momentum in bf16: {other} elements move otherwise");
}

#[test]
fn shapes_agree_with_optax() {
    let session = Session::new();
    for (name, case) in fixture("schedules").as_object().unwrap() {
        let stated = format!("[optimizer.sgd]\nlr = 1.0\n{}", case["recipe"].as_str().unwrap());
        let recipe = recipe(&session, &stated, "'fp64'");
        let shapes = BTreeMap::from([("w".to_owned(), vec![2])]);
        let step = step(&session, &recipe, module(&session, &shapes, DType::F64));
        let entry = step.entry().unwrap();
        let rate = entry.results.iter().position(|result| *result.name == *"learning_rate").unwrap();
        for (index, wanted) in numbers(&case["factors"]).into_iter().enumerate() {
            let input = |param: &Param| match entry.ty(param.value).dtype() {
                DType::S32 => HostTensor::from_ints(DType::S32, [], [index as i128]),
                dtype => HostTensor::from_f64s(dtype, [2], [1.0, 1.0]),
            };
            let inputs = entry.params.iter().map(input).collect();
            let found = Interpreter::of(&step, &session.registry).run(entry, inputs).unwrap()[rate].f64s()[0];
            assert!((found - wanted).abs() < 1e-12, "{name}, update {}: {found}, not {wanted}", index + 1);
        }
    }
}
