//! Weights that are stored as one against the same weights apart, to the bit.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

use halite::Session;
use halite_ir::text::parse;
use halite_ir::{Interpreter, LowerOptions, Module, Param};
use halite_passes::{Runner, RunnerOptions};
use halite_recipe::Recipe;
use halite_support::FileId;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::numeric::uniform;
use halite_test_kit::{Directives, in_model, stored_as, xla};

/// A module after these passes, under a recipe.
fn after(session: &Session, recipe: &Recipe, passes: &str, text: &str) -> Module {
    let module = parse(text, FileId::of("test.ir", text), &session.registry);
    let mut module = module.unwrap_or_else(|errors| panic!("{errors:?}"));
    let cx = session.pass_cx(Some(recipe), None).unwrap();
    Runner::new(RunnerOptions::default()).run(&session.passes.parse(passes).unwrap(), &mut module, &cx).unwrap();
    module
}

/// A recipe of these lines of TOML.
fn recipe(lines: &[&str]) -> Recipe {
    let recipe = lines.iter().map(|&line| line.to_owned()).collect();
    Directives { recipe, ..Directives::default() }.recipe().unwrap().unwrap()
}

const SEPARATE: &str = r#"module @m {phase = step}

func @main(
  %q.w: bf16[8,3] {weight, init = zeros, decay = 0.0},
  %k.w: bf16[3,4] {weight, init = zeros, decay = 0.0},
  %q.b: bf16[8] {weight, init = zeros, decay = 0.0},
  %k.b: bf16[4] {weight, init = zeros, decay = 0.0},
  %step: s32[] {state = step},
) -> (q.w: bf16[8,3] {state = "q.w"}, k.w: bf16[3,4] {state = "k.w"}, q.b: bf16[8] {state = "q.b"}, k.b: bf16[4] {state = "k.b"}, step: s32[] {state = "step"}) {
  %one = constant 1 : s32[]
  %next = add %step, %one : s32[]
  %c = constant 1.001 : f32[8,3]
  %0 = convert %q.w : f32[8,3]
  %1 = multiply %0, %c : f32[8,3]
  %2 = convert %1 {rounding = rne} : bf16[8,3]
  %d = constant 1.001 : f32[3,4]
  %3 = convert %k.w : f32[3,4]
  %4 = multiply %3, %d : f32[3,4]
  %5 = convert %4 {rounding = rne} : bf16[3,4]
  %e = constant 1.001 : f32[8]
  %6 = convert %q.b : f32[8]
  %7 = multiply %6, %e : f32[8]
  %8 = convert %7 {rounding = rne} : bf16[8]
  %f = constant 1.001 : f32[4]
  %9 = convert %k.b : f32[4]
  %10 = multiply %9, %f : f32[4]
  %11 = convert %10 {rounding = rne} : bf16[4]
  return %2, %5, %8, %11, %next
}
"#;

const PACKED: &str = r#"module @m {phase = step}

func @main(
  %w: bf16[4,4,3] {weight, init = zeros, decay = 0.0, packs = ["q.w"[8,3], "k.w"[3,4] x 2 transposed]},
  %b: bf16[4,4] {weight, init = zeros, decay = 0.0, packs = ["q.b"[8], "k.b"[4] x 2]},
  %step: s32[] {state = step},
) -> (w: bf16[4,4,3] {state = "w"}, b: bf16[4,4] {state = "b"}, step: s32[] {state = "step"}) {
  %one = constant 1 : s32[]
  %next = add %step, %one : s32[]
  %c = constant 1.001 : f32[4,4,3]
  %0 = convert %w : f32[4,4,3]
  %1 = multiply %0, %c : f32[4,4,3]
  %2 = convert %1 {rounding = rne} : bf16[4,4,3]
  %d = constant 1.001 : f32[4,4]
  %3 = convert %b : f32[4,4]
  %4 = multiply %3, %d : f32[4,4]
  %5 = convert %4 {rounding = rne} : bf16[4,4]
  return %2, %5, %next
}
"#;

/// Packed weights round stochastically with the bits that they would have alone, update after update.
#[test]
fn packed_weights_round_as_separate_ones() {
    let session = Session::new();
    let registry = &session.registry;
    let recipe = recipe(&["precision = \"bf16-sr\""]);
    let rounded = |text: &str| after(&session, &recipe, "annotate-rounding, cse", text);
    let (separate, packed) = (rounded(SEPARATE), rounded(PACKED));
    let (old, new) = (separate.entry().unwrap(), packed.entry().unwrap());
    for update in 0..5 {
        let mut inputs: Vec<_> = [[8, 3].as_slice(), &[3, 4], &[8], &[4]]
            .into_iter()
            .map(|shape| uniform(DType::Bf16, shape, 1.0, 2.0, update))
            .collect();
        inputs.push(HostTensor::from_ints(DType::S32, halite_tensor::Shape::scalar(), [i128::from(update)]));
        let stored = stored_as(old, new, inputs.clone()).unwrap();
        let run = |module: &Module, inputs: &[HostTensor]| {
            let entry = module.entry().unwrap();
            let interpreted = Interpreter::of(module, registry).run(entry, inputs.to_vec()).unwrap();
            let compiled = xla::run(module, registry, LowerOptions::default(), &[inputs.to_vec()]).unwrap();
            assert_eq!(interpreted, compiled[0], "update {update}");
            in_model(entry, &interpreted).unwrap()
        };
        let (expected, found) = (run(&separate, &inputs), run(&packed, &stored));
        assert_eq!(found, expected, "update {update}");
        let nearest = |name: &str, at: usize| {
            let scaled = inputs[at].f64s().into_iter().map(|value| value * 1.001);
            expected[name] == HostTensor::from_f64s(DType::Bf16, inputs[at].shape().clone(), scaled.collect::<Vec<_>>())
        };
        assert!(!nearest("q.w", 0), "nothing was rounded at random");
    }
}

