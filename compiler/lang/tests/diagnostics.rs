//! Every kind of mistake: its code and its line, and that one mistake makes one diagnostic.

use crate::common::elaborate_with;
use halite_lang::{Elaborated, Options, Override};
use halite_recipe::ConfigValue;
use halite_support::{Diagnostics, FileId, SourceMap, Span};

fn run(text: &str, overrides: Vec<Override>) -> (SourceMap, Result<Elaborated, Diagnostics>) {
    let mut sources = SourceMap::new();
    let options = Options { overrides, ..Options::default() };
    let result = elaborate_with("model.hal", text, &[], &options, &mut sources);
    (sources, result)
}

/// `E0301@4` for each error: code and line, 0 when there is no place.
fn errors_with(text: &str, overrides: Vec<Override>) -> Vec<String> {
    let (sources, result) = run(text, overrides);
    let line = |span| sources.position(span).expect("the text is registered").line;
    let show = |d: &halite_support::Diagnostic| format!("{}@{}", d.code().id, d.primary().map_or(0, |p| line(p.span)));
    result.err().unwrap_or_default().iter().map(show).collect()
}

fn errors(text: &str) -> Vec<String> {
    errors_with(text, Vec::new())
}

/// A model around the body of `main`, which begins at line 4; `x` is `f32[4,6]`.
fn in_main(body: &str) -> String {
    format!(
        "model m {{ config {{ n = 4; k = 6 }}\n  fn main(t: s32[n, k]) {{\n    x = convert(t, float)\n{body}\n    \
         return sum(x), sum(full([1], 1.0))\n  }}\n}}\n"
    )
}

#[track_caller]
fn main_reports(body: &str, expected: &[&str]) {
    assert_eq!(errors(&in_main(body)), expected, "{body}");
}

#[test]
fn a_model_without_mistakes_elaborates() {
    main_reports("x = x * 2 + 1.5", &[]);
    main_reports("a, b = split(x, 2)\n x = a @ transpose(b)", &[]);
    main_reports("x = where(x > 0, x, -x) / mean(x, -1, keep = true)", &[]);
    main_reports("x = where(x > 0, x, -x) / x[:, 0:2]", &["E0203@4"]);
    main_reports("x = x - broadcast(mean(x, -1, keep = true), [n, k])", &[]);
    main_reports("x = reshape(x, [2, -1])[:, 1:-1] + iota([10], type = float)", &[]);
    main_reports("x = concat([x, x], dim = 0)[n:] + full([k], 2 - 3 * 4 % 5)", &[]);
    main_reports("x = softmax(maximum(x, 0), dim = 0)", &[]);
    main_reports("for i in 0..3 { y = x * i; x = x + y }", &[]);
}

#[test]
fn choices_run_one_side() {
    main_reports("x = if n == 4 { x * 2 } else { undefined(x) }", &["E0301@4"]);
    main_reports("x = x + if n == 4 and not (k == 4) { reshape(x, [n, k]) } else { reshape(x, [k]) }", &[]);
    main_reports("a, b = if n > 4 { split(x, 3) } else { split(x, 2) }\n x = a @ transpose(b)", &[]);
    main_reports("a, b = if n > 3 { split(x, 3) } else { split(x, 2) }\n x = a @ transpose(b)", &["E0307@4"]);
    main_reports("x = if x { x } else { x }", &["E0307@4"]);
    main_reports("x = if n { x } else { x }", &["E0307@4"]);
    main_reports("x = if n > 3 { x }", &["E0101@5"]);
    main_reports("if = 3", &["E0101@4"]);
    let weight = |n: i64| {
        let text = in_main("x = if n > 4 { f(x) as one } else { f(x) as two }");
        let text = text.replace("config", "fn f(a) { param w: [k] = ones return a * broadcast(w, [n, k]) } config");
        let (_, result) = run(&text, vec![Override::new("n", ConfigValue::Int(n))]);
        let module = result.unwrap().module;
        module.entry().unwrap().params[1].name.to_string()
    };
    assert_eq!((weight(5), weight(4)), ("one.w".to_owned(), "two.w".to_owned()));
}

