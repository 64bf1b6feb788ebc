//! The values of expressions and statements of a model, by the reference interpreter; expected values are those of NumPy.

use halite_ir::{Interpreter, ParamRole, Registry};
use halite_lang::{Options, elaborate};
use halite_support::SourceMap;
use halite_tensor::{DType, HostTensor, Init};

/// The shape and the elements of `y` after these statements of `main`; `x` is `[[0, 1, 2], [3, 4, 5]]`, `t` the same as `s32`.
fn y(body: &str) -> Result<(Vec<usize>, Vec<f64>), String> {
    let model = format!(
        "model m {{ config {{ n = 2; k = 3; word = \"gelu\" }}
          fn twice(f, x) {{ return f(f(x)) }}
          fn add_one(x) {{ return x + 1 }}
          fn scaled(x, by = 10) {{ return x * by }}
          fn used() {{ return n + k + if word == \"gelu\" {{ 0 }} else {{ 1 }} }}
          fn pair(x) {{ return x, x * 2 }}
          fn main(t: s32[2, 3]) {{
            x = convert(t, float)
            {body}
            output y
            return sum(x) + used(), sum(full([1], 1.0))
          }} }}"
    );
    let file = SourceMap::new().add("model.hal", model.as_str());
    let registry = Registry::builtin();
    let built = elaborate(file, &model, &Options::default(), &registry);
    let module =
        built.map_err(|errors| errors.iter().map(|error| error.message()).collect::<Vec<_>>().join("; "))?.module;
    let input = HostTensor::from_ints(DType::S32, [2, 3], 0..6);
    let entry = module.entry().expect("it has a `main`");
    let mut results = Interpreter::of(&module, &registry).run(entry, vec![input]).map_err(|error| error.to_string())?;
    let y = results.swap_remove(2);
    let elements = if y.dtype().is_float() { y.f64s() } else { y.ints().into_iter().map(|x| x as f64).collect() };
    Ok((y.shape().to_vec(), elements))
}

#[track_caller]
fn gives(body: &str, shape: &[usize], elements: &[f64]) {
    let (found_shape, found) = y(body).unwrap_or_else(|error| panic!("{body}: {error}"));
    assert_eq!(found_shape, shape, "{body}");
    let near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-6 || x == y || (x.is_nan() && y.is_nan());
    assert!(found.len() == elements.len() && found.iter().zip(elements).all(near), "{body}: {found:?}");
}

#[track_caller]
fn refuses(body: &str, message: &str) {
    let error = y(body).expect_err(body);
    assert!(error.contains(message), "{body}: {error}");
}