const SEPARATE_GRADIENTS: &str = r#"module @m {phase = differentiated}

func @main(
  %gq: f32[8,3] {batch},
  %gk: f32[3,4] {batch},
  %q.w: bf16[8,3] {weight, init = ones, decay = 0.1},
  %k.w: bf16[3,4] {weight, init = ones, decay = 0.1},
) -> (loss: f32[] {loss}, count: f32[] {count}, gq: f32[8,3] {gradient = "q.w"}, gk: f32[3,4] {gradient = "k.w"}) {
  %one = constant 1.0 : f32[]
  return %one, %one, %gq, %gk
}
"#;

const PACKED_GRADIENTS: &str = r#"module @m {phase = differentiated}

func @main(
  %gq: f32[8,3] {batch},
  %gk: f32[3,4] {batch},
  %w: bf16[4,4,3] {weight, init = ones, decay = 0.1, packs = ["q.w"[8,3], "k.w"[3,4] x 2 transposed]},
) -> (loss: f32[] {loss}, count: f32[] {count}, g: f32[4,4,3] {gradient = "w"}) {
  %one = constant 1.0 : f32[]
  %0 = reshape %gq : f32[4,2,3]
  %1 = transpose %gk {permutation = [1, 0]} : f32[4,3]
  %2 = reshape %1 : f32[2,2,3]
  %3 = broadcast_in_dim %2 {dims = [0, 2, 3]} : f32[2,2,2,3]
  %4 = reshape %3 : f32[4,2,3]
  %5 = concatenate %0, %4 {dim = 1} : f32[4,4,3]
  return %one, %one, %5
}
"#;

/// An update of what is packed, with masters, averages and narrow types, is that of separate weights; copies are equal. That is so
/// for rules of elements and for those that look at a tensor as a whole.
#[test]
fn packed_weights_are_updated_as_separate_ones() {
    let session = Session::new();
    let registry = &session.registry;
    let precisions = [
        "recipe = \"bf16-sr\"",
        "recipe = \"bf16-sr\", sr = { sites = \"all\" }",
        "recipe = \"bf16-sr\", update = \"bf16\"",
        "recipe = \"bf16-sr\", update = \"bf16\", sr = { sites = \"all\" }",
        "recipe = \"bf16\", master = \"f32\"",
    ];
    for (rule, precision) in
        ["adamw", "muon", "lans"].iter().flat_map(|rule| precisions.map(|precision| (rule, precision)))
    {
        let optimizer = format!("optimizer = {{ ema = 0.9, {rule} = {{ lr = 0.1, weight_decay = 0.1 }} }}");
        let recipe = recipe(&[&optimizer, &format!("precision = {{ {precision} }}")]);
        let passes = "clip, update, expand-composites, annotate-rounding, cse, dce";
        let step = |text: &str| after(&session, &recipe, passes, text);
        let (separate, packed) = (step(SEPARATE_GRADIENTS), step(PACKED_GRADIENTS));
        let (old, new) = (separate.entry().unwrap(), packed.entry().unwrap());
        let initial = |(at, param): (usize, &Param)| match old.ty(param.value) {
            ty if ty.dtype().is_float() => uniform(ty.dtype(), ty.shape().clone(), 1.0, 2.0, at as u64),
            ty => HostTensor::zeros(ty.dtype(), ty.shape().clone()),
        };
        let mut inputs: Vec<HostTensor> = old.params.iter().enumerate().map(initial).collect();
        for update in 0..4 {
            let stored = stored_as(old, new, inputs.clone()).unwrap();
            let expected = Interpreter::of(&separate, registry).run(old, inputs.clone()).unwrap();
            let found = Interpreter::of(&packed, registry).run(new, stored).unwrap();
            let (expected, found) = (in_model(old, &expected).unwrap(), in_model(new, &found).unwrap());
            // Reading copies back holds them to be equal. Scalars that all weights share round by the bits of the first of them, which
            // is another one here.
            if !(precision.contains("update") && precision.contains("all")) {
                assert_eq!(found, expected, "{rule}, {precision}, update {update}");
            }
            for (param, input) in old.params.iter().zip(&mut inputs) {
                let gradient = || uniform(DType::F32, input.shape().clone(), -1.0, 1.0, update);
                *input = expected.get(&*param.name).cloned().unwrap_or_else(gradient);
            }
        }
    }
}
