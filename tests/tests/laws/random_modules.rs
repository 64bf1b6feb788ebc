//! Laws on random modules. `HALITE_RANDOM_MODULES` says how many to try.

#![allow(clippy::print_stdout, reason = "what was tried is part of the output of a test")]

use halite_ir::text::{PrintOptions, parse, print_with};
use halite_ir::{Interpreter, LowerOptions, Module, ParamRole, Phase, Registry, fingerprint, verify};
use halite_passes::{Changed, PassRegistry, Relation};
use halite_support::{FileId, Name, Result, codes};
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::numeric::central_differences;
use halite_test_kit::tolerances::GRADIENT;
use halite_test_kit::{Directives, in_model, stored_as, xla};
use halite_tests::random::{RandomModule, RandomOptions, random_module};
use halite_tests::tolerances::RANDOM_DIFFERENCE_NOISE;

const MIXED: RandomOptions = RandomOptions { float: DType::F32, smooth: false };
const SMOOTH: RandomOptions = RandomOptions { float: DType::F64, smooth: true };

/// The number of modules to try.
fn count() -> u64 {
    let variable = std::env::var("HALITE_RANDOM_MODULES").ok();
    variable.map_or(2000, |text| text.parse().expect("`HALITE_RANDOM_MODULES` is a whole number"))
}

/// A share of the modules, for laws that cost more.
fn share(of: u64) -> std::ops::Range<u64> {
    0..count().div_ceil(of)
}

fn text(module: &Module) -> String {
    print_with(module, PrintOptions { locations: false })
}

fn interpret(module: &Module, registry: &Registry, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
    let entry = module.entry().expect("a random module has an entry");
    Interpreter::of(module, registry).run(entry, inputs.to_vec())
}

/// The inputs of a module as a later form of it stores them.
fn stored(seed: u64, before: &Module, after: &Module, inputs: &[HostTensor]) -> Vec<HostTensor> {
    let (old, new) = before.entry().zip(after.entry()).expect("a random module has an entry");
    stored_as(old, new, inputs.to_vec()).unwrap_or_else(|error| fail(seed, after, error))
}

/// Fails with the module and its seed.
fn fail(seed: u64, module: &Module, message: impl std::fmt::Display) -> ! {
    panic!("seed {seed}: {message}\n{}", text(module))
}

#[test]
fn modules_verify_and_read_back() {
    let registry = Registry::builtin();
    for seed in 0..count() {
        let RandomModule { module, inputs, .. } = random_module(seed, MIXED, &registry);
        verify(&module, &registry).unwrap_or_else(|errors| fail(seed, &module, errors));
        let printed = text(&module);
        let again = parse(&printed, FileId::of("test.ir", &printed), &registry)
            .unwrap_or_else(|errors| fail(seed, &module, format!("{errors:?}")));
        assert_eq!(text(&again), printed, "seed {seed}");
        if fingerprint(&again) != fingerprint(&module) {
            fail(seed, &module, "the fingerprint changes with the text");
        }
        let results = interpret(&module, &registry, &inputs).unwrap_or_else(|error| fail(seed, &module, error));
        let finite = |tensor: &HostTensor| !tensor.dtype().is_float() || tensor.f64s().iter().all(|x| x.abs() < 1e6);
        if !results.iter().all(finite) {
            fail(seed, &module, "a result is not tame");
        }
    }
}

/// Modules are of use only if they have everything that passes look at.
#[test]
fn modules_are_varied() {
    let registry = Registry::builtin();
    let mut ops = std::collections::BTreeSet::new();
    for seed in 0..200 {
        for function in random_module(seed, MIXED, &registry).module.functions {
            ops.extend(function.insts.iter().map(|inst| inst.op.name().to_owned()));
        }
    }
    for wanted in ["call", "softmax", "causal_attention", "take", "optimization_barrier", "rng_bit_generator", "select"]
    {
        assert!(ops.contains(wanted), "no module has a `{wanted}`");
    }
    assert!(ops.len() > 55, "only {} ops appear: {ops:?}", ops.len());
}

