//! Models built in Rust: the same modules as from texts, the same complaints.

use halite_ir::{Registry, text, verify};
use halite_lang::build::{ModelBuilder, Tensor};
use halite_lang::{Elaborated, Options, elaborate};
use halite_recipe::ConfigValue;
use halite_support::{Diagnostics, SourceMap};
use halite_tensor::{DType, Init};

fn from_text(model: &str) -> Result<Elaborated, Diagnostics> {
    let file = SourceMap::new().add("model.hal", model);
    elaborate(file, model, &Options::default(), &Registry::builtin())
}

/// The model of a body on `x`, `f32[4,6]`, and `t`, `s32[4,6]`.
fn built(
    body: impl for<'b> Fn(&'b ModelBuilder, Tensor<'b>, Tensor<'b>) -> Tensor<'b>,
) -> Result<Elaborated, Diagnostics> {
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let x = m.batch("x", DType::F32, [4, 6]);
    let t = m.batch("t", DType::S32, [4, 6]);
    let y = body(&m, x, t);
    m.finish(y.convert(m.float()).sum_all(), m.full([1], 1.0).sum_all())
}

/// The text of the same model.
fn in_text(body: &str) -> String {
    format!(
        "model m {{ fn main(x: float[4, 6], t: s32[4, 6]) {{ y = {body} \
         return sum(convert(y, float)), sum(full([1], 1.0)) }} }}"
    )
}

macro_rules! same {
    ($($text:literal = |$m:ident, $x:ident, $t:ident| $body:expr;)*) => {
        #[test]
        fn builders_write_what_texts_write() {
            $({
                let expected = from_text(&in_text($text)).unwrap_or_else(|errors| panic!("{}: {errors:?}", $text));
                let found = built(|$m, $x, $t| { let _ = ($m, $x, $t); $body });
                let found = found.unwrap_or_else(|errors| panic!("{}: {errors:?}", $text));
                verify(&found.module, &Registry::builtin()).unwrap();
                let unnamed = |built: Elaborated| {
                    let mut module = built.module;
                    module.functions.iter_mut().flat_map(|f| &mut f.values).for_each(|value| value.hint = None);
                    text::print(&module)
                };
                assert_eq!(unnamed(found), unnamed(expected), "{}", $text);
            })*
        }
    };
}

same! {
    "x * 2 + convert(t, f32)" = |m, x, t| x * 2 + t.convert(DType::F32);
    "1 - x / 0.5" = |m, x, t| 1 - x / 0.5;
    "-x % 3.0" = |m, x, t| -x % 3.0;
    "t * 2 - 1" = |m, x, t| t * 2i64 - 1usize;
    "x @ transpose(x)" = |m, x, t| x.matmul(x.transpose([1, 0]));
    "where(x > 0 and not (t == 3), x, 0)" = |m, x, t| m.select(x.greater(0) & !t.equal(3), x, 0);
    "x[1:, 0] + x[:3, -1]" = |m, x, t| x.slice((1.., 0)) + x.slice((..3, -1));
    "x[0] * x" = |m, x, t| x.slice((0,)) * x;
    "softmax(maximum(x, 0), dim = 0)" = |m, x, t| m.call("softmax", [x.maximum(0)]).named("dim", 0).one();
    "broadcast(mean(x, -1, keep = true), [4, 6])" =
        |m, x, t| m.call("mean", [x]).named("dims", -1).named("keep", true).one().broadcast([4, 6]);
    "concat([x, exp(x)], dim = 0) * sum(x, [0])" = |m, x, t| m.concat(&[x, x.exp()], 0) * x.sum([0]);
    "reshape(x, [2, -1]) + iota([2, 12], type = float)" =
        |m, x, t| x.reshape([2, -1]) + m.call("iota", [[2, 12]]).named("type", m.float()).one();
    "power(abs(x), 2) + log1p(rsqrt(abs(x) + 1))" = |m, x, t| x.abs().power(2) + (x.abs() + 1).rsqrt().log1p();
    "convert(iota([4, 6], 0), bf16)" = |m, x, t| m.iota([4, 6], 0).convert(DType::Bf16);
    "max(x, 1) / min(x, 1)" = |m, x, t| x.max(1) / x.min(1);
    "causal_attention(reshape(x, [4, 6, 1, 1]), reshape(x, [4, 6, 1, 1]), reshape(x, [4, 6, 1, 1]), t, window = 2)" =
        |m, x, t| {
            let heads = || x.reshape([4, 6, 1, 1]);
            m.call("causal_attention", [heads(), heads(), heads(), t]).named("window", 2).one()
        };
    "causal_attention(reshape(x, [4, 6, 1, 1]), reshape(x, [4, 6, 1, 1]), reshape(x, [4, 6, 1, 1]), segments = t)" =
        |m, x, t| {
            let heads = || x.reshape([4, 6, 1, 1]);
            m.call("causal_attention", [heads(), heads(), heads()]).named("segments", t).one()
        };
    "linear(x, full([2, 6], 1.0), bias = full([2], 0.5))" =
        |m, x, t| m.call("linear", [x, m.full([2, 6], 1.0)]).named("bias", m.full([2], 0.5)).one();
    "gelu(x, tanh = true)" = |m, x, t| m.call("gelu", [x]).named("tanh", true).one();
}

