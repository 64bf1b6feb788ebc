//! Regression tests for the defects of earlier compilers of this kind that can exist here.
//!
//! | # | defect | test |
//! |---|---|---|
//! | 1 | a gradient builds the constant 1 as x / x | [`gradients_divide_nothing_by_itself`] |
//! | 2 | a loss's gradient ignores the incoming cotangent | [`a_scaled_loss_scales_gradients`] |
//! | 3 | `power` has no exponent gradient | [`power_has_both_gradients`], and `gradients.rs` for the values |
//! | 4 | folding evaluates random bits and makes huge literals | [`folding_leaves_random_bits_and_large_results`] |
//! | 5 | f32 to a narrow float and back is deleted | [`a_rounding_round_trip_stays`] |
//! | 7 | one tensor cast to two types is cast to one | [`casts_to_two_types_stay_two`] |
//! | 8, 14 | embedding gradients are summed at the precision of the operands | [`narrow_embedding_gradients_sum_wide`] |
//! | 10 | optimizer state of the third tensor on is misplaced | `parity.rs`: 20 updates of a dozen weights |
//! | 11 | a buffer is read after it is overwritten | [`reads_after_replacement_are_refused`] |
//! | 13 | max, min, abs, pad, collectives have no gradient | `gradients.rs`: every op has a gradient or a listed reason |
//! | 15 | the rank is baked into the program | [`one_program_serves_all_ranks`] |
//! | 16 | x * 0 is folded to 0 | [`a_product_with_zero_keeps_nan`] |
//! | 17 | no ignored labels | [`ignored_labels_count_for_nothing`] |
//! | 18 | the gradient of cross entropy computes the softmax again | [`cross_entropy_computes_one_softmax`] |
//! | 20 | products of elements count as accumulations | [`products_of_elements_are_elementwise`] |
//!
//! The others (6, 9, 12, 19) are about mixed precision, gradient partitioning and memory plans, which do not exist yet.

use halite_ir::text::{PrintOptions, parse, print_with};
use halite_ir::{
    InferCx, Inst, Interpreter, LocTable, LowerOptions, Module, Op, OpDef, Policy, Registry, Sample, ops,
    sample_inputs, sample_module, verify,
};
use halite_support::FileId;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::cases::{objective, samples};
use halite_test_kit::xla::{self, run_passes};

fn read(text: &str) -> Module {
    parse(text, FileId::of("test.ir", text), &Registry::builtin()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn after(passes: &str, text: &str) -> Module {
    let mut module = read(text);
    run_passes(passes, &mut module, &Registry::builtin()).unwrap_or_else(|error| panic!("{error:?}"));
    module
}

fn run(module: &Module, inputs: &[HostTensor]) -> Vec<HostTensor> {
    let registry = Registry::builtin();
    let entry = module.entry().expect("the module has an entry");
    let results = Interpreter::of(module, &registry).run(entry, inputs.to_vec());
    results.unwrap_or_else(|error| panic!("{error}"))
}

fn count(module: &Module, op: &str) -> usize {
    let insts = module.functions.iter().flat_map(|function| &function.insts);
    insts.filter(|inst| inst.op.name() == op).count()
}

fn text(module: &Module) -> String {
    print_with(module, PrintOptions { locations: false })
}

const CLEAN_UP: &str = "(simplify, fold-constant, cse, dce)*";

/// The gradients of a sample by its float operands, without composites.
fn differentiated(sample: &Sample) -> Option<Module> {
    let registry = Registry::builtin();
    let floats = sample.args.iter().enumerate().filter(|(_, arg)| arg.ty.dtype().is_float());
    let floats: Vec<_> = floats.map(|(at, _)| at).collect();
    let mut module = objective(sample, &registry, &floats).ok().filter(|_| !floats.is_empty())?;
    run_passes("auto-diff, expand-composites", &mut module, &registry).ok()?;
    Some(module)
}

#[test]
fn gradients_divide_nothing_by_itself() {
    let registry = Registry::builtin();
    let mut seen = 0;
    for sample in samples(DType::F64, &registry) {
        let Some(module) = differentiated(&sample) else { continue };
        seen += 1;
        for inst in &module.functions[0].insts {
            let itself = matches!(inst.op, Op::Divide(_)) && inst.args[0] == inst.args[1];
            assert!(!itself, "{} `{}`:\n{}", sample.op.name(), sample.label, text(&module));
        }
    }
    assert!(seen > 100, "only {seen} samples have a gradient");
    let module = after(
        "auto-diff",
        "func @main(%y: f64[2] {weight, init = zeros}, %x: f64[2]) -> (loss: f64[] {loss}) {
           %a = atan2 %y, %x : f64[2]
           %b = rsqrt %x : f64[2]
           %c = multiply %a, %b : f64[2]
           %l = reduce %c {kind = sum, dims = [0], accumulate = f64} : f64[]
           return %l
         }",
    );
    let zero = HostTensor::zeros(DType::F64, [2]);
    let ones = HostTensor::from_f64s(DType::F64, [2], [1.0, 1.0]);
    assert_eq!(run(&module, &[zero, ones])[1].f64s(), [1.0, 1.0], "the slope of atan at 0 is 1");
}

const CROSS_ENTROPY: &str =
    "func @main(%x: f64[3,4] {weight, init = zeros}, %labels: s32[3]) -> (loss: f64[] {loss}, count: f64[] {count}) {
  %s, %n = cross_entropy %x, %labels {ignore_index = -100} : f64[], f64[]
  return %s, %n
}";