#[test]
fn syntax() {
    assert_eq!(errors("model m {\n  let = 3\n}"), ["E0101@2"]);
    assert_eq!(errors("model m {\n"), ["E0101@2"]);
    assert_eq!(errors("model m { fn f(x) {\n  y = x\n}\n}"), ["E0101@3"]);
    main_reports("x = x +", &["E0101@5"]);
    main_reports("x = 99999999999999999999", &["E0308@4"]);
}

#[test]
fn names() {
    main_reports("x = x + y\n z = q", &["E0301@4", "E0301@5"]);
    main_reports("x = sofmax(x)", &["E0301@4"]);
    main_reports("for i in 0..2 { y = x }\n x = y", &["E0301@5"]);
    main_reports("n = 3\n x = x * n", &[]);
    assert_eq!(errors("model m {\n fn f(x: q[1]) { return x }\n}"), ["E0309@1", "E0301@2"]);
    assert_eq!(errors(&in_main("").replace("k = 6", "k = later").replace("  fn", "let later = 2\n  fn")), ["E0301@1"]);
}

#[test]
fn suggestions_name_the_nearest() {
    let (_, result) = run(&in_main("x = sofmax(x)"), Vec::new());
    assert_eq!(result.unwrap_err()[0].help_text(), Some("did you mean `softmax`? `halite help softmax` describes it"));
}

#[test]
fn calls() {
    main_reports("x = reshape(x)", &["E0303@4"]);
    main_reports("x = reshape(x, [k, n], 3)", &["E0303@4"]);
    main_reports("x = reshape(x, shap = [k, n])", &["E0303@4"]);
    main_reports("x = softmax(x, dimension = 1)", &["E0303@4"]);
    main_reports("x = softmax(x, x)", &["E0201@4"]);
    main_reports("x = softmax(3)", &["E0307@4"]);
    let with = |call: &str| in_main(call).replace("config", "fn f(a, b = 2) { return a * b } config");
    assert_eq!(errors(&with("x = f(x) + f(x, b = 3)")), [""; 0]);
    assert_eq!(errors(&with("x = f()")), ["E0303@4"]);
    assert_eq!(errors(&with("x = f(x, 1, 2)")), ["E0303@4"]);
    assert_eq!(errors(&with("x = f(x, c = 2)")), ["E0303@4"]);
    assert_eq!(errors(&with("x = f(x, a = 2)")), ["E0303@4"]);
}

#[test]
fn recursion_is_reported_once_with_its_path() {
    let text = in_main("x = f(x)").replace("config", "fn f(a) { return g(a) } fn g(a) { return f(a) + 1 } config");
    let (_, result) = run(&text, Vec::new());
    let errors = result.unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!((errors[0].code().id, &*errors[0].notes()[0]), ("E0304", "`f` calls `g` calls `f`"));
}

#[test]
fn arguments_of_main_are_data_or_a_causal_mask() {
    let with =
        |argument: &str| in_main("x = where(m, x, 0)").replace("t: s32[n, k]", &format!("t: s32[n, k], {argument}"));
    assert_eq!(errors(&with("m: pred[k, k] = causal").replace("where(m, ", "where(m[0:n], ")), [""; 0]);
    assert_eq!(errors(&with("m: pred[n, k] = causal")), ["E0309@2"]);
    assert_eq!(errors(&with("m: pred[n, k] = true")), ["E0309@2"]);
    assert_eq!(errors(&with("m: pred[n, k] = acausal")), ["E0309@2"]);
}

#[test]
fn definitions_are_unique() {
    assert_eq!(
        errors(&in_main("x = f(x)").replace("config", "fn f(x) { return x } fn f(x) { return x } config")),
        ["E0208@1"]
    );
    assert_eq!(errors(&in_main("").replace("k = 6", "k = 6; n = 4")), ["E0208@1"]);
    assert_eq!(errors(&in_main("x = rank(x) * x").replace("config", "fn rank(x) { return 2 } config")), ["E0208@1"]);
}