#[test]
fn parts_parameters_and_outputs_are_those_of_texts() {
    let model = "model m { config { n = 6 }
        fn layer(x) { param weight: [n] = normal(0.5) param bias: [n] = zeros return x * weight + bias }
        fn main(x: float[4, n], mask: pred[4, 4] = causal) {
            for i in 0..2 { x = layer(x) as layers.{i} }
            a, b = split(x, 2)
            y = a * b
            output y
            scores = where(mask, y @ transpose(y), 0)
            return sum(scores), sum(full([1], 1.0))
        } }";
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    m.setting("n", 6);
    let mut x = m.batch("x", m.float(), [4, 6]);
    let mask = m.causal_mask("mask", [4, 4]);
    for layer in 0..2 {
        x = m.scope(format_args!("layers.{layer}"), || {
            let weight = m.param("weight", [x.dim(-1)], Init::Normal { std: 0.5 });
            x * weight + m.param("bias", [x.dim(-1)], Init::Zeros)
        });
    }
    let [a, b] = x.named("x").split(-1);
    let y = (a.named("a") * b.named("b")).named("y");
    m.output("y", y);
    let scores = m.select(mask, y.matmul(y.transpose([1, 0])), 0).named("scores");
    let built = m.finish(scores.sum_all(), m.full([1], 1.0).sum_all()).unwrap();
    let expected = from_text(model).unwrap();
    // In the text, weights come before the bias is declared; here too, each where it is first used.
    let order = |built: &Elaborated| text::print(&built.module).lines().next().map(str::to_owned);
    assert_eq!(order(&built), order(&expected));
    assert_eq!(built.config, expected.config);
    assert_eq!(built.config["n"], ConfigValue::Int(6));
    assert_eq!(built.module.num_insts(), expected.module.num_insts());
}

#[test]
fn metrics_and_further_losses_are_those_of_texts() {
    let model = "model m { fn main(x: float[4, 6]) {
            param w: [6] = ones
            y = x * w
            metric largest = 3
            metric share = sum(y), over = sum(x)
            loss square = mean(y * y), weight = 0.5
            loss size = mean(y)
            return sum(y), sum(x)
        } }";
    let expected = from_text(model).unwrap();
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let x = m.batch("x", m.float(), [4, 6]);
    let y = (x * weight(&m, "w")).named("y");
    m.metric("largest", 3, None);
    m.metric("share", y.sum_all(), Some(x.sum_all().into()));
    m.loss("square", (y * y).mean([0, 1]), 0.5);
    m.loss("size", y.mean([0, 1]), 1.0);
    let built = m.finish(y.sum_all(), x.sum_all()).unwrap();
    let results = |built: &Elaborated| -> Vec<_> {
        let entry = built.module.entry().unwrap();
        entry.results.iter().map(|result| (result.name.clone(), result.role.clone())).collect()
    };
    assert_eq!(results(&built), results(&expected));
    assert_eq!(built.module.num_insts(), expected.module.num_insts());
    verify(&built.module, &registry).unwrap();
    let printed = text::print(&expected.module);
    assert!(printed.contains("{sum}") && printed.contains("{over = \"share\"}"), "{printed}");
    let file = SourceMap::new().add("m.ir", printed.as_str());
    assert_eq!(text::print(&text::parse(&printed, file, &registry).unwrap()), printed);
}