fn logits() -> HostTensor {
    HostTensor::from_f64s(DType::F64, [3, 4], (0..12).map(|at| f64::from(at % 5) - 1.5))
}

#[test]
fn a_scaled_loss_scales_gradients() {
    let labels = HostTensor::from_ints(DType::S32, [3], [1, 3, 0]);
    let scaled = CROSS_ENTROPY
        .replace("return %s", "%three = constant 3.0 : f64[]\n  %t = multiply %s, %three : f64[]\n  return %t");
    let plain = run(&after("auto-diff", CROSS_ENTROPY), &[logits(), labels.clone()]);
    let scaled = run(&after("auto-diff", &scaled), &[logits(), labels]);
    for (plain, scaled) in plain[2].f64s().into_iter().zip(scaled[2].f64s()) {
        assert!(plain != 0.0 && (scaled - 3.0 * plain).abs() < 1e-14 * plain.abs(), "{plain} {scaled}");
    }
}

#[test]
fn power_has_both_gradients() {
    let module = after(
        "auto-diff",
        "func @main(%x: f64[] {weight, init = zeros}, %y: f64[] {weight, init = zeros}) -> (loss: f64[] {loss}) {
           %z = power %x, %y : f64[]
           return %z
         }",
    );
    let found = run(&module, &[HostTensor::scalar(DType::F64, 2.0), HostTensor::scalar(DType::F64, 3.0)]);
    assert_eq!(found[1].f64s(), [12.0]);
    assert!((found[2].f64s()[0] - 8.0 * 2f64.ln()).abs() < 1e-14);
}

#[test]
fn folding_leaves_random_bits_and_large_results() {
    let module = after(
        "fold-constant",
        "func @main() -> (u32[4], f32[512,512]) {
           %state = constant [1, 2] : u64[2]
           %next, %bits = rng_bit_generator %state : u64[2], u32[4]
           %row = constant [1.0, 2.0] : f32[2]
           %wide = broadcast_in_dim %row {dims = [0]} : f32[2,131072]
           %large = reshape %wide : f32[512,512]
           return %bits, %large
         }",
    );
    for op in ["rng_bit_generator", "broadcast_in_dim", "reshape"] {
        assert_eq!(count(&module, op), 1, "{}", text(&module));
    }
}

#[test]
fn a_rounding_round_trip_stays() {
    for narrow in ["bf16", "f16"] {
        let module = after(
            CLEAN_UP,
            &format!(
                "func @main(%x: f32[]) -> (f32[]) {{
                   %n = convert %x : {narrow}[]
                   %w = convert %n : f32[]
                   return %w
                 }}"
            ),
        );
        let third = HostTensor::scalar(DType::F32, 1.0 / 3.0);
        assert_eq!(count(&module, "convert"), 2, "{}", text(&module));
        assert_ne!(run(&module, std::slice::from_ref(&third))[0], third);
    }
}

#[test]
fn casts_to_two_types_stay_two() {
    let module = after(
        CLEAN_UP,
        "func @main(%x: f32[2]) -> (bf16[2], f16[2], bf16[2]) {
           %a = convert %x : bf16[2]
           %b = convert %x : f16[2]
           %c = convert %x : bf16[2]
           return %a, %b, %c
         }",
    );
    assert_eq!(count(&module, "convert"), 2, "{}", text(&module));
}