#[test]
fn sizes_of_one_are_repeated() {
    gives("y = x - mean(x, -1, keep = true)", &[2, 3], &[-1.0, 0.0, 1.0, -1.0, 0.0, 1.0]);
    gives("y = x[:, 0:1] + x[0:1]", &[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    gives("y = reshape(x[0], [3, 1]) * x[1]", &[3, 3], &[0.0, 0.0, 0.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
    gives("y = where(x[:, 0:1] > 1, x, -1.0)", &[2, 3], &[-1.0, -1.0, -1.0, 3.0, 4.0, 5.0]);
    gives("y = where(x > 2, 1.0, 0.0)", &[2, 3], &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    gives("y = maximum(x[:, 2:], x[:1])", &[2, 3], &[2.0, 2.0, 2.0, 5.0, 5.0, 5.0]);
    refuses("y = x + x[:, :2]", "`f32[2,3]` and `f32[2,2]` do not fit together: dimension -1 is 3 and 2");
    refuses("y = x[:, 0] + x", "`f32[2]` and `f32[2,3]` do not fit together: dimension -1 is 2 and 3");
}

#[test]
fn products_repeat_leading_dimensions() {
    gives(
        "y = x @ stack([transpose(x), transpose(x) * 2])",
        &[2, 2, 2],
        &[5.0, 14.0, 14.0, 50.0, 10.0, 28.0, 28.0, 100.0],
    );
    gives(
        "y = stack([x, -x]) @ reshape(x, [1, 3, 2])",
        &[2, 2, 2],
        &[10.0, 13.0, 28.0, 40.0, -10.0, -13.0, -28.0, -40.0],
    );
    refuses("y = stack([x, x]) @ stack([x, x, x])", "do not fit together: dimension -3 is 2 and 3");
    refuses("y = x[0] @ stack([x, x])", "`@` does not take `f32[3]` and `f32[2,2,3]`");
}

#[test]
fn powers() {
    gives("y = x ** 2", &[2, 3], &[0.0, 1.0, 4.0, 9.0, 16.0, 25.0]);
    gives("y = -x[0] ** 3", &[3], &[0.0, -1.0, -8.0]);
    gives("y = (x[1] + 1) ** 0.5", &[3], &[2.0, 5f64.sqrt(), 6f64.sqrt()]);
    gives("y = (x[0] + 1) ** -1", &[3], &[1.0, 0.5, 1.0 / 3.0]);
    gives("y = 2 ** x[0]", &[3], &[1.0, 2.0, 4.0]);
    gives("y = x[0] ** x[1]", &[3], &[0.0, 1.0, 32.0]);
    gives("y = full([2 ** 3 ** 0 + 2], 2.0 ** -1)", &[4], &[0.5; 4]);
}

#[test]
fn ranges_with_steps() {
    gives("y = x[0, ::2]", &[2], &[0.0, 2.0]);
    gives("y = x[::-1]", &[2, 3], &[3.0, 4.0, 5.0, 0.0, 1.0, 2.0]);
    gives("y = x[1, ::-2]", &[2], &[5.0, 3.0]);
    gives("y = x[1, 1::-1]", &[2], &[4.0, 3.0]);
    gives("y = x[1, :0:-1]", &[2], &[5.0, 4.0]);
    gives("y = x[1, -1:-3:-1]", &[2], &[5.0, 4.0]);
    gives("y = x[1, 0:3:100]", &[1], &[3.0]);
    refuses("y = x[1, 0:2:-1]", "the range 0:2:-1 does not lie within size 3");
    refuses("y = x[::0]", "a range has steps of 0");
}

#[test]
fn tensors_as_indices() {
    gives("y = x[1][t]", &[2, 3], &[3.0, 4.0, 5.0, 5.0, 5.0, 5.0]);
    gives("y = x[:, t[0, ::-1]]", &[2, 3], &[2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
    gives("y = x[1, t[0, 1:]]", &[2], &[4.0, 5.0]);
    gives("y = take(x, t[0], dim = -1)", &[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    gives("y = gather(x, t[:, :1])", &[2, 1], &[0.0, 5.0]);
    refuses("y = x[x]", "`f32[2,3]` is no tensor of positions");
    refuses("y = x[t, t]", "two subscripts are tensors");
}

#[test]
fn lists_grow() {
    gives(
        "parts = []\n for i in 0..3 { parts = parts + [x[:, i] * i] }\n y = stack(parts)",
        &[3, 2],
        &[0.0, 0.0, 1.0, 4.0, 4.0, 10.0],
    );
    gives("s = x[0]\n for part in [x[1], x[0]] { s = s + part }\n y = s", &[3], &[3.0, 6.0, 9.0]);
    gives("sizes = [4, 5] + [6]\n y = full([len(sizes)], 0.0 + sizes[-1])", &[3], &[6.0; 3]);
    gives("sizes = [4, 5, 6][::-1]\n y = full([1], 0.0 + sizes[0])", &[1], &[6.0]);
    refuses("list = [1]\n for i in 0..20 { list = list + list }\n y = x", "a list of more than 4096 items");
    let churn =
        "list = [1]\n for i in 0..12 { list = list + list }\n for i in 0..5000 { list = list[1:] + [i] }\n y = x";
    refuses(churn, "the model makes lists of more than 2000000 items in all");
    refuses("for i in x { y = i }\n y = x", "expected a list, or a range as `0..4`");
}

#[test]
fn functions_are_values() {
    gives("y = twice(add_one, x[0])", &[3], &[2.0, 3.0, 4.0]);
    gives("y = twice(abs, -x[0])", &[3], &[0.0, 1.0, 2.0]);
    gives("f = if n == 2 { scaled } else { add_one }\n y = f(x[0]) + f(x[0], by = 1)", &[3], &[0.0, 11.0, 22.0]);
    gives("y = x[0]\n for f in [add_one, scaled, relu] { y = f(y) }", &[3], &[10.0, 20.0, 30.0]);
    refuses("y = twice(x, x)", "expected a function, found a tensor `f32[2,3]`");
    refuses("y = twice(pair, x)", "2 results where one is needed");
    refuses("f = pair\n y = f(x, x, x)", "`pair` takes 1 arguments, found 3");
    refuses("y = twice(twice, x)", "argument `x` of `twice` is missing");
}

#[test]
fn words_and_matches() {
    gives("y = match word { \"relu\" => relu(x[0]), \"gelu\", \"other\" => x[1] }", &[3], &[3.0, 4.0, 5.0]);
    gives("y = match n { 1 => x[0] 2 => x[1] else => x }", &[3], &[3.0, 4.0, 5.0]);
    gives("y = match k > 2 { true => x[1], false => x[0] }", &[3], &[3.0, 4.0, 5.0]);
    gives("match = x[0]\n y = match * 2", &[3], &[0.0, 2.0, 4.0]);
    refuses("y = match word { \"relu\" => x, \"gelo\" => x }", "no arm of this `match` takes the text \"gelu\"");
    refuses("y = match word { 1 => x else => x }", "expected what can be the text");
}

#[test]
fn statements_under_conditions() {
    gives("if n == 2 { y = x[0] } else { y = x[1] }", &[3], &[0.0, 1.0, 2.0]);
    gives("y = x[0]\n if n == 3 { y = y + 1 } else if n == 2 { z = y * 2; y = z + 3 }", &[3], &[3.0, 5.0, 7.0]);
    gives("y = x[0]\n for i in 0..3 { if i % 2 == 0 { y = y + 1 } }", &[3], &[2.0, 3.0, 4.0]);
    gives("if n == 2 { k = 1; z = k } else { k = 2; z = k }\n y = full([k], 1.0) * z", &[1], &[1.0]);
    gives("for i in 0..1 { k = 7; z = k }\n y = full([k], 1.0)", &[3], &[1.0; 3]);
    refuses("if n == 2 { z = x }\n y = z", "no `z` is defined here");
    refuses("if x { y = x } else { y = x }", "expected `true` or `false`");
    refuses("y = x\n if n == q { z = 1 }", "no `q` is defined here");
}

#[test]
fn local_names_hide_those_outside() {
    gives("k = 1\n y = full([k], 2.0)", &[1], &[2.0]);
}

#[test]
fn numbers_become_whole() {
    gives("y = full([floor(3.7)], 1.0)", &[3], &[1.0; 3]);
    gives("y = full([round(0.25 * 8), ceil(0.2)], 1.0)", &[2, 1], &[1.0; 2]);
    gives("y = floor(x[0] / 2)", &[3], &[0.0, 0.0, 1.0]);
    refuses("y = full([floor(1e300)], 1.0)", "1e300 is too large to be made whole");
}

#[test]
fn parameters_start_as_they_say() {
    let start = |init: &str| {
        let model = format!(
            "model m {{ fn main(x: f32[4, 6]) {{ param w: [6] = {init}
               return sum(x * w), sum(full([1], 1.0)) }} }}"
        );
        let file = SourceMap::new().add("model.hal", model.as_str());
        let built = elaborate(file, &model, &Options::default(), &Registry::builtin());
        let module = built.map_err(|errors| errors[0].message().to_owned())?.module;
        let params = &module.entry().expect("it has a `main`").params;
        let found = params.iter().find_map(|param| match &param.role {
            ParamRole::Weight(info) => Some(info.init),
            _ => None,
        });
        found.ok_or_else(|| "it has no weight".to_owned())
    };
    for (text, init) in [
        ("zeros", Init::Zeros),
        ("constant(2 / 4.0)", Init::Constant(0.5)),
        ("normal(0.02)", Init::Normal { std: 0.02 }),
        ("truncated_normal(0.02)", Init::TruncatedNormal { std: 0.02 }),
        ("uniform(-1, 1)", Init::Uniform { low: -1.0, high: 1.0 }),
        ("he_normal(dim(x, -1) * 3 - 10)", Init::Normal { std: 0.5 }),
        ("he_uniform(6)", Init::Uniform { low: -1.0, high: 1.0 }),
        ("lecun_normal(4)", Init::Normal { std: 0.5 }),
        ("glorot_normal(3, 5)", Init::Normal { std: 0.5 }),
        ("glorot_uniform(2, 4)", Init::Uniform { low: -1.0, high: 1.0 }),
    ] {
        assert_eq!(start(text), Ok(init), "{text}");
    }
    for (text, message) in [
        ("normal", "`normal` is not an initial value written so"),
        ("weight", "`weight` is not an initial value written so"),
        ("uniform(1, 0)", "expected two finite numbers, the lower first, found `1.0 and 0.0`"),
        ("he_normal(0)", "expected a standard deviation, found `inf`"),
        ("constant(x)", "expected a number, found a tensor `f32[4,6]`"),
    ] {
        assert_eq!(start(text), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn further_ops() {
    gives("y = cumsum(x)", &[2, 3], &[0.0, 1.0, 3.0, 3.0, 7.0, 12.0]);
    gives("y = cumsum(t, dim = 0, reverse = true)", &[2, 3], &[3.0, 5.0, 7.0, 3.0, 4.0, 5.0]);
    gives("y = sort(-x)", &[2, 3], &[-2.0, -1.0, 0.0, -5.0, -4.0, -3.0]);
    gives("y = argsort(x, descending = true)", &[2, 3], &[2.0, 1.0, 0.0, 2.0, 1.0, 0.0]);
    gives("y = one_hot(t[0], 4)", &[3, 4], &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    gives("y = einsum(\"ij,kj->ik\", x, x)", &[2, 2], &[5.0, 14.0, 14.0, 50.0]);
    gives("y = einsum(\"ij->j\", x)", &[3], &[3.0, 5.0, 7.0]);
    gives("y = einsum(\"ij,k->ki\", x, x[0, 1:])", &[2, 2], &[3.0, 12.0, 6.0, 24.0]);
    gives("y = argmax(x) + argmin(t)", &[2], &[2.0, 2.0]);
    gives("y = clamp(x, 1, 4)", &[2, 3], &[1.0, 1.0, 2.0, 3.0, 4.0, 4.0]);
    gives("y = pad(x[0], [[1, 2]], 9)", &[6], &[9.0, 0.0, 1.0, 2.0, 9.0, 9.0]);
    gives("y = reverse(x, 1)", &[2, 3], &[2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
    gives("y = softplus(x[0]) - stop_gradient(log1p(exp(x[0])))", &[3], &[0.0; 3]);
    gives("y = sign(x - 1)[0] + erf(x * 0)[0]", &[3], &[-1.0, 0.0, 1.0]);
    gives("y = stack([x[0], x[1]], dim = -1)", &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    refuses("y = einsum(\"ij,jk\", x, x)", "it has no `->`");
    refuses("y = einsum(\"ij,jk->ik\", x, x)", "`j` is 3 and 2");
    refuses("y = clip(x, 0, 1)", "no function or op is named `clip`");
}

/// `%` and `floor_divide` of tensors are those of numbers, which are NumPy's `mod` and `floor_divide`.
#[test]
fn division_of_whole_numbers_rounds_down() {
    gives("y = (t - 3) % 4", &[2, 3], &[1.0, 2.0, 3.0, 0.0, 1.0, 2.0]);
    gives("y = (t - 3) % -4", &[2, 3], &[-3.0, -2.0, -1.0, 0.0, -3.0, -2.0]);
    gives("y = (x - 3) % 2.5", &[2, 3], &[2.0, 0.5, 1.5, 0.0, 1.0, 2.0]);
    gives("y = (x - 3) % (0.0 - 2.5)", &[2, 3], &[-0.5, -2.0, -1.0, 0.0, -1.5, -0.5]);
    gives("y = floor_divide(t - 3, 2)", &[2, 3], &[-2.0, -1.0, -1.0, 0.0, 0.0, 1.0]);
    gives("y = floor_divide(t - 3, -2)", &[2, 3], &[1.0, 1.0, 0.0, 0.0, -1.0, -1.0]);
    gives("y = floor_divide(x - 3, 2.0)", &[2, 3], &[-2.0, -1.0, -1.0, 0.0, 0.0, 1.0]);
    for (x, y) in [(-3, 4), (3, -4), (-3, -4), (7, 3), (-7, 3), (7, -3), (-7, -3), (-8, 4), (8, -4)] {
        let both = |expression: &str| {
            let of = |x: &str| expression.replace('X', x).replace('Y', &format!("({y})"));
            let (number, tensor) = (of(&format!("({x})")), of(&format!("full([1], {x}, type = s32)")));
            gives(&format!("y = stack([full([1], {number}, type = s32), {tensor}]) - {number}"), &[2, 1], &[0.0, 0.0]);
        };
        both("(X % Y)");
        both("floor_divide(X, Y)");
    }
    refuses("y = t / 2", "a division of whole numbers may leave something, found `s32[2,3]` by `s32[2,3]`");
    refuses("y = mean(t)", "a division of whole numbers may leave something");
}

/// Positions that depend on no input and no weight are known: one below 0 would be the first, not one from the end.
#[test]
fn positions_of_tensors_count_from_the_start() {
    gives("y = x[:, (iota([3]) - 1) % 3]", &[2, 3], &[2.0, 0.0, 1.0, 5.0, 3.0, 4.0]);
    gives("y = x[:, minimum(t[0] - 1, 1) + 1]", &[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    refuses("y = x[:, iota([3]) - 1]", "a tensor of positions holds -1");
    refuses("y = take(x, full([2], -2, type = s32), 1)", "a tensor of positions holds -2");
    refuses("y = gather(x, iota([2, 3]) - 4)", "a tensor of positions holds -4");
}
