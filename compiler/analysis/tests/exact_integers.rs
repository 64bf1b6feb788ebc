//! The proof that integer arithmetic is exact in `f32`: the dither composites pass it, changed ones do not. And what
//! they cost.

use halite_analysis::check_exact_integers;
use halite_ir::attr::AttrSlot;
use halite_ir::text::{PrintOptions, parse, print_with};
use halite_ir::{Attr, Composite, Function, Module, Op, Registry, TensorType};
use halite_support::{Diagnostic, FileId, codes};
use halite_tensor::DType;

fn decomposition(name: &str, attrs: &[(&str, Attr)], args: &[TensorType]) -> Function {
    let registry = Registry::builtin();
    let composite = Composite::new(&registry, name, attrs).unwrap();
    composite.decompose(&registry, &args.iter().collect::<Vec<_>>()).unwrap()
}

fn random_bits(shape: &[usize]) -> Function {
    let along = shape.iter().map(|&size| TensorType::new(DType::U32, [size]));
    let args: Vec<_> = std::iter::once(TensorType::scalar(DType::U32)).chain(along).collect();
    decomposition("random_bits", &[], &args)
}

fn stream_words(count: usize) -> Function {
    decomposition("stream_words", &[], &[TensorType::new(DType::U32, [count]), TensorType::scalar(DType::S32)])
}

fn coordinate_words(dim: i64, size: i64, offset: i64) -> Function {
    let attrs = [("dim", dim), ("size", size), ("offset", offset)].map(|(name, value)| (name, Attr::Int(value)));
    decomposition("coordinate_words", &attrs, &[TensorType::scalar(DType::S32)])
}

fn stochastic_convert(dtype: DType) -> Function {
    let args = [TensorType::new(DType::F32, [4, 8]), TensorType::new(DType::U32, [4, 8])];
    decomposition("stochastic_convert", &[("dtype", dtype.get())], &args)
}

fn check(function: &Function) -> Result<(), Diagnostic> {
    check_exact_integers(function, &Registry::builtin())
}

/// Checks a function given as text, without its first line.
fn check_text(function: &str) -> Result<(), Diagnostic> {
    let text = format!("halite.ir 1\nmodule @m {{phase = built}}\n\n{function}");
    let module =
        parse(&text, FileId::of("test.ir", &text), &Registry::builtin()).unwrap_or_else(|errors| panic!("{errors:#?}"));
    check(module.entry().unwrap())
}

/// The function as text with all of `from` replaced, checked.
fn check_changed(function: Function, from: &str, to: &str) -> Result<(), Diagnostic> {
    let module = Module { functions: vec![function], ..Module::new("m") };
    let text = print_with(&module, PrintOptions { locations: false });
    let body = &text[text.find("func").unwrap()..];
    assert!(body.contains(from), "{body}");
    check_text(&body.replace(from, to))
}

#[track_caller]
fn assert_refused(outcome: Result<(), Diagnostic>, parts: &[&str]) {
    let error = outcome.expect_err("the proof fails");
    assert_eq!(error.code(), codes::INEXACT_INTEGER);
    for part in parts {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn dither_is_exact() {
    for shape in [&[][..], &[9], &[4096, 11008], &[2, 3, 4, 5], &[0, 3]] {
        check(&random_bits(shape)).unwrap_or_else(|error| panic!("{shape:?}: {error}"));
    }
    let end = 1 << 24;
    for (dim, size, offset) in [(0, end, 0), (1, 128, end - 128), (3, 5, 9), (0, 0, 0)] {
        check(&coordinate_words(dim, size, offset)).unwrap_or_else(|error| panic!("{size} at {offset}: {error}"));
    }
    check(&stream_words(291)).unwrap();
    for dtype in [DType::Bf16, DType::F16] {
        check(&stochastic_convert(dtype)).unwrap_or_else(|error| panic!("{dtype}: {error}"));
    }
}

#[test]
fn composites_are_looked_into() {
    let convert = |bits: &str| {
        check_text(&format!(
            "func @main(%x: f32[4], %keys: u32[1], %step: s32[]) -> (bf16[4]) {{
               %words = stream_words %keys, %step : u32[1]
               %word = reshape %words : u32[]
               %rows = coordinate_words %step {{dim = 0, size = 4}} : u32[4]
               {bits}
               %y = stochastic_convert %x, %bits {{dtype = bf16}} : bf16[4]
               return %y
             }}"
        ))
    };
    convert("%bits = random_bits %word, %rows : u32[4]").unwrap();
    let wide = "%a = random_bits %word, %rows : u32[4]\n%bits = add %a, %a : u32[4]";
    assert_refused(convert(wide), &["`%7 = add .. : u32[4]` of `@main`", "0..=8589934590"]);
}

