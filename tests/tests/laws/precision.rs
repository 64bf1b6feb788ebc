//! Every named precision recipe on random models.

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_ir::{Function, Interpreter, TensorType};
use halite_recipe::{PrecisionName, RoundingMode, SrSites};
use halite_runtime::evaluate;
use halite_tensor::HostTensor;
use halite_tensor::compare::difference;
use halite_test_kit::numeric::{Random, uniform};
use halite_test_kit::xla;
use halite_tests::tolerances::SUMS;
use halite_verify::VerifyOptions;

/// Loss and gradients, all passes at work but the optimizer.
const GRADIENTS: &str = "bind-recipe, cse, dce, auto-diff, auto-cast, (simplify, fold-constant, cse, dce)*, \
    expand-composites, inline, (simplify, fold-constant, cse, dce)*, annotate-rounding, legalize";

/// Random blocks for each recipe.
const BLOCKS: u64 = 2;

/// A Llama of one block whose sizes the seed decides.
fn block(seed: u64, recipe: PrecisionName) -> (Session, Source) {
    let mut random = Random::new(seed);
    let mut one_of = |sizes: &[usize]| sizes[random.below(sizes.len())];
    let kv_heads = one_of(&[1, 2]);
    let heads = kv_heads * one_of(&[1, 2]);
    let hidden = heads * one_of(&[4, 6, 8]);
    let sizes = [
        ("layers", 1),
        ("kv_heads", kv_heads),
        ("heads", heads),
        ("hidden", hidden),
        ("ffn", one_of(&[12, 24, 40])),
        ("vocab", one_of(&[10, 16, 40])),
        ("batch", one_of(&[1, 2, 3])),
        ("seq", one_of(&[4, 5, 8])),
    ];
    let mut settings: Vec<_> = sizes.iter().map(|(key, size)| format!("{key}={size}")).collect();
    settings.push(format!("precision={}", recipe.name()));
    let mut session = Session::new();
    let source = session.load("tiny", &settings);
    let source = source.unwrap_or_else(|errors| panic!("{settings:?}: {errors:?}"));
    (session, source)
}

/// An optimized gradient errs at most 1.5 times as much as the unoptimized one against `f64`, plus two roundoffs: of the
/// gradient's own type, or of the narrow one where random bits decide, which are others in another program.
#[test]
fn gradients_keep_the_tolerance_rule() {
    for recipe in PrecisionName::ALL {
        let precision = recipe.precision();
        let random = precision.rounding == RoundingMode::Sr && precision.sr.sites == SrSites::All;
        let slack = if random { 2.0 * precision.operand.unit_roundoff() } else { 0.0 };
        for seed in 0..BLOCKS {
            let (session, source) = block(seed, recipe);
            let options = VerifyOptions {
                full: true,
                seed,
                pipeline: Some(GRADIENTS.parse().unwrap()),
                ..VerifyOptions::default()
            };
            let report = halite_verify::verify(&session, &source, &options, xla::executor());
            let report = report.unwrap_or_else(|errors| panic!("{} {seed}: {errors:?}", recipe.name()));
            let failed = report.rows.iter().filter(|row| !row.passed() && row.error > row.allowed + slack);
            let failed: Vec<_> = failed.collect();
            assert!(failed.is_empty(), "{} {seed}: {failed:#?}", recipe.name());
            assert!(report.rows.len() > 10);
        }
    }
}

/// CPU XLA computes what the interpreter does, every rounding as it is annotated, up to the order of sums: a single
/// narrowing that one of them left out would show as thousands of roundoffs.
#[test]
fn xla_rounds_as_the_interpreter() {
    for recipe in PrecisionName::ALL {
        for seed in 0..BLOCKS {
            let (session, source) = block(seed, recipe);
            let built = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
            let pipeline = session.passes.parse(GRADIENTS).expect("the passes exist");
            let options = CompileOptions::default();
            let compiled = session.compile_role(&built, &source.recipe, &ModuleRole::TRAIN_STEP, &pipeline, &options);
            let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
            let entry = compiled.ir.entry().expect("a model has an entry");
            let inputs = operands(entry, seed);
            let expected = Interpreter::of(&compiled.ir, &session.registry).run(entry, inputs.clone());
            let expected = expected.unwrap_or_else(|error| panic!("{error}"));
            let program = xla::compile(&halite_hlo::encode(&compiled.hlo), 1).unwrap_or_else(|error| panic!("{error}"));
            let found = evaluate(xla::client(), program.as_ref(), &inputs).unwrap_or_else(|error| panic!("{error}"));
            for ((result, found), expected) in entry.results.iter().zip(&found).zip(&expected) {
                let apart = difference(found, expected).relative() / expected.dtype().unit_roundoff();
                assert!(apart <= SUMS, "{} {seed}: `{}` is {apart} roundoffs off", recipe.name(), result.name);
            }
        }
    }
}

/// Small weights and tokens that every vocabulary has.
fn operands(entry: &Function, seed: u64) -> Vec<HostTensor> {
    let operand = |(position, ty): (usize, TensorType)| {
        let (dtype, shape) = (ty.dtype(), ty.shape().clone());
        if dtype.is_float() {
            return uniform(dtype, shape, -0.5, 0.5, 1000 * seed + position as u64);
        }
        let mut random = Random::new(seed);
        let tokens: Vec<_> = (0..shape.num_elements()).map(|_| random.below(10) as i128).collect();
        HostTensor::from_ints(dtype, shape, tokens)
    };
    entry.param_types().into_iter().enumerate().map(operand).collect()
}