#[test]
fn passes_keep_their_relation() {
    let registry = Registry::builtin();
    let passes = PassRegistry::builtin();
    let trainium = ["target = \"trn1\"", "dialect.on = [\"*\"]"].map(str::to_owned).to_vec();
    let trainium = Directives { recipe: trainium, ..Directives::default() }.recipe().expect("the recipe is one");
    let stages = ["accumulate = 2", "parallel = { data = 1, tensor = 1, pipeline = 2, sequence = false, zero = 0 }"];
    let stages = Directives { recipe: stages.map(str::to_owned).to_vec(), ..Directives::default() };
    let stages = stages.recipe().expect("the recipe is one");
    let mut changes = std::collections::BTreeMap::<Name, u64>::new();
    let session = halite::Session::new();
    for seed in 0..count() {
        let RandomModule { module, inputs, .. } = random_module(seed, MIXED, &registry);
        let before = interpret(&module, &registry, &inputs).unwrap_or_else(|error| fail(seed, &module, error));
        // The module in two parts, once it is cut.
        let mut cut = module.clone();
        for pass in passes.iter() {
            let info = pass.info();
            let by_recipe = matches!(info.relation, Relation::Defines | Relation::WithinRecipe);
            let checks = info.name.starts_with("check-");
            // Backwards and updates of a pipeline are of models in `numerics pipelines`, what ranks of a mesh do in `mesh`.
            let apart = [
                "bind-recipe",
                "outline-layers",
                "combine-collectives",
                "order-collectives",
                "place-weights",
                "pad-uneven",
                "split-update",
                "split-backward",
            ];
            let own_tests = by_recipe || checks || apart.contains(&&*info.name);
            if own_tests || !info.needs.contains(&Phase::Built) || info.gives == Some(Phase::Legal) {
                continue;
            }
            // Only a target that is not CPU XLA has kernels, and only a pipeline has stages.
            let recipe = match &*info.name {
                "dispatch-dialect" => trainium.as_ref(),
                "place-stages" => stages.as_ref(),
                _ => None,
            };
            let cx = session.pass_cx(recipe, None).expect("the target is known");
            let module = if info.name == "split-stages" { cut.clone() } else { module.clone() };
            let module = &module;
            let mut after = module.clone();
            let changed = match pass.run(&mut after, &cx) {
                // A module with a single instruction of a model has no two parts.
                Err(error) if info.name == "place-stages" && error.code() == codes::NOT_SUPPORTED => continue,
                changed => changed.unwrap_or_else(|error| fail(seed, module, format!("{}: {error}", info.name))),
            };
            if info.name == "place-stages" {
                cut = after.clone();
            }
            if let Some(phase) = info.gives {
                after.phase = phase;
            }
            *changes.entry(info.name.clone()).or_default() += u64::from(changed == Changed::Yes);
            let really = fingerprint(&after) != fingerprint(module);
            if really != (changed == Changed::Yes) {
                fail(seed, module, format!("`{}` reports {changed:?}, but changed is {really}", info.name));
            }
            verify(&after, &registry)
                .unwrap_or_else(|errors| fail(seed, module, format!("after `{}`: {errors}", info.name)));
            let stored = stored(seed, module, &after, &inputs);
            let found = interpret(&after, &registry, &stored).unwrap_or_else(|error| fail(seed, &after, error));
            if let Some(message) = broken(info.relation, &before, &found) {
                fail(seed, module, format!("`{}`: {message}\nafter:\n{}", info.name, text(&after)));
            }
        }
    }
    println!("modules that each pass changed: {changes:?}");
    let idle: Vec<_> = changes.iter().filter(|(_, changed)| **changed == 0).map(|(name, _)| name).collect();
    assert!(idle.is_empty(), "no module gives these passes something to do: {idle:?}");
}

/// Describes how results break a relation, if they do.
fn broken(relation: Relation, before: &[HostTensor], after: &[HostTensor]) -> Option<String> {
    let (units, longer) = match relation {
        Relation::Identical => (0.0, false),
        Relation::Ulp(units) | Relation::Mapped(units) => (f64::from(units), false),
        Relation::Extends => (0.0, true),
        // These need a recipe and are tried elsewhere.
        Relation::WithinRecipe | Relation::Defines => return None,
    };
    if after.len() < before.len() || (after.len() > before.len() && !longer) {
        return Some(format!("{} results became {}", before.len(), after.len()));
    }
    let differs = |(_, (before, after)): &(usize, (&HostTensor, &HostTensor))| {
        let apart = difference(after, before);
        let same = if units == 0.0 {
            before == after
        } else {
            apart.max_abs <= units * before.dtype().unit_roundoff() * apart.scale
        };
        !same
    };
    let (index, (before, after)) = before.iter().zip(after).enumerate().find(differs)?;
    Some(format!("result {index} was {before:?} and is {after:?}"))
}

