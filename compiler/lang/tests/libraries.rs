//! Models in several texts: what functions see, what they make, and what is refused.

use crate::common::elaborate_with;
use halite_ir::text::print;
use halite_lang::{Elaborated, Options};
use halite_support::{Diagnostic, Diagnostics, SourceMap};

fn run(model: &str, files: &[(&str, &str)]) -> (SourceMap, Result<Elaborated, Diagnostics>) {
    let mut sources = SourceMap::new();
    let result = elaborate_with("m.hal", model, files, &Options::default(), &mut sources);
    (sources, result)
}

/// `E0301 b.hal:4` for each of these.
fn places(sources: &SourceMap, found: &Diagnostics) -> Vec<String> {
    let place = |found: &Diagnostic| {
        let span = found.primary().expect("a place").span;
        let (file, line) = (sources.file(span.file).expect("a text"), sources.position(span).expect("a line").line);
        format!("{} {}:{line}", found.code().id, file.name())
    };
    found.iter().map(place).collect()
}

#[track_caller]
fn reports(model: &str, files: &[(&str, &str)], expected: &[&str]) {
    let (sources, result) = run(model, files);
    assert_eq!(places(&sources, &result.err().unwrap_or_default()), expected);
}

fn ir(model: &str, files: &[(&str, &str)]) -> String {
    let (_, result) = run(model, files);
    let built = result.unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(built.warnings.is_empty(), "{:?}", built.warnings);
    print(&built.module)
}

const LAYERS: &str = "library layers {
  fn expert(x, act = relu, size = half(wide)) {
    param w: [size, dim(x, -1)] = normal(std)
    y = act(linear(x, w))
    for i in 0..6 { y = y * 2 + i }
    param v: [dim(x, -1), size] = normal(std)
    return linear(y, v) + dim_of(offset) * x
  }
  fn half(n) { return n / 2 }
  fn dim_of(x) { return x }
  let std = 0.02
  let wide = 16
  let offset = 0.5
}";

/// A model with a body of `main` after what it uses, on `x: f32[n, k]`.
fn model(uses: &str, functions: &str, body: &str) -> String {
    format!(
        "{uses}\nmodel m {{\n  config {{ n = 4; k = 6 }}\n  {functions}\n  fn main(x: f32[n, k]) {{\n{body}\n    \
         return sum(y), full([], 1.0)\n  }}\n}}\n"
    )
}

#[test]
fn a_model_in_two_texts_is_that_in_one() {
    let body = "    for i in 0..2 { x = expert(x, silu) as layers.{i} }\n y = expert(x) as last";
    let uses = "use \"layers.hal\": expert";
    let split = ir(&model(uses, "", body), &[("layers.hal", LAYERS)]);
    let functions = LAYERS.trim_start_matches("library layers {").trim_end_matches('}');
    assert_eq!(split, ir(&model("", functions, body), &[]));
    assert!(split.contains("func @expert"), "{split}");
}

#[test]
fn names_are_those_of_the_own_text() {
    // Both texts have `std`, `half` and `k` of their own.
    let own = "let std = 0.5 fn half(x) { param w: [k] = normal(std) return x * w }";
    let text = ir(
        &model("use \"layers.hal\": expert", own, "    y = expert(half(x) as own, size = 3) as theirs"),
        &[("layers.hal", &LAYERS.replace("let wide", "let k = 16 let wide").replace("/ 2", "/ (k / 8)"))],
    );
    assert!(text.contains("normal(0.5)") && text.contains("normal(0.02)"), "{text}");
}

#[test]
fn functions_are_handed_from_text_to_text() {
    let twice = "use \"other.hal\": scaled\nlibrary twice {\n fn twice(f, x) { return scaled(f(scaled(f(x)))) }\n fn bias(x) { return x + 3 } }";
    let other = "library other { fn scaled(x) { return bias(x, 2) } fn bias(x, by) { return x * by } }";
    let files = [("twice.hal", twice), ("other.hal", other)];
    let uses = "use \"twice.hal\": twice, bias";
    let text = ir(&model(uses, "fn scaled(x) { return x - 7 }", "    y = twice(scaled, twice(bias, x))"), &files);
    for (number, count) in [("3.0", 2), ("2.0", 4), ("7.0", 2)] {
        assert_eq!(text.matches(&format!("constant {number}")).count(), count, "{number}: {text}");
    }
}

/// A tensor outside of functions is made once, and handed to what reads it through functions of other texts.
#[test]
fn tensors_outside_of_functions_are_those_of_the_own_text() {
    let inner =
        "library inner { let ramp = iota([6], type = float) fn ramped(x) { return x + broadcast(ramp, [4, 6]) } }";
    let outer = "use \"inner.hal\": ramped\nlibrary outer { let ramp = ramped(full([4, 6], 1.0)) fn both(x) { return ramped(x) * ramp } }";
    let files = [("inner.hal", inner), ("outer.hal", outer)];
    let own = "let ramp = full([4, 6], 5.0) fn all(x) { return both(x) - ramp }";
    let text = ir(&model("use \"outer.hal\": both", own, "    y = all(all(x))"), &files);
    let in_one = "let inner = iota([6], type = float) fn ramped(x) { return x + broadcast(inner, [4, 6]) } \
                  let outer = ramped(full([4, 6], 1.0)) fn both(x) { return ramped(x) * outer } \
                  let ramp = full([4, 6], 5.0) fn all(x) { return both(x) - ramp }";
    assert_eq!(text.matches("iota").count(), 1, "{text}");
    let lines = |text: &str| text.lines().count();
    assert_eq!(lines(&text), lines(&ir(&model("", in_one, "    y = all(all(x))"), &[])), "{text}");
}

