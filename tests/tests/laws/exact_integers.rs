//! The proof that integers are exact in `f32`, against runs: random functions of integers, and the library's own with one constant changed.
//! Where a run sees an integer of 2^24 or more go into arithmetic or come out of it, nothing is proven.

#![allow(clippy::unwrap_used, reason = "this is test code")]
#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite_analysis::check_exact_integers;
use halite_ir::ops::Constant;
use halite_ir::text::parse;
use halite_ir::{
    Attr, Composite, FuncResult, Function, Interpreter, Module, Op, Registry, ResultRole, TensorType, Value,
};
use halite_support::FileId;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::numeric::Random;

/// Integers below this are exact in `f32`.
const LIMIT: i128 = 1 << 24;

/// How many functions are drawn of each kind: `HALITE_INTEGER_RANGES`, or 250.
fn count() -> usize {
    let variable = std::env::var("HALITE_INTEGER_RANGES").ok();
    variable.map_or(250, |text| text.parse().expect("`HALITE_INTEGER_RANGES` is a whole number"))
}

/// The verdicts of the analysis and of the runs on many functions.
#[derive(Debug, Default)]
struct Score {
    /// Functions in which a run saw an integer that `f32` does not hold.
    wide: usize,
    /// Functions in which none did, and of these those that are proven.
    narrow: usize,
    proven: usize,
}

impl Score {
    /// Judges one function.
    fn add(&mut self, function: &Function, registry: &Registry, random: &mut Random) {
        let proven = check_exact_integers(function, registry).is_ok();
        if sees_wide(function, registry, random) {
            assert!(!proven, "a run sees integers of 2^24 in {function:#?}, which is proven exact");
            self.wide += 1;
        } else {
            self.narrow += 1;
            self.proven += usize::from(proven);
        }
    }
}

/// Whether integers that go into arithmetic or come out of it reach 2^24 in one of some runs.
fn sees_wide(function: &Function, registry: &Registry, random: &mut Random) -> bool {
    let arithmetic = |op: &Op| {
        matches!(op, Op::Add(_) | Op::Subtract(_) | Op::Multiply(_) | Op::Maximum(_) | Op::Minimum(_) | Op::Reduce(_))
    };
    let is_int = |&value: &Value| function.ty(value).dtype().is_int();
    let arithmetic = function.insts.iter().filter(|inst| arithmetic(&inst.op));
    let watched = arithmetic.flat_map(|inst| inst.args.iter().chain(&inst.results)).copied().filter(is_int);
    let results = watched.map(|value| FuncResult { value, name: "".into(), role: ResultRole::Value }).collect();
    let mut watched = function.clone();
    watched.results = results;
    (0..8).any(|run| {
        let inputs = function.params.iter().map(|param| input(function.ty(param.value), run, random)).collect();
        let values = Interpreter::new(std::slice::from_ref(&watched), registry).run(&watched, inputs).unwrap();
        values.iter().flat_map(HostTensor::ints).any(|int| int.abs() >= LIMIT)
    })
}

/// The values of a parameter: nothing but ones of bits in the first run, then random bits.
fn input(ty: &TensorType, run: usize, random: &mut Random) -> HostTensor {
    let len = ty.shape().num_elements() * ty.dtype().size();
    let bytes = (0..len).map(|_| if run == 0 { 0xff } else { random.bits() as u8 }).collect();
    HostTensor::from_bytes(ty.dtype(), ty.shape().clone(), bytes).unwrap()
}

/// A constant of up to this many bits.
fn constant(bits: usize, random: &mut Random) -> u64 {
    random.bits() & ((1 << random.below(bits + 1)) - 1)
}

