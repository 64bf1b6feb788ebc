//! Errors of the reader on wrong texts. It survives any text.

use halite_ir::text::{parse, print};
use halite_ir::{Op, Registry, sample_module};
use halite_support::{Diagnostic, Diagnostics, FileId, SourceMap};
use halite_tensor::DType;
use std::panic::AssertUnwindSafe;

fn errors(text: &str) -> Diagnostics {
    parse(text, FileId::of("test.ir", text), &Registry::builtin()).err().unwrap_or_default()
}

/// `line:column code message` and the help, for each error.
fn report(text: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    sources.add("test.ir", text);
    let line = |error: &Diagnostic| {
        let label = error.primary().expect("every complaint about text has a position");
        let at = sources.position(label.span).expect("the text is registered");
        let help = error.help_text().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}:{} {:?} {}{help}", at.line, at.column, error.code(), error.message())
    };
    errors(text).iter().map(line).collect()
}

#[track_caller]
fn assert_report(text: &str, expected: &[&str]) {
    assert_eq!(report(text), expected, "{text}");
}

/// A function of one parameter `%x: f32[4]` with these instructions.
fn body(lines: &str) -> String {
    format!("func @f(%x: f32[4]) -> (f32[4]) {{\n{lines}\n  return %x\n}}\n")
}

#[test]
fn grammar() {
    let after = "expected `{`, `,`, `:` or the end of the line, found `%x`";
    assert_report(&body("  %y = add %x %x : f32[4]"), &[&format!("2:15 E0101 {after}")]);
    assert_report(&body("  %y = add %x, : f32[4]"), &["2:16 E0101 expected a value such as `%x`, found `:`"]);
    assert_report(&body("  %y = : f32[4]"), &["2:8 E0101 expected a word, found `:`"]);
    assert_report(&body("  %y = add %x, %x : f32"), &["2:21 E0101 expected a type such as `f32[4,8]`, found `f32`"]);
    assert_report(&body("  %y tanh %x : f32[4]"), &["2:6 E0101 expected `,` or `=`, found `tanh`"]);
}

#[test]
fn names() {
    let similar = "(an op with a similar name is `tanh`)";
    assert_report(
        &body("  %y = tnah %x : f32[4]"),
        &[&format!("2:3 E0207 no op or composite is named `tnah` {similar}")],
    );
    let help = "(every value is defined on an earlier line)";
    assert_report(&body("  %y = tanh %other : f32[4]"), &[&format!("2:13 E0205 value `%other` is not defined {help}")]);
    let text = body("  %gate = tanh %x : f32[4]\n  %y = tanh %gaet : f32[4]");
    assert_report(&text, &["3:13 E0205 value `%gaet` is not defined (a value with a similar name is `%gate`)"]);
    assert_report(&body("  %x = tanh %x : f32[4]"), &["2:3 E0208 value `%x` is defined twice"]);
    let twice = format!("{}{}", body(""), body(""));
    assert_report(&twice, &["5:6 E0208 function `@f` is defined twice"]);
    assert_report(
        &body("  %y = constant @r7 : f32[64]"),
        &["2:3 E0205 resource `@r7` is not defined (resources stand after the functions)"],
    );
}