/// The pieces that pipelines are made of, with the relation of the loosest pass in them.
#[test]
fn pipelines_keep_results() {
    let registry = Registry::builtin();
    // There is no recipe to bind.
    let prepare = halite::pipelines::prepare().to_string();
    let prepare = prepare.strip_prefix("bind-recipe, ").expect("the pipeline begins so");
    let whole =
        format!("{prepare}, auto-diff, expand-composites, inline, (cse, simplify, fold-constant, dce)*, legalize");
    let pieces = [
        "cse, dce, (simplify, fold-constant, cse, dce)*",
        "expand-composites, inline, (simplify, fold-constant, cse, dce)*, legalize",
        "coalesce-layers, cse, dce, auto-diff, expand-composites, inline, (simplify, fold-constant, cse, dce)*, legalize",
        &whole,
        "cse, dce, auto-diff, (simplify, fold-constant, cse, dce)*, expand-composites, inline, (simplify, fold-constant, cse, dce)*, legalize",
    ];
    for seed in share(2) {
        let RandomModule { module, inputs, errors } = random_module(seed, MIXED, &registry);
        let before = interpret(&module, &registry, &inputs).unwrap_or_else(|error| fail(seed, &module, error));
        for piece in pieces {
            let mut after = module.clone();
            xla::run_passes(piece, &mut after, &registry)
                .unwrap_or_else(|error| fail(seed, &module, format!("{piece}: {error:?}")));
            let stored = stored(seed, &module, &after, &inputs);
            let found = interpret(&after, &registry, &stored).unwrap_or_else(|error| fail(seed, &after, error));
            compare(seed, &module, &found, &before, &errors);
            let same = |(_, error): &(_, &f64)| **error == 0.0;
            let exact = found.iter().zip(&before).zip(&errors).filter(same);
            if let Some(((found, before), _)) = exact.into_iter().find(|((found, before), _)| found != before) {
                fail(seed, &module, format!("{piece}: {before:?} became {found:?}, bit for bit"));
            }
        }
    }
}

/// Each result is as close to the expected one as the generator promises. Zeros are equal whatever their sign: XLA takes
/// `x * convert(p)` for `select(p, x, 0)`.
fn compare(seed: u64, module: &Module, found: &[HostTensor], expected: &[HostTensor], errors: &[f64]) {
    for (index, ((found, expected), error)) in found.iter().zip(expected).zip(errors).enumerate() {
        let apart = difference(found, expected);
        // The bounds say nothing about the rounding of the result itself.
        let rounding = 2.0 * expected.dtype().unit_roundoff() * apart.scale;
        if apart.max_abs > error + rounding || (*error == 0.0 && apart.max_abs > 0.0) {
            let message = format!("result {index} is {found:?}, expected {expected:?} up to {error:e}");
            fail(seed, module, message);
        }
    }
}

#[test]
fn interpreter_agrees_with_xla() {
    let registry = Registry::builtin();
    let options = [MIXED, RandomOptions { float: DType::F64, smooth: false }];
    for seed in share(10) {
        let RandomModule { module, inputs, errors } = random_module(seed, options[seed as usize % 2], &registry);
        let expected = interpret(&module, &registry, &inputs).unwrap_or_else(|error| fail(seed, &module, error));
        let found = xla::run(&module, &registry, LowerOptions::default(), &[inputs]);
        let found = found.unwrap_or_else(|error| fail(seed, &module, error)).swap_remove(0);
        compare(seed, &module, &found, &expected, &errors);
    }
}

#[test]
fn gradients_are_central_differences() {
    let registry = Registry::builtin();
    for seed in share(6) {
        let RandomModule { module, inputs, .. } = random_module(seed, SMOOTH, &registry);
        let gradients = ["auto-diff", "coalesce-layers, auto-diff"].map(|passes| {
            let mut gradient = module.clone();
            xla::run_passes(passes, &mut gradient, &registry)
                .unwrap_or_else(|error| fail(seed, &module, format!("{error:?}")));
            let stored = stored(seed, &module, &gradient, &inputs);
            let results = interpret(&gradient, &registry, &stored).unwrap_or_else(|error| fail(seed, &gradient, error));
            let entry = gradient.entry().expect("a random module has an entry");
            let gradients = in_model(entry, &results).unwrap_or_else(|error| fail(seed, &gradient, error));
            (results[0].f64s()[0], gradients)
        });
        let entry = module.entry().expect("a random module has an entry");
        let weights = entry.params.iter().enumerate().filter(|(_, param)| matches!(param.role, ParamRole::Weight(_)));
        for (position, param) in weights {
            let loss = |moved: HostTensor| {
                let mut inputs = inputs.clone();
                inputs[position] = moved;
                Ok(interpret(&module, &registry, &inputs)?[0].f64s()[0])
            };
            let expected =
                central_differences(&inputs[position], loss).unwrap_or_else(|error| fail(seed, &module, error));
            let scale = expected.iter().fold(0f64, |scale, value| scale.max(value.abs()));
            let allowed = GRADIENT * scale + RANDOM_DIFFERENCE_NOISE * (1.0 + gradients[0].0.abs());
            let close = |(found, expected): (&f64, &f64)| (found - expected).abs() <= allowed;
            for (_, gradients) in &gradients {
                let found = gradients[&*param.name].f64s();
                if !found.iter().zip(&expected).all(close) {
                    let message =
                        format!("the gradient by parameter {position} is {found:?}, differences say {expected:?}");
                    fail(seed, &module, message);
                }
            }
        }
    }
}