#[test]
fn changed_dither_is_refused() {
    let matrix = || random_bits(&[64, 64]);
    // One more bit of a word, a wider multiplier, a shift too short, a coordinate too far.
    assert_refused(check_changed(matrix(), "constant 65535", "constant 131071"), &["multiply"]);
    assert_refused(check_changed(matrix(), "constant 177", "constant 257"), &["multiply"]);
    assert_refused(check_changed(matrix(), "constant 16", "constant 15"), &["multiply"]);
    let far = check_changed(coordinate_words(0, 64, 9), "constant 9", "constant 16777153");
    assert_refused(far, &["add", "16777216"]);
    let bf16 = || stochastic_convert(DType::Bf16);
    assert_refused(check_changed(bf16(), "= and ", "= or "), &["add"]);
    assert_refused(check_changed(bf16(), "shift_right_logical", "shift_left"), &["add"]);
}

#[test]
fn ranges_are_followed() {
    let green = |body: &str| {
        check_text(&format!("func @f(%x: u32[8], %s: s32[8], %p: pred[8], %f: f32[8]) -> () {{\n{body}\nreturn\n}}"))
    };
    let low = "%n = constant 255 : u32[8]\n%low = and %x, %n : u32[8]\n";
    let limit = |operation: &str| green(&format!("{low}{operation}"));
    // Each is exact, or out of range by one step.
    for exact in [
        "%y = reduce %low {kind = sum, dims = [0], accumulate = u32} : u32[]",
        "%y = select %p, %low, %n : u32[8]\n%z = multiply %y, %n : u32[8]",
        "%y = concatenate %low, %n {dim = 0} : u32[16]\n%z = add %y, %y : u32[16]",
        "%y = convert %low : s32[8]\n%z = subtract %y, %y : s32[8]",
        "%y = compare %low, %n {direction = LT} : pred[8]",
        "%y = add %f, %f : f32[8]",
        "%y = convert %p : u32[8]\n%z = add %y, %y : u32[8]",
    ] {
        limit(exact).unwrap_or_else(|error| panic!("{exact}: {error}"));
    }
    for (inexact, op) in [
        ("%y = reduce %x {kind = sum, dims = [0], accumulate = u32} : u32[]", "reduce"),
        ("%y = reduce %x {kind = max, dims = [0], accumulate = u32} : u32[]", "reduce"),
        (
            "%e = slice %n {start = [0], limit = [0], stride = [1]} : u32[0]
             %y = reduce %e {kind = max, dims = [0], accumulate = u32} : u32[]",
            "reduce",
        ),
        ("%y = subtract %low, %n : u32[8]", "subtract"),
        ("%y = compare %x, %n {direction = LT} : pred[8]", "compare"),
        ("%y = select %p, %low, %x : u32[8]\n%z = add %y, %n : u32[8]", "add"),
        ("%y = convert %f : u32[8]\n%z = add %y, %n : u32[8]", "add"),
        ("%y = bitcast_convert %f : u32[8]\n%z = add %y, %n : u32[8]", "add"),
        ("%y = negate %s : s32[8]", "negate"),
        ("%y = divide %low, %n : u32[8]", "divide"),
    ] {
        assert_refused(limit(inexact), &[&format!("= {op} ..")]);
    }
}

/// The number of instructions that work on whole tensors of this many elements; constants, broadcasts and bitcasts do not.
fn per_element(function: &Function, elements: usize) -> usize {
    let works = |op: &Op| !matches!(op, Op::Constant(_) | Op::BroadcastInDim(_) | Op::BitcastConvert(_));
    let whole = |inst: &&halite_ir::Inst| function.ty(inst.results[0]).shape().num_elements() == elements;
    function.insts.iter().filter(whole).filter(|inst| works(&inst.op)).count()
}

#[test]
fn dither_costs_as_stated() {
    assert_eq!(per_element(&random_bits(&[4, 8]), 32), 25);
    assert_eq!(per_element(&random_bits(&[4, 8, 2]), 64), 26);
    assert_eq!(per_element(&stochastic_convert(DType::Bf16), 32), 10);
    assert_eq!(per_element(&stochastic_convert(DType::F16), 32), 21);
}