#[test]
fn types() {
    let text = body("  %y = add %x, %x : f32[5]");
    assert_report(&text, &["2:21 E0206 `add` gives `f32[4]`, but `f32[5]` is stated (write `: f32[4]`)"]);
    assert_report(
        &body("  %y = add %x, %x"),
        &["2:3 E0101 `add` needs the type of each result (end the line with `: f32[4]`)"],
    );
    assert_report(&body("  %y, %z = tanh %x : f32[4]"), &["2:3 E0201 `tanh` has 1 results, found 2 names before `=`"]);
    assert_report(&body("  %y = add %x : f32[4]"), &["2:3 E0201 `add` takes 2 operands, found 1"]);
    let text = "func @f(%x: f32[4]) -> (f32[5]) {\n  return %x\n}";
    assert_report(text, &["2:10 E0206 `%x` is `f32[4]`, but the signature states `f32[5]`"]);
    let text = "func @f(%x: f32[4]) -> (f32[4]) {\n  return %x, %x\n}";
    assert_report(text, &["2:3 E0201 the signature states 1 results, found 2 in `return`"]);
    let found = report(&body("  %y = tanh %x : g32[4]"));
    assert!(
        found[0].starts_with("2:18 E0101 no element type is named `g32` (element types are pred, s8,"),
        "{found:?}"
    );
    let huge = body("  %y = constant 0.0 : f32[99999999,99999999]");
    assert_report(&huge, &["2:23 E0203 a tensor of type `f32[99999999,99999999]` has too many elements"]);
}

#[test]
fn attributes() {
    let dot = |attrs: &str| body(&format!("  %y = dot_general %x, %x {{{attrs}}} : f32[]"));
    assert_report(
        &dot("contracts = [0] x [0]"),
        &["2:28 E0204 `dot_general` has no attribute `contracts` (it takes `batch`, `contract`, `accumulate`)"],
    );
    let pair = "2:28 E0204 `contract` of `dot_general` is two lists of integers, `[..] x [..]`, found `contract = [0]`";
    assert_report(&dot("contract = [0]"), &[pair]);
    assert_report(&dot("contract"), &["2:28 E0204 attribute `contract` has no value (write `contract = ..`)"]);
    let twice = dot("accumulate = f32, accumulate = f32");
    assert_report(&twice, &["2:46 E0208 attribute `accumulate` is given twice"]);
    let big = dot("contract = [99999999999999999999] x [0]");
    assert_report(&big, &["2:28 E0101 an integer does not fit in 64 bits"]);
    assert_report(
        &body("  %y = softmax %x {dims = 0} : f32[4]"),
        &["2:3 E0204 `softmax` has no attribute `dims` (it takes `dim`)"],
    );
}

#[test]
fn constants() {
    let constant = |text: &str| body(&format!("  %y = constant {text}"));
    let help = "(write one element for all or 4 in a list, or state another shape)";
    let message = format!("2:3 E0204 `f32[4]` has 4 elements, found 2 {help}");
    assert_report(&constant("[1, 2] : f32[4]"), &[&message]);
    let message = |element: &str, dtype: &str| {
        let help = format!("(write an element of `{dtype}`, or state another type)");
        format!("2:3 E0204 `{element}` is not an element of `{dtype}[4]` {help}")
    };
    assert_report(&constant("1.5 : s32[4]"), &[&message("1.5", "s32")]);
    assert_report(&constant("300 : u8[4]"), &[&message("300", "u8")]);
    let missing = "`constant` needs its elements after its name (write e.g. `constant 1.0 : f32[4]`)";
    assert_report(&constant(": f32[4]"), &[&format!("2:3 E0204 {missing}")]);
    assert_report(&body("  %y = tanh 1.0, %x : f32[4]"), &["2:3 E0101 `tanh` takes no elements"]);
    let text = format!("{}resource @r0 = \"0g\"\n", constant("@r0 : u8[1]"));
    assert_report(&text, &["5:1 E0101 resource `@r0` is not written in pairs of hexadecimal digits"]);
}

