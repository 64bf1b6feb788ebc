//! Laws on random modules whose functions are called in the way of layers. `HALITE_RANDOM_MODULES` says how many to try, of which these
//! are a share.

#![allow(clippy::print_stdout, reason = "what was tried is part of the output of a test")]

use halite::Session;
use halite_ir::text::{PrintOptions, print_with};
use halite_ir::{Inst, Interpreter, Module};
use halite_passes::{Runner, RunnerOptions};
use halite_recipe::Recipe;
use halite_tensor::{DType, HostTensor, compare::difference};
use halite_test_kit::{Directives, in_model, stored_as};
use halite_tests::random::{RandomLayers, RandomOptions, random_layers};

const MIXED: RandomOptions = RandomOptions { float: DType::F32, smooth: false };
const SMOOTH: RandomOptions = RandomOptions { float: DType::F64, smooth: true };

/// The number of modules to try.
fn count() -> u64 {
    let variable = std::env::var("HALITE_RANDOM_MODULES").ok();
    variable.map_or(2000, |text| text.parse::<u64>().expect("`HALITE_RANDOM_MODULES` is a whole number")).div_ceil(50)
}

fn text(module: &Module) -> String {
    print_with(module, PrintOptions { locations: false })
}

/// Fails with the module and its seed.
fn fail(seed: u64, module: &Module, message: impl std::fmt::Display) -> ! {
    panic!("seed {seed}: {message}\n{}", text(module))
}

fn recipe(calls: &str, recompute: &str) -> Recipe {
    let lines =
        [format!("emit.calls = \"{calls}\""), format!("recompute = {recompute}"), "precision = \"fp32\"".into()];
    let recipe = Directives { recipe: lines.into(), ..Directives::default() }.recipe();
    recipe.expect("the lines are TOML").expect("there are lines")
}

/// A module after some passes.
fn after(seed: u64, module: &Module, passes: &str, recipe: &Recipe) -> Module {
    let session = Session::new();
    let pipeline = session.passes.parse(passes).unwrap_or_else(|error| panic!("{error}"));
    let cx = session.pass_cx(Some(recipe), None).expect("the target is known");
    let mut after = module.clone();
    let done = Runner::new(RunnerOptions::default()).run(&pipeline, &mut after, &cx);
    done.unwrap_or_else(|error| fail(seed, module, format!("{passes}: {error}")));
    after
}

fn run(seed: u64, module: &Module, inputs: &[HostTensor]) -> Vec<HostTensor> {
    let session = Session::new();
    let entry = module.entry().expect("a random module has an entry");
    let results = Interpreter::of(module, &session.registry).run(entry, inputs.to_vec());
    results.unwrap_or_else(|error| fail(seed, module, error))
}

/// Whatever is kept and computed again, no bit of a result or of a gradient changes.
#[test]
fn what_is_computed_again_has_the_same_bits() {
    let mut cut = 0;
    for seed in 0..count() {
        let RandomLayers { module, inputs } = random_layers(seed, MIXED, &Session::new().registry);
        let pairs = after(seed, &module, "auto-diff, expand-composites", &recipe("keep", "[]"));
        let expected = run(seed, &pairs, &inputs);
        for calls in ["keep", "inline"] {
            for recompute in ["[\"none\"]", "[\"activation\"]", "[\"dots\"]", "[\"block\"]"] {
                let found = after(seed, &pairs, "cut", &recipe(calls, recompute));
                cut += u64::from(text(&found) != text(&pairs));
                if run(seed, &found, &inputs) != expected {
                    fail(seed, &module, format!("{calls}, {recompute}: the results are others\n{}", text(&found)));
                }
            }
        }
    }
    println!("{cut} modules are cut");
    assert!(cut > 6 * count(), "only {cut} modules are cut");
}

/// Passes that do to a function what they do in its callers. `coalesce-layers` does so only where all calls allow it.
const PASSES: [&str; 5] =
    ["cse", "(simplify, fold-constant, dce)*", "fuse-norm", "fuse-activation", "expand-composites"];

/// The instructions of an entry in whatever order: what cleaning up leaves of equal ones may stand elsewhere.
fn insts(module: &Module) -> Vec<String> {
    let entry = module.entry().expect("a random module has an entry");
    let types = |inst: &Inst| inst.results.iter().map(|&result| entry.ty(result).to_string()).collect::<Vec<_>>();
    let mut insts: Vec<String> = entry.insts.iter().map(|inst| format!("{:?} {:?}", inst.op, types(inst))).collect();
    insts.sort();
    insts
}

/// After a clean-up, both have the same instructions, and results of the same bits.
#[test]
fn passes_commute_with_writing_calls_in_place() {
    let (clean, recipe) = ("(cse, simplify, fold-constant, dce)*", recipe("inline", "[]"));
    let mut changed = [0; PASSES.len()];
    for seed in 0..count() {
        let RandomLayers { module, inputs } = random_layers(seed, MIXED, &Session::new().registry);
        for (pass, changed) in PASSES.iter().zip(&mut changed) {
            let before = after(seed, &module, &format!("inline, {pass}, {clean}"), &recipe);
            let later = after(seed, &module, &format!("{pass}, inline, {clean}"), &recipe);
            if insts(&before) != insts(&later) || run(seed, &before, &inputs) != run(seed, &later, &inputs) {
                let texts = format!("{}\nafter `inline`, and before:\n{}", text(&before), text(&later));
                fail(seed, &module, format!("`{pass}` gives\n{texts}"));
            }
            *changed += u64::from(text(&after(seed, &module, pass, &recipe)) != text(&module));
        }
    }
    println!("modules that each pass changed: {changed:?}");
    assert!(changed.iter().all(|&changed| changed > 0), "{changed:?} modules are changed by {PASSES:?}");
}

/// In `f64`, up to the order in which cotangents are added up.
#[test]
fn gradients_through_calls_are_those_of_calls_written_in_place() {
    let recipe = recipe("inline", "[]");
    for seed in 0..count() {
        let RandomLayers { module, inputs } = random_layers(seed, SMOOTH, &Session::new().registry);
        let gradients = |passes: &str| {
            let after = after(seed, &module, passes, &recipe);
            let (old, new) = module.entry().zip(after.entry()).expect("a random module has an entry");
            let stored = stored_as(old, new, inputs.clone()).unwrap_or_else(|error| fail(seed, &after, error));
            in_model(new, &run(seed, &after, &stored)).unwrap_or_else(|error| fail(seed, &after, error))
        };
        let expected = gradients("inline, auto-diff");
        for passes in ["auto-diff", "coalesce-layers, auto-diff"] {
            let found = gradients(passes);
            assert_eq!(found.len(), expected.len());
            for (name, expected) in &expected {
                let apart = difference(&found[name], expected);
                if apart.max_abs > 1e-12 * apart.scale {
                    fail(seed, &module, format!("`{passes}`, `{name}`: {:?}, in place {expected:?}", found[name]));
                }
            }
        }
    }
}