/// A function of twelve instructions on two vectors of random bits.
fn random_function(random: &mut Random) -> String {
    let mut text =
        "halite.ir 1\nmodule @m {phase = built}\n\nfunc @main(%v0: u32[8], %v1: u32[8]) -> () {\n".to_owned();
    let mut line = |text_of: String| {
        text.push_str(&text_of);
        text.push('\n');
    };
    // From here on values are narrow, so that what follows is not lost at once.
    for (narrow, wide) in [(2, 0), (3, 1)] {
        line(format!("%m{narrow} = constant {} : u32[8]", constant(16, random)));
        line(format!("%v{narrow} = and %v{wide}, %m{narrow} : u32[8]"));
    }
    for next in 4..12 {
        let mut value = || random.below(next - 2) + 2;
        let (x, y) = (value(), value());
        let (bits, op) = [
            (16, "add"),
            (16, "subtract"),
            (12, "multiply"),
            (24, "maximum"),
            (24, "minimum"),
            (24, "and"),
            (24, "or"),
            (24, "xor"),
            (4, "shift_left"),
            (5, "shift_right_logical"),
        ][random.below(10)];
        if random.coin() && !op.starts_with("shift") {
            line(format!("%v{next} = {op} %v{x}, %v{y} : u32[8]"));
        } else {
            line(format!(
                "%c{next} = constant {} : u32[8]",
                if op.starts_with("shift") { random.below(bits) as u64 } else { constant(bits, random) }
            ));
            line(format!("%v{next} = {op} %v{x}, %c{next} : u32[8]"));
        }
    }
    line("return\n}".to_owned());
    text
}

#[test]
fn random_functions_are_proven_only_where_no_run_is_wide() {
    let registry = Registry::builtin();
    let mut random = Random::new(1);
    let mut score = Score::default();
    for _ in 0..count() {
        let text = random_function(&mut random);
        let module: Module = parse(&text, FileId::of("random.ir", &text), &registry)
            .unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
        score.add(module.entry().unwrap(), &registry, &mut random);
    }
    println!("random functions of integers: {score:?}");
    assert!(score.wide * 5 > count() && score.proven * 5 > count(), "{score:?} judges one side alone");
}

/// The functions of the library in which integers have to be exact.
fn of_the_library(registry: &Registry) -> Vec<Function> {
    let function = |name: &str, attrs: &[(&str, Attr)], args: &[TensorType]| {
        let composite = Composite::new(registry, name, attrs).unwrap();
        composite.decompose(registry, &args.iter().collect::<Vec<_>>()).unwrap()
    };
    let u32s = |shape: &[usize]| TensorType::new(DType::U32, shape);
    let place = |dim: i64, size: i64, offset: i64| {
        [("dim", Attr::Int(dim)), ("size", Attr::Int(size)), ("offset", Attr::Int(offset))]
    };
    vec![
        function("random_bits", &[], &[u32s(&[]), u32s(&[9])]),
        function("random_bits", &[], &[u32s(&[]), u32s(&[4]), u32s(&[8])]),
        function("random_bits", &[], &[u32s(&[]), u32s(&[4]), u32s(&[8]), u32s(&[2])]),
        function("stream_words", &[], &[u32s(&[7]), TensorType::scalar(DType::S32)]),
        function("coordinate_words", &place(0, 64, 9), &[TensorType::scalar(DType::S32)]),
        function("coordinate_words", &place(2, 16, (1 << 24) - 16), &[TensorType::scalar(DType::S32)]),
    ]
}

#[test]
fn changed_constants_are_proven_only_where_no_run_is_wide() {
    let registry = Registry::builtin();
    let mut random = Random::new(2);
    let mut score = Score::default();
    let functions = of_the_library(&registry);
    for drawn in 0..count() {
        let mut function = functions[drawn % functions.len()].clone();
        assert!(drawn >= functions.len() || check_exact_integers(&function, &registry).is_ok());
        let is_constant = |inst: &&mut halite_ir::Inst| matches!(inst.op, Op::Constant(_));
        let mut constants: Vec<_> = function.insts.iter_mut().filter(is_constant).collect();
        let at = random.below(constants.len());
        let Op::Constant(Constant { value, .. }) = &mut constants[at].op else { unreachable!() };
        let shift = random.below(10);
        let changed = value.ints().into_iter().map(|int| (int << shift) + 1);
        *value = HostTensor::from_ints(value.dtype(), value.shape().clone(), changed).into();
        score.add(&function, &registry, &mut random);
    }
    println!("functions of the library with another constant: {score:?}");
    assert!(score.wide * 5 > count() && score.narrow > 0, "{score:?} judges one side alone");
}