/// Messages with the notes that say where.
fn mistakes(result: Result<Elaborated, Diagnostics>) -> Vec<String> {
    let errors = result.err().unwrap_or_default();
    errors.iter().map(|error| format!("{}: {}", error.code().id, error.message())).collect()
}

/// Each mistake, in a text and in Rust, has the same message; the text says so once for each.
macro_rules! alike {
    ($($text:literal = |$m:ident, $x:ident, $t:ident| $body:expr;)*) => {
        #[test]
        fn mistakes_are_worded_alike() {
            $({
                let expected = mistakes(from_text(&in_text($text)));
                let found = mistakes(built(|$m, $x, $t| { let _ = ($m, $x, $t); $body }));
                assert_eq!(found, expected, "{}", $text);
                assert!(!found.is_empty(), "{}", $text);
            })*
        }
    };
}

alike! {
    "x + iota([5])" = |m, x, t| x + m.iota([5], -1);
    "x + t" = |m, x, t| x + t;
    "t + 1.5" = |m, x, t| t + 1.5;
    "x @ x" = |m, x, t| x.matmul(x);
    "x[4]" = |m, x, t| x.slice((4,));
    "x[0, 3:7]" = |m, x, t| x.slice((0, 3..7));
    "x[0, 0, 0]" = |m, x, t| x.slice((0, 0, 0));
    "reshape(x, [5, -1])" = |m, x, t| x.reshape([5, -1]);
    "reshape(x, [0])" = |m, x, t| x.reshape([0]);
    "broadcast(x, [6, 4])" = |m, x, t| x.broadcast([6, 4]);
    "sum(x, 2)" = |m, x, t| x.sum(2);
    "transpose(x, [0, 0])" = |m, x, t| x.transpose([0, 0]);
    "reshape(x, 1.5)" = |m, x, t| x.reshape(1.5);
    "softmax(x, x)" = |m, x, t| m.call("softmax", [x, x]).one();
    "softmax(x, dimension = 1)" = |m, x, t| m.call("softmax", [x]).named("dimension", 1).one();
    "sofmax(x)" = |m, x, t| m.call("sofmax", [x]).one();
    "mean(x, keep = 3)" = |m, x, t| m.call("mean", [x]).named("keep", 3).one();
    "mean(x, kep = true)" = |m, x, t| m.call("mean", [x]).named("kep", true).one();
    "split(x, 4)" = |m, x, t| m.call("split", [x]).named("parts", 4).one();
    "full([1099511627776, 1024], 0.0)" = |m, x, t| m.full([1i64 << 40, 1024], 0.0);
    "-split(x, 2)" = |m, x, t| -m.call("split", [x]).named("parts", 2).one();
    "convert(x, 3)" = |m, x, t| x.convert(3);
    "softmax(3)" = |m, x, t| m.call("softmax", [3]).one();
}

#[test]
fn every_mistake_of_a_run_comes_back_with_its_place() {
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let x = m.batch("x", DType::F32, [4]);
    m.scope("layers.0", || {
        for _ in 0..3 {
            let _ = x.reshape([3]) + 1;
        }
    });
    let line = line!() + 1;
    let w = m.param("w", [4], Init::Normal { std: -1.0 });
    let v = m.param("v", [4], Init::Zeros);
    let _ = (m.param("v", [4], Init::Ones), x * f64::NAN, m.param("a b", [4], Init::Ones));
    m.scope("", || m.output("loss", x));
    m.require(false, "`hidden` must be even");
    let late = m.batch("late", DType::F32, [4]);
    let errors = m.finish((x * w * v * late).sum_all(), x).unwrap_err();
    let found: Vec<_> = errors.iter().map(|error| error.message().to_owned()).collect();
    let expected = [
        "`f32[4]` has 4 elements, `[3]` has 3",
        "expected a standard deviation, found `-1.0`",
        "parameter `v` is declared twice",
        "`NaN` is not a finite number",
        "`a b` is not a name",
        "`` is not the name of a scope",
        "the training step needs the name `loss`, which an output has",
        "`hidden` must be even",
        "batch `late` is declared after parameter `v`",
    ];
    assert_eq!(found[1..], expected[1..], "{errors:?}");
    assert_eq!(errors[0].notes().last().unwrap(), &format!("at `build.rs:{}`, in `layers.0`", line - 4));
    assert_eq!(errors[1].notes().last().unwrap(), &format!("at `build.rs:{line}`"));
}