#[test]
fn roles() {
    let param = |role: &str| format!("func @f(%x: f32[4] {{{role}}}) -> () {{\n  return\n}}");
    assert_report(&param("weight"), &["1:21 E0204 a weight says how it starts (add e.g. `init = zeros`)"]);
    let inits = "(write `zeros`, `ones`, `constant(value)`, `normal(std)`, `truncated_normal(std)`, `uniform(low, high)`, \
                 `range(start, step)` or `orthogonal(gain)`; on state also `weight`)";
    assert_report(
        &param("weight, init = uniform(0.1)"),
        &[&format!("1:29 E0204 `init = uniform(0.1)` is no initializer {inits}")],
    );
    assert_report(&param("state = k, decay = 1.0"), &["1:32 E0204 `decay` is not part of this role"]);
    assert_report(&param("batch, decay = 1.0"), &["1:28 E0204 `decay` is not part of this role"]);
    let layer = "(write the path of its list and its place there in quotes, e.g. `layer = \"model.layers.3\"`)";
    for wrong in ["h.3", "\"h\"", "\"3\"", "\"h.3.w\"", "\"h.03\""] {
        assert_report(
            &param(&format!("weight, init = zeros, layer = {wrong}")),
            &[&format!("1:43 E0204 `layer = {wrong}` is no layer {layer}")],
        );
    }
    assert_report(
        &param("weight, init = zeros, group = head"),
        &["1:43 E0204 `group` needs the name of a group (write it in quotes)"],
    );
    let packs = |list: &str| param(&format!("weight, init = zeros, packs = {list}"));
    assert_report(
        &packs("q"),
        &["1:43 E0204 `packs = q` is no list of tensors (write e.g. `packs = [\"q.weight\"[4,8], \"k.weight\"[2,8]]`)"],
    );
    let odd = "1:43 E0204 `twice` says nothing of `q` (a tensor stored as `[in, out]` is `transposed`)";
    assert_report(&packs("[\"q\"[4] twice]"), &[odd]);
    for sizes in ["-1", "9000000000000000000,3", "20000000000000"] {
        let found = report(&packs(&format!("[\"q\"[{sizes}]]")));
        assert!(found[0].starts_with("1:43 E0204 no tensor has the sizes of `q`"), "{found:?}");
    }
    assert_report(
        &param("weight, init = zeros, dims = [4]"),
        &["1:43 E0204 `dims = [4]` names no dimension (write e.g. `dims = [heads(12) * head_dim(64), hidden(768)]`)"],
    );
    let found = report(&param("weight, init = zeros, dims = [heads(99999999999999999999)]"));
    assert!(found[0].contains("an integer does not fit in 64 bits"), "{found:?}");
    let found = report("func @f(%x: f32[]) -> (f32[] {lost}) {\n  return %x\n}");
    assert!(found[0].starts_with("1:31 E0204 `lost` is not a role of a result (roles are `loss`"), "{found:?}");
}

#[test]
fn modules() {
    let version = "1:1 E0102 IR text of version 2 cannot be read; this build reads version 1";
    assert_report(
        "halite.ir 2\nmodule nonsense\n",
        &[&format!("{version} (write the text again with this version of Halite)")],
    );
    let phases = "(write `phase = ` and one of `built`, `differentiated`, `cast`, `step`, `legal`)";
    assert_report(
        "module @m {phase = early}\n",
        &[&format!("1:12 E0209 `phase = early` is no phase of a module {phases}")],
    );
    assert_report(
        "hello\n",
        &["1:1 E0101 expected `func @name(..) -> (..) {`, found something else outside of a function"],
    );
    let text = "func @f() -> () {\n  return\n";
    assert_report(text, &["1:1 E0101 a function is not closed (add a line `}` after `return`)"]);
    let text = "func @f() -> () {\n}\n";
    assert_report(text, &["1:6 E0101 a function has no `return` (end it with `return` and the values of its results)"]);
    let text = "func @f() -> () {\n  return\n  return\n}\n";
    assert_report(text, &["3:3 E0101 nothing may follow `return`, expected `}`"]);
}