#[test]
fn batches_weights_and_outputs_have_different_names() {
    let helper = |name: &str, main: &str| {
        in_main(main).replace("config", &format!("fn f(a) {{\n param {name}: [k] = ones\n return a * {name} }} config"))
    };
    assert_eq!(errors(&helper("w", "x = f(x)")), [""; 0]);
    assert_eq!(errors(&helper("t", "x = f(x)")), ["E0208@2"]);
    assert_eq!(errors(&helper("t", "x = f(x) as scope")), [""; 0]);
    assert_eq!(errors(&helper("logits", "x = f(x)\n logits = x\n output logits")), ["E0208@8"]);
    assert_eq!(errors(&helper("logits", "logits = x\n output logits\n x = f(logits)")), ["E0208@2"]);
    for name in ["loss", "count", "grad_norm", "learning_rate", "step"] {
        assert_eq!(errors(&helper(name, "x = f(x)")), ["E0208@2"], "{name}");
        assert_eq!(errors(&helper(name, "x = f(x) as scope")), [""; 0], "{name}");
        main_reports(&format!("{name} = x\n output {name}"), &["E0208@5"]);
        let batch = in_main("").replace("t: s32", &format!("{name}: s32")).replace("(t,", &format!("({name},"));
        assert_eq!(errors(&batch), ["E0208@2"], "{name}");
    }
    main_reports("param w: [k] = ones\n x = x * w\n output w", &["E0208@6"]);
    main_reports("output t", &["E0208@4"]);
    assert_eq!(errors(&helper("w", "param w: [k] = ones\n x = f(x * w) as m")), ["E0208@2"]);
    assert_eq!(errors(&helper("w", "x = f(x) as master\n param w: [k] = ones\n x = x * w")), ["E0208@7"]);
    assert_eq!(errors(&in_main("").replace("t: s32[n, k]", "t: s32[n, k], t: s32[n]")), ["E0208@2"]);
}

#[test]
fn a_name_that_is_taken_says_by_what() {
    let text = in_main("x = f(x)").replace("config", "fn f(a) {\n param t: [k] = ones\n return a * t } config");
    let (sources, result) = run(&text, Vec::new());
    let errors = result.unwrap_err();
    assert_eq!(errors[0].message(), "parameter `t` has the name of a batch");
    assert_eq!(errors[0].help_text(), Some("rename the parameter, or declare it in a scope"));
    let secondary = |label: &halite_support::Label| (sources.position(label.span).unwrap().line, label.text.clone());
    let places: Vec<_> = errors[0].secondary().iter().map(secondary).collect();
    assert_eq!(places, [(4, "first here".to_owned()), (6, "called from here".to_owned())]);
}

#[test]
fn parameters() {
    main_reports("param w: [k] = ones\n x = x * w", &[]);
    main_reports("param w: [k] = ones", &["E0302@4"]);
    main_reports("param w: [k] = ones\n y = x * w\n z = y", &["E0302@4"]);
    main_reports("param w: [k] = one\n x = x * w", &["E0303@4"]);
    main_reports("param w: [k] = normal(x)\n x = x * w", &["E0307@4"]);
    main_reports("param w: [0] = zeros\n x = x * w", &["E0203@4"]);
    main_reports("param w: [n, n * 1.5] = zeros\n x = x * w", &["E0307@4"]);
    let scale = "fn scale(x) {\n param w: [k] = ones\n return x * w }\n config";
    let twice = in_main("x = scale(scale(x))").replace("config", scale);
    assert_eq!(errors(&twice), ["E0208@2"]);
    let scoped = in_main("for i in 0..3 { x = scale(x) as s.{i} }").replace("config", scale);
    assert_eq!(errors(&scoped), [""; 0]);
}