/// The messages of clashes of names in a text and in Rust. `x` is the batch; in the text, `f` scales by a weight `w` and `g` by a
/// weight `x`.
macro_rules! clashes {
    ($($text:literal = |$m:ident, $x:ident| $body:expr, $message:literal;)*) => {
        #[test]
        fn names_stand_for_one_thing() {
            $({
                let model = format!(
                    "model m {{ fn f(a) {{ param w: [6] = ones return a * w }} fn g(a) {{ param x: [6] = ones return a * x }}
                    fn main(x: float[4, 6]) {{ {} return sum(y), sum(full([1], 1.0)) }} }}",
                    $text
                );
                assert_eq!(mistakes(from_text(&model)), [$message], "{}", $text);
                let registry = Registry::builtin();
                let $m = &ModelBuilder::new("m", &registry);
                let $x = $m.batch("x", DType::F32, [4, 6]);
                let y: Tensor<'_> = $body;
                let errors = $m.finish(y.sum_all(), $m.full([1], 1.0).sum_all()).unwrap_err();
                assert!(errors[0].help_text().is_some());
                assert_eq!(mistakes(Err(errors)), [$message], "{}", $text);
            })*
        }
    };
}

fn weight<'b>(m: &'b ModelBuilder, name: &str) -> Tensor<'b> {
    m.param(name, [6], Init::Ones)
}

clashes! {
    "y = g(x)" = |m, x| x * weight(m, "x"), "E0208: parameter `x` has the name of a batch";
    "param loss: [6] = ones y = x * loss" = |m, x| x * weight(m, "loss"),
        "E0208: the training step needs the name `loss`, which a parameter has";
    "param step: [6] = ones y = x * step" = |m, x| x * weight(m, "step"),
        "E0208: the training step needs the name `step`, which a parameter has";
    "y = x * 2 count = y output count" = |m, x| { m.output("count", x); x },
        "E0208: the training step needs the name `count`, which an output has";
    "param w: [6] = ones y = x * w output w" = |m, x| { let w = weight(m, "w"); m.output("w", w); x * w },
        "E0208: output `w` has the name of a parameter";
    "w = x output w y = f(x)" = |m, x| { m.output("w", x); x * weight(m, "w") },
        "E0208: parameter `w` has the name of an output";
    "y = x * 2 output x" = |m, x| { m.output("x", x); x * 2 }, "E0208: output `x` has the name of a batch";
    "y = x * 2 output y, y" = |m, x| { m.output("y", x); m.output("y", x); x },
        "E0208: there is a result named `y` already";
    "y = x * 2 metric step = sum(y)" = |m, x| { m.metric("step", x.sum_all(), None); x },
        "E0208: the training step needs the name `step`, which a metric has";
    "y = x * 2 metric tokens = sum(y)" = |m, x| { m.metric("tokens", x.sum_all(), None); x },
        "E0208: the training step needs the name `tokens`, which a metric has";
    "y = x * 2 metric held_out_a = sum(y)" = |m, x| { m.metric("held_out_a", x.sum_all(), None); x },
        "E0208: the training step needs the name `held_out_a`, which a metric has";
    "y = x * 2 output y loss y = sum(y)" = |m, x| { m.output("y", x); m.loss("y", x.sum_all(), 1.0); x },
        "E0208: there is a result named `y` already";
    "y = x * 2 metric a = y" = |m, x| { m.metric("a", x, None); x },
        "E0307: what is reported must be a scalar of numbers, found a tensor `f32[4,6]`";
    "y = x * 2 metric a = sum(y), over = x > 1" = |m, x| { m.metric("a", x.sum_all(), Some(x.greater(1).into())); x },
        "E0307: what is reported must be a scalar of numbers, found a tensor `pred[4,6]`";
    "y = f(f(x))" = |m, x| x * weight(m, "w") * weight(m, "w"), "E0208: parameter `w` is declared twice";
    "y = f(f(x) as m)" = |m, x| m.scope("m", || x * weight(m, "w")) * weight(m, "w"),
        "E0208: the optimizer's state for `w` has the name of parameter `m.w`";
    "y = f(f(x)) as v" = |m, x| { let y = x * weight(m, "w"); m.scope("v", || y * weight(m, "w")) },
        "E0208: the optimizer's state for `w` has the name of parameter `v.w`";
}