#[test]
fn words_are_names_everywhere_else() {
    ir(&model("", "fn use(library) { return library }", "    y = use(library = x)"), &[]);
}

#[test]
fn built_in_libraries_are_there() {
    ir(&model("use blocks: norm, gated_mlp", "", "    y = gated_mlp(norm(x) as norm, 2 * k) as mlp"), &[]);
}

#[test]
fn what_is_listed_is_in_the_library_and_used() {
    let files = [("layers.hal", LAYERS)];
    let with = |uses: &str, body: &str| model(uses, "", body);
    // One mistake, however often the name is used.
    reports(&with("use \"layers.hal\": expart", "    y = expart(expart(x))"), &files, &["E0312 m.hal:1"]);
    reports(&with("use \"layers.hal\": std", "    y = x * std"), &files, &["E0312 m.hal:1"]);
    reports(&with("use \"none.hal\": one", "    y = one(x)"), &files, &["E0312 m.hal:1"]);
    reports(&with("use \"layers.hal\": expert, expert", "    y = expert(x)"), &files, &["E0208 m.hal:1"]);
    reports(&with("use \"layers.hal\": expert", "    y = half(expert(x))"), &files, &["E0301 m.hal:6"]);
    let (sources, result) = run(&with("use \"layers.hal\": expert, half", "    y = expert(x)"), &files);
    assert_eq!(places(&sources, &result.unwrap().warnings), ["E0302 m.hal:1"]);
}

#[test]
fn a_name_comes_from_one_place() {
    let text = model("use \"layers.hal\": half", "fn half(x) { return x }", "    y = half(x)");
    let (sources, result) = run(&text, &[("layers.hal", LAYERS)]);
    let errors = result.unwrap_err();
    assert_eq!(places(&sources, &errors), ["E0208 m.hal:4"]);
    assert_eq!(sources.position(errors[0].secondary()[0].span).unwrap().line, 1);
}

#[test]
fn a_library_holds_functions_alone() {
    for (line, expected) in [
        ("config { a = 2 }", &["E0312 layers.hal:1"][..]),
        ("require 1 == 1, \"what\"", &["E0312 layers.hal:1"]),
        ("causal = false", &["E0312 layers.hal:1"]),
        ("fn main(x) { return x }", &["E0312 layers.hal:1"]),
        ("fn show(x) { output x return x }", &["E0309 layers.hal:1"]),
        ("let n = 1 fn f(n) { return m }", &["E0301 layers.hal:1"]),
    ] {
        let library = LAYERS.replace("library layers {", &format!("library layers {{ {line}"));
        let text = model("use \"layers.hal\": expert", "", "    y = expert(x)");
        reports(&text, &[("layers.hal", &library)], expected);
    }
}

#[test]
fn mistakes_stand_where_they_are() {
    let files = [("layers.hal", LAYERS)];
    let text = |call: &str| model("use \"layers.hal\": expert", "", &format!("    y = {call}"));
    reports(&text("expert(x, size = 0)"), &files, &["E0203 layers.hal:3", "E0203 layers.hal:6"]);
    reports(&text("expert(x, width = 2)"), &files, &["E0303 m.hal:6"]);
    reports(&text("expert(x)"), &[("layers.hal", &LAYERS.replace("fn half", "fn"))], &["E0101 layers.hal:9"]);
    let both = [("layers.hal", &*LAYERS.replace("act(linear(x, w))", "act(linear(x, w) + u)"))];
    reports(&text("expert(x) + z"), &both, &["E0301 m.hal:6", "E0301 layers.hal:4"]);
}

#[test]
fn libraries_use_one_another_in_one_direction() {
    let a = "use \"b.hal\": g\nlibrary a { fn f(x) { return g(x) } }";
    let b = "use \"a.hal\": f\nlibrary b { fn g(x) { return f(x) } }";
    let text = model("use \"a.hal\": f", "", "    y = f(x)");
    let (sources, result) = run(&text, &[("a.hal", a), ("b.hal", b)]);
    let errors = result.unwrap_err();
    assert_eq!(places(&sources, &errors), ["E0312 b.hal:1"]);
    assert_eq!(errors[0].notes(), ["`a.hal` uses `b.hal` uses `a.hal`"]);
    let own = "use \"a.hal\": f\nlibrary a { fn f(x) { return x } }";
    reports(&text, &[("a.hal", own)], &["E0312 a.hal:1"]);
    reports(&text, &[("a.hal", &model("", "", "    y = x"))], &["E0312 m.hal:1"]);
}

/// A chain of libraries is followed without recursion, up to a bound.
#[test]
fn chains_are_bounded() {
    let names: Vec<String> = (0..80).map(|at| format!("{at}.hal")).collect();
    let library = |at: usize| format!("use \"{}.hal\": f\nlibrary l {{ fn g(x) {{ return x }} }}", at + 1);
    let texts: Vec<String> = (0..80).map(library).collect();
    let files: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    reports(&model("use \"0.hal\": g", "", "    y = g(x)"), &files, &["E0310 63.hal:1"]);
}

#[test]
fn recursion_is_found_in_each_text() {
    let library = "library a { fn f(x) { return g(x) } fn g(x) { return f(x) } }";
    reports(&model("use \"a.hal\": f", "", "    y = f(x)"), &[("a.hal", library)], &["E0304 a.hal:1"]);
    let apply = "library a { fn apply(f, x) { return f(x) } }";
    let text = model("use \"a.hal\": apply", "fn f(x) { return apply(f, x) }", "    y = f(x)");
    reports(&text, &[("a.hal", apply)], &["E0304 m.hal:4"]);
}