#[test]
fn bad_lines_do_not_cascade() {
    let text = body(
        "  %a = tnah %x : f32[4]\n  %b = add %a, %x : f32[4]\n  %c = add %b b\n  %d = tanh %c : f32[4]\n  %e = add %d, %d : f32[9]\n  %f = add %x, %x : f32[1]",
    );
    let found = report(&text);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(
        found[0].starts_with("2:3 E0207") && found[1].starts_with("4:15 E0101") && found[2].starts_with("7:21 E0206")
    );
    let call = "func @f(%x: f32[4]) -> (f32[4]) {\n  %y = call %x {callee = @g} : f32[4]\n  return %y\n}\n";
    let text = format!("{}{call}", body("  %y = tnah %x : f32[4]").replace("@f", "@g"));
    assert_eq!(report(&text).len(), 1, "{text}");
    assert_report(call, &["2:17 E0205 no function `@g` is defined before this one"]);
    let text = "func @g(%x: g32[4]) -> (f32[4]) {\n  %y = tanh %x : f32[4]\n  %z = tnah %x : f32[4]\n  return %y\n}\n";
    let found = report(text);
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn deep_and_long_texts_are_survived() {
    let deep = "[".repeat(200_000);
    assert!(!errors(&body(&format!("  %y = tanh %x {{a = {deep}}} : f32[4]"))).is_empty());
    assert!(!errors(&deep.replace('[', "(")).is_empty());
    assert!(!errors(&format!("func @f({}", deep.replace('[', "("))).is_empty());
    assert!(!errors(&format!("func @f({}", "(\n".repeat(100_000))).is_empty());
    let many = body(&"  %y = nonsense %x : f32[4]\n".repeat(1000));
    assert_eq!(errors(&many).len(), 64);
}

/// A small generator, so that the cases are the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Characters and pieces that the grammar knows.
const PIECES: &[&str] = &[
    "%",
    "@",
    "\"",
    "\\",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "=",
    "->",
    " x ",
    "-",
    ".",
    "0",
    "1",
    "9",
    "99999999",
    "-1",
    "nan(0x",
    "e",
    "//",
    "\n",
    " ",
    "é",
    "\u{2028}",
    "func ",
    "return ",
    "resource ",
    "module ",
    "halite.ir ",
    "true",
    "inf",
    "f32[",
    "%x",
    "state",
];

fn mutate(text: &mut String, random: &mut Random) {
    let boundary = |text: &str, mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(text, random.below(text.len() + 1));
    let end = boundary(text, (start + random.below(8)).min(text.len())).max(start);
    match random.below(4) {
        0 => text.replace_range(start..end, ""),
        1 => text.insert_str(start, PIECES[random.below(PIECES.len())]),
        2 => text.replace_range(start..end, PIECES[random.below(PIECES.len())]),
        _ => {
            let piece = text[start..end].to_owned();
            let at = boundary(text, random.below(text.len() + 1));
            text.insert_str(at, &piece);
        }
    }
}

#[test]
fn mutated_texts_never_panic() {
    let registry = Registry::builtin();
    let primitives = Op::primitives().into_iter().flat_map(|op| op.def().samples(DType::F32));
    let composites = registry.composites().flat_map(|def| def.samples(DType::F32));
    let samples = primitives.chain(composites);
    let texts: Vec<String> = samples.map(|sample| print(&sample_module(&sample, &registry).unwrap())).collect();
    let mut random = Random(7);
    let mut read = 0;
    for _ in 0..20_000 {
        let mut text = texts[random.below(texts.len())].clone();
        for _ in 0..=random.below(3) {
            mutate(&mut text, &mut random);
        }
        let outcome =
            std::panic::catch_unwind(AssertUnwindSafe(|| parse(&text, FileId::of("test.ir", &text), &registry)));
        match outcome {
            Ok(Ok(module)) => {
                read += 1;
                let printed = print(&module);
                let again = parse(&printed, FileId::of("test.ir", &printed), &registry);
                assert!(again.is_ok(), "{text}\n{again:?}");
            }
            Ok(Err(errors)) => {
                assert!(!errors.is_empty() && errors.iter().all(|error| error.primary().is_some()), "{text}")
            }
            Err(_) => panic!("the reader panics on\n{text}"),
        }
    }
    assert!(read > 500, "{read} of the mutated texts are valid");
}