#[test]
fn shapes_and_kinds() {
    main_reports("x = x + x[:, 1:]", &["E0203@4"]);
    main_reports("x = x @ x", &["E0203@4"]);
    main_reports("x = x[9]", &["E0203@4"]);
    main_reports("x = x[:, :, 0]", &["E0203@4"]);
    main_reports("x = x[3:2]", &["E0203@4"]);
    main_reports("x = x + t", &["E0202@4"]);
    main_reports("x = x + convert(t + 1.5, float)", &["E0307@4"]);
    main_reports("x = x + true", &["E0307@4"]);
    main_reports("x = reshape(x, [7, -1])", &["E0203@4"]);
    main_reports("x, y = x", &["E0307@4"]);
    main_reports("x = split(x, 2)", &["E0307@4"]);
    main_reports("x = split(x, 4)", &["E0203@4"]);
    main_reports("x = x + full([3000000, 3000000, 3000000], 1.0)", &["E0310@4"]);
}

#[test]
fn arithmetic() {
    main_reports("x = x * (7 / 2)", &["E0308@4"]);
    main_reports("x = x * (7 / 0)", &["E0308@4"]);
    main_reports("x = x * (9223372036854775807 + 1)", &["E0308@4"]);
    main_reports("x = x * sqrt(-1)", &["E0308@4"]);
    main_reports("x = x * (7.0 / 2)", &[]);
}

#[test]
fn one_mistake_makes_one_diagnostic_and_several_make_several() {
    main_reports("y = x + z\n z = y * 2\n x = reshape(z, [2, 2]) @ y", &["E0301@4"]);
    main_reports("for i in 0..9 { x = x + x[1:] }", &["E0203@4"]);
    main_reports("y = reshape(x, [k])\n z = reshape(x, [n])\n x = y * z", &["E0203@4"]);
    main_reports("y = x[9]\n z = 7 / 2\n param w: [n] = zeros\n x = y * z", &["E0203@4", "E0308@5", "E0302@6"]);
}

#[test]
fn the_contract_of_main() {
    let main = |text: &str| errors(&format!("model m {{ {text} }}"));
    assert_eq!(errors("model m { }"), ["E0309@1"]);
    assert_eq!(main("fn main() { return 1, 2 }"), ["E0309@1", "E0309@1"]);
    assert_eq!(main("fn main(t) { return t, t }"), ["E0309@1"]);
    assert_eq!(main("fn main(t: float[2]) { return sum(t), t }"), ["E0309@1"]);
    assert_eq!(main("fn main(t: s32[2]) { return sum(t), sum(t) }"), ["E0309@1"]);
    assert_eq!(main("fn main(t: float[2]) { return sum(t) }"), ["E0309@1"]);
    main_reports("output x\n output x", &["E0208@5"]);
    main_reports("output n", &["E0307@4"]);
    main_reports("metric a = sum(x), over = n\n loss b = mean(x), weight = 0.5\n metric = 3\n loss = metric", &[]);
    main_reports("metric a = sum(x)\n loss a = sum(x)", &["E0208@5"]);
    main_reports("loss a = sum(x), weight = sum(x)", &["E0307@4"]);
    main_reports("loss a = sum(x), over = 3", &["E0101@4"]);
    main_reports("metric a = x\n metric b = t[0, 0] > 0", &["E0307@4", "E0307@5"]);
    let inside = in_main("x = f(x)").replace("config", "fn f(x) { metric a = sum(x)\n return x } config");
    assert_eq!(errors(&inside), ["E0309@1"]);
    let inside = in_main("x = f(x)").replace("config", "fn f(x) { output x\n return x } config");
    assert_eq!(errors(&inside), ["E0309@1"]);
}

#[test]
fn stated_types_are_checked() {
    let text = in_main("x = f(x)").replace("config", "fn f(a: float[n, n]) { return a } config");
    assert_eq!(errors(&text), ["E0206@1"]);
}

#[test]
fn configuration() {
    let set = |key: &str, value| vec![Override::new(key, value)];
    let text = in_main("").replace("  fn", "require n % 2 == 0 and n > 0, \"`n` must be even\"\n  fn");
    assert_eq!(errors_with(&text, set("n", ConfigValue::Int(8))), [""; 0]);
    assert_eq!(errors_with(&text, set("n", ConfigValue::Int(3))), ["E0305@2"]);
    assert_eq!(errors_with(&text, set("m", ConfigValue::Int(3))), ["E0306@0"]);
    assert_eq!(errors_with(&text, set("n", ConfigValue::Real(4.0))), ["E0306@1"]);
    assert_eq!(errors(&in_main("").replace("k = 6", "k = 6; q = 3")), ["E0302@1"]);
    assert_eq!(errors(&in_main("").replace("k = 6", "k = [6]")), ["E0307@1"]);
}