#[test]
fn a_taken_name_says_where_it_was_first_taken() {
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let x = m.batch("x", DType::F32, [6]);
    let line = line!() - 1;
    let errors = m.finish((x * m.param("x", [6], Init::Ones)).sum_all(), x.sum_all()).unwrap_err();
    let places = [format!("first at `build.rs:{line}`"), format!("at `build.rs:{}`", line + 2)];
    assert_eq!(errors[0].notes(), places);
}

#[test]
fn names_and_numbers_are_those_that_texts_can_say() {
    let registry = Registry::builtin();
    let found = |name: &str, declare: &dyn for<'b> Fn(&'b ModelBuilder)| {
        let m = ModelBuilder::new(name, &registry);
        let x = m.batch("x", DType::F32, [6]);
        declare(&m);
        mistakes(m.finish(x.sum_all(), x.sum_all()))
    };
    assert_eq!(found("fortune_2", &|_| ()), [""; 0]);
    for name in ["", "a\nb", "a b", "2a", "for", "true"] {
        let expected = format!("E0101: `{name}` is not a name");
        assert_eq!(found(name, &|_| ()), [&*expected]);
        assert_eq!(found("m", &|m| _ = m.batch(name, DType::F32, [6])), [&*expected]);
        assert_eq!(found("m", &|m| m.setting(name, 1)), [&*expected]);
    }
    for value in [f64::NAN, f64::INFINITY] {
        assert_eq!(found("m", &|m| m.setting("n", value)), [format!("E0308: `{value}` is not a finite number")]);
    }
    let m = ModelBuilder::new("for", &registry);
    let errors = m.finish(m.scalar(1.0), m.scalar(1.0)).unwrap_err();
    assert_eq!(errors[0].help_text(), Some("choose another name: `for` is a word of the language"));
    assert_eq!(errors[0].notes(), [format!("at `build.rs:{}`", line!() - 3)]);
}

#[test]
fn the_contract_of_main_holds() {
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let loss = m.full([2], 1.0);
    let found = mistakes(m.finish(loss, loss));
    let no_scalar = |what| format!("E0309: the {what} that `main` returns must be a scalar, found `f32[2]`");
    assert_eq!(found, ["E0309: `main` takes no batch".to_owned(), no_scalar("loss sum"), no_scalar("count")]);
    let m = ModelBuilder::new("m", &registry);
    let (x, _spare, spare) =
        (m.batch("x", DType::F32, [4]), m.batch("_spare", DType::F32, [4]), m.batch("spare", DType::F32, [4]));
    let weight = m.param("weight", [4], Init::Ones);
    let found = mistakes(m.finish(x * weight, x.sum_all()));
    assert_eq!(found, ["E0309: the loss sum that `main` returns must be a scalar, found `f32[4]`"]);
    let found = mistakes(m.finish(x.sum_all(), x.sum_all()));
    assert_eq!(found, ["E0302: the loss does not depend on parameter `weight`"]);
    let built = m.finish((x * weight).sum_all(), x.sum_all()).unwrap();
    let warnings: Vec<_> = built.warnings.iter().map(|warning| warning.message()).collect();
    assert_eq!(warnings, ["argument `spare` is never used"]);
    // A builder goes on after it has finished a model.
    m.finish((x * weight * spare).sum_all(), x.sum_all()).unwrap();
    let other = ModelBuilder::new("other", &registry);
    let y = other.batch("y", DType::F32, [4]);
    assert_eq!(mistakes(other.finish((y + x).sum_all(), y.sum_all())), ["E0307: this tensor is one of another model"]);
}

#[test]
fn loops_that_never_end_are_stopped() {
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let x = m.batch("x", DType::F32, [4]);
    let mut y = x;
    for _ in 0..200_010 {
        y = -y;
    }
    let found = mistakes(m.finish(y.sum_all(), y.sum_all()));
    assert_eq!(found, ["E0310: the model runs more than 200000 statements once its loops are unrolled"]);
}