#[test]
fn narrow_embedding_gradients_sum_wide() {
    let mut module = after(
        "auto-diff",
        "func @main(%table: bf16[2,1] {weight, init = zeros}, %ids: s32[512]) -> (loss: f32[] {loss}) {
           %rows = embedding %ids, %table : bf16[512,1]
           %l = reduce %rows {kind = sum, dims = [0, 1]} : f32[]
           return %l
         }",
    );
    let inputs = [HostTensor::zeros(DType::Bf16, [2, 1]), HostTensor::zeros(DType::S32, [512])];
    // In bf16, 256 + 1 is 256.
    assert_eq!(run(&module, &inputs)[1].f64s(), [512.0, 0.0]);
    // Lowering looks positions up in a source map, which a text of a test is not in.
    module.functions.iter_mut().flat_map(|f| &mut f.insts).for_each(|inst| inst.loc = LocTable::unknown());
    let on_xla = xla::run(&module, &Registry::builtin(), LowerOptions::default(), &[inputs.to_vec()]);
    assert_eq!(on_xla.unwrap_or_else(|error| panic!("{error}"))[0][1].f64s(), [512.0, 0.0]);
}

#[test]
fn reads_after_replacement_are_refused() {
    let step = |order: &str| {
        let module = read(&format!(
            "halite.ir 1\nmodule @m {{phase = legal}}\n
             func @main(%w: f32[2] {{weight, init = zeros}}) -> (w: f32[2] {{state = \"w\"}}, f32[2]) {{
               {order}
               return %new, %old
             }}"
        ));
        verify(&module, &Registry::builtin()).map(drop)
    };
    let (new, old) = ("%new = add %w, %w : f32[2]", "%old = negate %w : f32[2]");
    assert!(step(&format!("{old}\n{new}")).is_ok());
    let errors = step(&format!("{new}\n{old}")).expect_err("the old weight is gone");
    assert!(errors.to_string().contains("after its replacement is computed"), "{errors}");
}

#[test]
fn one_program_serves_all_ranks() {
    let registry = Registry::builtin();
    let mut collectives = 0;
    for sample in samples(DType::F32, &registry).iter().filter(|sample| sample.ranks > 1) {
        let inputs = sample_inputs(sample, 3);
        let module = sample_module(sample, &registry).expect("samples are well typed");
        let options = LowerOptions::default();
        // One compilation; all ranks run it.
        let executable = xla::compile(&xla::hlo(&module, &registry, options).expect("it lowers"), sample.ranks);
        assert_eq!(executable.expect("it compiles").devices().len(), inputs.len());
        collectives += 1;
    }
    assert!(collectives >= 5);
}

#[test]
fn a_product_with_zero_keeps_nan() {
    let module = after(
        CLEAN_UP,
        "func @main(%x: f32[2]) -> (f32[2]) {
           %zero = constant 0.0 : f32[2]
           %y = multiply %x, %zero : f32[2]
           return %y
         }",
    );
    let inputs = HostTensor::from_f64s(DType::F32, [2], [f64::NAN, f64::INFINITY]);
    assert!(run(&module, &[inputs])[0].f64s().into_iter().all(f64::is_nan));
}

#[test]
fn ignored_labels_count_for_nothing() {
    let module = after("auto-diff", CROSS_ENTROPY);
    let some = run(&module, &[logits(), HostTensor::from_ints(DType::S32, [3], [1, -100, 0])]);
    assert_eq!(some[1].f64s(), [2.0]);
    assert!(some[2].f64s()[4..8].iter().all(|&gradient| gradient == 0.0));
    let none = run(&module, &[logits(), HostTensor::from_ints(DType::S32, [3], [-100; 3])]);
    assert_eq!((none[0].f64s(), none[1].f64s()), (vec![0.0], vec![0.0]));
    assert!(none[2].f64s().into_iter().all(|gradient| gradient == 0.0));
}

#[test]
fn cross_entropy_computes_one_softmax() {
    let module = after(&format!("auto-diff, expand-composites, inline, {CLEAN_UP}"), CROSS_ENTROPY);
    let by_row = |kind| {
        let fits = |inst: &&Inst| matches!(&inst.op, Op::Reduce(reduce) if reduce.kind == kind && *reduce.dims == [1]);
        module.functions[0].insts.iter().filter(fits).count()
    };
    assert_eq!((by_row(ops::Reduction::Max), by_row(ops::Reduction::Sum)), (1, 1), "{}", text(&module));
}

#[test]
fn products_of_elements_are_elementwise() {
    let registry = Registry::builtin();
    let cx = InferCx { functions: &[], registry: &registry };
    assert_eq!(ops::Multiply.policy(&cx), Policy::ELEMENTWISE);
    let sum = Op::primitive("reduce").expect("`reduce` is a primitive");
    assert_eq!(sum.def().policy(&cx), Policy::ACCUMULATE);
}