#[test]
fn defaults_follow_earlier_keys() {
    let text = in_main("").replace("k = 6", "k = n + 2");
    let config = |overrides| run(&text, overrides).1.unwrap().config;
    assert_eq!(config(Vec::new())["k"], ConfigValue::Int(6));
    assert_eq!(config(vec![Override::new("n", ConfigValue::Int(10))])["k"], ConfigValue::Int(12));
}

/// Ids of texts are hashes: in their own order some of these would change places.
#[test]
fn mistakes_stand_in_the_order_of_the_text_and_of_the_overrides() {
    let file = |key: &str| FileId::of("--set", key);
    let set = |key: &String| Override { span: Some(Span::new(file(key), 0, 1)), ..Override::new(key, 1.into()) };
    let keys: Vec<String> = (0..8).map(|number| format!("unknown{number}")).collect();
    let (sources, result) = run(&in_main("x = missing(x)"), keys.iter().map(set).collect());
    let places = result.unwrap_err().into_iter().map(|error| error.primary().expect("a place").span.file);
    let model = sources.files().map(|file| file.id());
    assert_eq!(places.collect::<Vec<_>>(), model.chain(keys.iter().map(|key| file(key))).collect::<Vec<_>>());
}

#[test]
fn deep_and_long_texts_are_refused() {
    main_reports(&format!("x = {}x{}", "(".repeat(5000), ")".repeat(5000)), &["E0310@4"]);
    main_reports(&format!("x = x{}", " + x".repeat(5000)), &["E0310@4"]);
    main_reports(&format!("x = {}x", "-".repeat(5000)), &["E0101@4"]);
    main_reports(&format!("x = {}x{}", "abs(".repeat(25), ")".repeat(25)), &[]);
    main_reports("for i in 0..1000000000 { }", &["E0310@4"]);
    main_reports("for i in 0..1000000000 { x = x + 0 }", &["E0310@4"]);
    let chain: String = (0..500).map(|i| format!("fn f{i}(x) {{ return f{}(x) + 1 }}\n", i + 1)).collect();
    let text = in_main("x = f0(x)").replace("config", &format!("{chain} fn f500(x) {{ return x }} config"));
    let found = errors(&text);
    assert!(found.len() == 1 && found[0].starts_with("E0310"), "{found:?}");
}

#[test]
fn unused_definitions_are_warnings() {
    let text = in_main("y = x").replace("config", "fn f(a) { return 1 } let l = 2\n config");
    let (_, result) = run(&text, Vec::new());
    let warnings = result.unwrap().warnings;
    let found: Vec<_> = warnings.iter().map(|warning| warning.message().to_owned()).collect();
    for expected in ["variable `y`", "argument `a`", "`let` `l`", "function `f`"] {
        assert!(found.iter().any(|message| message.starts_with(expected)), "{expected} in {found:?}");
    }
}

/// Every text in which some characters of a model are missing, doubled or replaced elaborates or is refused.
#[test]
fn damaged_models_never_panic() {
    let text = halite_models::model("gpt2").unwrap().replace("= 12", "= 2").replace("= 50257", "= 8");
    let text = text.replace("= 768", "= 8").replace("= 1024", "= 4");
    for start in (0..text.len()).step_by(51) {
        for (length, replacement) in [(1, ""), (5, ""), (1, "(("), (2, " x "), (1, "-"), (3, "0")] {
            let (Some(before), Some(after)) = (text.get(..start), text.get((start + length).min(text.len())..)) else {
                continue;
            };
            let (sources, result) = run(&format!("{before}{replacement}{after}"), Vec::new());
            for error in result.err().unwrap_or_default() {
                assert!(error.severity() == halite_support::Severity::Error, "{error:?}");
                let label = error.primary().unwrap();
                assert!(sources.position(label.span).is_some(), "{error:?}");
            }
        }
    }
}
