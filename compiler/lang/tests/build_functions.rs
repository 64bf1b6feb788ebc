//! Functions of models built in Rust: what calls share, what they bind, what is refused.

use halite_ir::{Interpreter, Module, Op, ParamRole, Registry, text, verify};
use halite_lang::build::{Init, ModelBuilder, Tensor};
use halite_lang::{Elaborated, Options, elaborate};
use halite_support::{Diagnostics, SourceMap};
use halite_tensor::{DType, HostTensor};

/// The module of a model of `x`, `f32[4,6]`, held to the verifier.
fn built(body: impl for<'b> Fn(&'b ModelBuilder, Tensor<'b>) -> Tensor<'b>) -> Result<Module, Diagnostics> {
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let y = body(&m, m.batch("x", m.float(), [4, 6]));
    let module = m.finish(y.sum_all(), m.scalar(4.0))?.module;
    verify(&module, &registry).unwrap_or_else(|errors| panic!("{errors:?}"));
    Ok(module)
}

fn expect(result: Result<Module, Diagnostics>) -> Module {
    result.unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Code, message and help of each mistake.
fn mistakes(result: Result<Module, Diagnostics>) -> Vec<(String, String)> {
    let errors = result.err().unwrap_or_default();
    let words = |error: &halite_support::Diagnostic| {
        (format!("{}: {}", error.code().id, error.message()), error.help_text().unwrap_or_default().to_owned())
    };
    errors.iter().map(words).collect()
}

fn functions(module: &Module) -> Vec<&str> {
    module.functions.iter().map(|function| &*function.name).collect()
}

fn weights(module: &Module) -> Vec<&str> {
    let params = &module.entry().expect("an entry").params;
    params.iter().filter(|param| param.role != ParamRole::Batch).map(|param| &*param.name).collect()
}

/// For each call of the entry, what it is given.
fn calls(module: &Module) -> Vec<Vec<String>> {
    let main = module.entry().expect("an entry");
    let name = |value| main.params.iter().find(|param| param.value == value).map_or("_".into(), |p| p.name.to_string());
    let calls = main.insts.iter().filter(|inst| matches!(inst.op, Op::Call(_)));
    calls.map(|inst| inst.args.iter().map(|&arg| name(arg)).collect()).collect()
}

/// Enough operations for a function to stay one.
fn long(x: Tensor<'_>) -> Tensor<'_> {
    (0..16).fold(x, |x, _| x.tanh())
}

fn block<'b>(m: &'b ModelBuilder, x: Tensor<'b>) -> Tensor<'b> {
    let normed = m.scope("norm", || m.call("rms_norm", [x, m.param("weight", [6], Init::Ones)]).one());
    let mlp = m.scope("mlp", || normed.matmul(m.param("up", [6, 6], Init::Normal { std: 0.02 })));
    x + long(mlp)
}

/// Layers of which each is a call.
fn layers<'b>(m: &'b ModelBuilder, mut x: Tensor<'b>, count: usize) -> Tensor<'b> {
    for layer in 0..count {
        [x] = m.scope(format_args!("layers.{layer}"), || m.function("block", [x], |[x]| [block(m, x)]));
    }
    x
}

#[test]
fn calls_share_a_function_and_bind_its_weights() {
    let module = expect(built(|m, x| layers(m, x, 3)));
    assert_eq!(functions(&module), ["block", "main"]);
    let names = [0, 1, 2].map(|layer| [format!("layers.{layer}.norm.weight"), format!("layers.{layer}.mlp.up")]);
    assert_eq!(weights(&module), names.concat());
    let given: Vec<_> = names.iter().map(|names| names.to_vec()).collect();
    assert_eq!(calls(&module).into_iter().map(|call| call[1..].to_vec()).collect::<Vec<_>>(), given);
    assert_eq!(calls(&module)[0][0], "x");
    let block = &module.functions[0];
    let params: Vec<_> = block.params.iter().map(|param| &*param.name).collect();
    assert_eq!(params, ["x", "norm.weight", "mlp.up"]);
    let scopes: Vec<_> = block.insts.iter().map(|inst| module.locs.path(inst.loc)).collect();
    assert_eq!((&*scopes[0], &*scopes[1], &*scopes[2]), ("norm", "mlp", ""));
    let call = module.functions[1].insts.iter().rfind(|inst| matches!(inst.op, Op::Call(_))).expect("a call");
    assert_eq!(module.locs.path(call.loc), "layers.2");
}

#[test]
fn functions_are_those_of_texts() {
    let model = format!(
        "model m {{
        fn scaled(x) {{ param weight: [dim(x, -1)] = ones return x * weight }}
        fn deep(x) {{ {} return scaled(x) as scale }}
        fn block(x, y) {{ x = deep(x) as a  y = deep(y) as b  return x + 1, y * 2 }}
        fn once(x) {{ {} return x }}
        fn main(x: float[4, 6]) {{
            y = x[:, :3]
            for i in 0..2 {{ x, y = block(x, y) as layers.{{i}} }}
            return sum(once(x)) + sum(y), full([], 4.0)
        }} }}",
        "x = tanh(x) ".repeat(16),
        "x = exp(x) ".repeat(16),
    );
    fn scaled<'b>(m: &'b ModelBuilder, x: Tensor<'b>) -> Tensor<'b> {
        let body = |[x]: [Tensor<'b>; 1]| [x * m.param("weight", [x.dim(-1)], Init::Ones)];
        let [y] = m.scope("scale", || m.function("scaled", [x], body));
        y
    }
    let deep = |m, name: &str, x| -> Tensor<'_> {
        let [y] = ModelBuilder::scope(m, name, || m.function("deep", [x], |[x]| [scaled(m, long(x))]));
        y
    };
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let mut x = m.batch("x", m.float(), [4, 6]);
    let mut y = x.slice((.., ..3)).named("y");
    for layer in 0..2 {
        [x, y] = m.scope(format_args!("layers.{layer}"), || {
            m.function("block", [x, y], |[x, y]| {
                let (x, y) = (deep(&m, "a", x), deep(&m, "b", y));
                [x + 1, y * 2]
            })
        });
    }
    let [x] = m.function("once", [x], |[x]| [(0..16).fold(x, |x, _| x.exp())]);
    let found = m.finish(x.sum_all() + y.sum_all(), m.scalar(4.0)).unwrap_or_else(|errors| panic!("{errors:?}"));
    let file = SourceMap::new().add("model.hal", &*model);
    let expected =
        elaborate(file, &model, &Options::default(), &registry).unwrap_or_else(|errors| panic!("{errors:?}"));
    verify(&found.module, &registry).unwrap();
    let unnamed = |built: Elaborated| {
        let mut module = built.module;
        module.functions.iter_mut().flat_map(|f| &mut f.values).for_each(|value| value.hint = None);
        text::print(&module)
    };
    assert_eq!(functions(&found.module), ["block", "main"]);
    assert_eq!(unnamed(found), unnamed(expected));
}

#[test]
fn bodies_that_differ_are_functions_of_their_own() {
    type Body = for<'b> fn(&'b ModelBuilder, Tensor<'b>, usize) -> Tensor<'b>;
    let differ: [Body; 7] = [
        |_, x, at| long(x) * (at as f64),
        |_, x, at| if at == 0 { long(x).exp() } else { long(x).tanh() },
        |_, x, at| if at == 0 { long(x) } else { x + long(x) },
        |m, x, at| m.scope(format_args!("s{at}"), || long(x)),
        |m, x, at| long(x) * m.param(if at == 0 { "v" } else { "w" }, [6], Init::Ones),
        |m, x, at| long(x) + m.param("w", if at == 0 { vec![6] } else { vec![4, 6] }, Init::Ones),
        |m, x, at| m.call("softmax", [long(x)]).named("dim", at).one(),
    ];
    let twice = |body: Body| {
        expect(built(|m, mut x| {
            for call in 0..4 {
                [x] = m.scope(format_args!("c{call}"), || m.function("f", [x], |[x]| [body(m, x, call % 2)]));
            }
            x
        }))
    };
    for body in differ {
        assert_eq!(functions(&twice(body)), ["f", "f.1", "main"]);
    }
    // Not in what the caller says of a weight, nor in what values are called.
    let alike: [Body; 2] = [
        |m, x, at| long(x) * m.param("w", [6], if at == 0 { Init::Ones } else { Init::Zeros }),
        |_, x, at| long(x).named(format!("y{at}")),
    ];
    for body in alike {
        assert_eq!(functions(&twice(body)), ["f", "main"]);
    }
}

#[test]
fn what_a_body_reads_of_its_surroundings_is_an_argument() {
    let module = expect(built(|m, x| {
        let table = m.param("table", [6, 6], Init::Normal { std: 0.02 });
        let mask = x.greater(0);
        let mut y = x;
        for (layer, bias) in [x.exp(), x.abs()].into_iter().enumerate() {
            [y] = m.scope(format_args!("layers.{layer}"), || {
                m.function("outer", [y], |[y]| {
                    let own = y * m.param("w", [6], Init::Ones);
                    // The mask is read by the inner function, and by the outer one for its sake.
                    let inner = |z| m.function("inner", [z], |[z]| [m.select(mask, long(z), own) + own]);
                    let [z] = inner(y);
                    let [z] = inner(z);
                    [z.matmul(table) + bias + mask.convert(m.float())]
                })
            });
        }
        // A result may be a tensor from outside, too.
        let [same, one] = m.function("same", [], |[]| [y, m.scalar(1.0)]);
        same * one.broadcast([4, 6])
    }));
    assert_eq!(functions(&module), ["inner", "outer", "main"]);
    let calls = calls(&module);
    assert_eq!((&*calls[0][1], &*calls[1][1]), ("layers.0.w", "layers.1.w"));
    assert!(calls.iter().all(|call| call.len() == 5 && call.contains(&"table".to_owned())), "{calls:?}");
}

/// The results of the entry, weights and batch being what is not alike.
fn results(module: &Module) -> Vec<Vec<f64>> {
    let (main, registry) = (module.entry().expect("an entry"), Registry::builtin());
    let input = |(at, ty): (usize, halite_ir::TensorType)| {
        let numbers = (0..ty.shape().num_elements()).map(|index| ((index * 7 + at * 3) % 11) as f64 / 10.0 - 0.4);
        HostTensor::from_f64s(ty.dtype(), ty.shape().clone(), numbers)
    };
    let inputs = main.param_types().into_iter().enumerate().map(input).collect();
    let results = Interpreter::new(&module.functions, &registry).run(main, inputs).expect("it runs");
    results.iter().map(HostTensor::f64s).collect()
}

#[test]
fn calls_compute_what_their_bodies_do() {
    let model = |m: &'_ ModelBuilder, is_called: bool| -> Module {
        let mut x = m.batch("x", DType::F32, [4, 6]);
        let bias = m.param("bias", [6], Init::Ones);
        for layer in 0..3 {
            let body = |x, scale| [block(m, x) + bias, x.sum_all() * scale];
            let mean = x.mean_all();
            let call = || if is_called { m.function("f", [x, mean], |[x, s]| body(x, s)) } else { body(x, mean) };
            let [y, scale] = m.scope(format_args!("layers.{layer}"), call);
            x = y * scale.broadcast([4, 6]);
        }
        m.finish(x.sum_all(), m.scalar(4.0)).unwrap_or_else(|errors| panic!("{errors:?}")).module
    };
    let registry = Registry::builtin();
    let [called, plain] = [true, false].map(|is_called| model(&ModelBuilder::new("m", &registry), is_called));
    assert_eq!((called.functions.len(), plain.functions.len()), (2, 1));
    assert_eq!(weights(&called), weights(&plain));
    assert_eq!(results(&called), results(&plain));
}

#[test]
fn small_functions_and_those_called_once_are_written_in_place() {
    let module = expect(built(|m, x| {
        let [y] = m.function("once", [x], |[x]| [long(x)]);
        let [y] = m.function("small", [y], |[y]| [y.exp()]);
        let [y] = m.function("small", [y], |[y]| [y.exp()]);
        y
    }));
    assert_eq!(functions(&module), ["main"]);
}

#[test]
fn a_tensor_is_known_in_its_function_alone() {
    let help = "return it from the body of `f`";
    let message = "E0307: this tensor is one of a call of `f` that has returned";
    let expected = [(message.to_owned(), help.to_owned())];
    let escaped = |used: for<'b> fn(&'b ModelBuilder, Tensor<'b>)| {
        mistakes(built(|m, x| {
            let mut inside = x;
            let [y] = m.function("f", [x], |[x]| {
                inside = x.exp();
                [long(inside)]
            });
            used(m, inside);
            y
        }))
    };
    assert_eq!(escaped(|_, _| ()), []);
    assert_eq!(escaped(|_, inside| _ = inside + 1), expected);
    assert_eq!(escaped(|_, inside| _ = inside.shape()), expected);
    assert_eq!(escaped(|_, inside| _ = (inside.dtype(), inside.named("y"))), expected);
    assert_eq!(escaped(|m, inside| _ = m.call("softmax", [inside]).one()), expected);
    assert_eq!(escaped(|m, inside| _ = m.function("g", [inside], |[x]| [x + 1])), expected);
    assert_eq!(escaped(|m, inside| _ = m.function("g", [], |[]| [inside])), expected);
    assert_eq!(escaped(|m, inside| m.output("y", inside)), expected);
    let registry = Registry::builtin();
    let other = ModelBuilder::new("other", &registry);
    let theirs = other.batch("x", DType::F32, [4, 6]);
    let m = ModelBuilder::new("m", &registry);
    let [y] = m.function("f", [theirs], |[x]| [x]);
    let found = mistakes(m.finish(y.sum_all(), m.scalar(1.0)).map(|built| built.module));
    assert_eq!(found[0].0, "E0307: this tensor is one of another model");
}

#[test]
fn what_belongs_to_main_is_refused_in_functions() {
    let inside = |body: for<'b> fn(&'b ModelBuilder, Tensor<'b>)| {
        let found = mistakes(built(|m, x| {
            let [y] = m.function("f", [x], |[x]| {
                body(m, x);
                [long(x)]
            });
            y
        }));
        assert_eq!(found.len(), 1, "{found:?}");
        found.into_iter().next().expect("a mistake")
    };
    let outside = |what: &str, help: &str| (format!("E0309: `{what}` stands outside `main`"), help.to_owned());
    let found = inside(|m, _| _ = m.batch("late", DType::F32, [4]));
    assert_eq!(found, outside("batch late", "declare batches before functions"));
    let found = inside(|m, x| m.output("y", x));
    assert_eq!(found, outside("output y", "return it to `main` instead"));
    let found = inside(|m, _| m.setting("n", 1));
    assert_eq!(found, outside("setting n", "set it before the function"));
    let found = inside(|m, x| assert!(m.finish(x.sum_all(), m.scalar(1.0)).is_err()));
    assert_eq!(found, outside("finish", "finish the model when its functions have returned"));
}

#[test]
fn mistakes_in_bodies_are_told_once_and_with_their_scopes() {
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let mut x = m.batch("x", DType::F32, [4, 6]);
    let line = line!() + 4;
    for layer in 0..3 {
        [x] = m.scope(format_args!("layers.{layer}"), || {
            m.function("f", [x], |[x]| {
                let _ = m.scope("mlp", || x.reshape([5, 5]));
                [long(x)]
            })
        });
    }
    // Given something wrong, the body is run all the same.
    let [_] = m.function("f", [x.reshape([5, 5])], |[y]| [y + x.reshape([5, -1])]);
    let errors = m.finish(x.sum_all(), m.scalar(1.0)).unwrap_err();
    let found: Vec<_> = errors.iter().map(|error| error.message()).collect();
    let reshape = "cannot reshape `f32[4,6]` to `f32[5,5]`: 24 elements are not 25";
    let open = "no size in place of -1 makes [5, -1] hold the 24 elements of `f32[4,6]`";
    assert_eq!(found, [reshape, reshape, open]);
    assert_eq!(errors[0].notes(), [format!("at `build_functions.rs:{line}`, in `layers.0.mlp`")]);
    let names = |name: &str| mistakes(built(|m, x| m.function(name, [x], |[x]| [x])[0]));
    let taken = |name: &str| format!("E0208: `{name}` is the name of an op and cannot be defined again");
    assert_eq!(names("softmax"), [(taken("softmax"), "choose another name".to_owned())]);
    assert_eq!(names("main"), [("E0208: `main` is defined twice".to_owned(), "choose another name".to_owned())]);
    assert_eq!(names("a b")[0].0, "E0101: `a b` is not a name");
}

#[test]
fn weights_of_calls_have_names_of_their_own_and_reach_the_loss() {
    let twice = mistakes(built(|m, x| {
        let call = |x| m.function("f", [x], |[x]| [long(x) * m.param("w", [6], Init::Ones)]);
        let [y] = call(x);
        let [y] = call(y);
        y
    }));
    assert_eq!(twice[0].0, "E0208: parameter `w` is declared twice");
    let unused = mistakes(built(|m, mut x| {
        for layer in 0..2 {
            [x, _] = m.scope(format_args!("layers.{layer}"), || {
                m.function("f", [x], |[x]| [long(x), m.param("w", [6], Init::Ones)])
            });
        }
        x
    }));
    let expected = [0, 1].map(|layer| format!("E0302: the loss does not depend on parameter `layers.{layer}.w`"));
    assert_eq!(unused.into_iter().map(|mistake| mistake.0).collect::<Vec<_>>(), expected);
}

#[test]
fn functions_keep_the_limits_of_texts() {
    fn nested<'b>(m: &'b ModelBuilder, x: Tensor<'b>, depth: usize) -> Tensor<'b> {
        if depth == 0 {
            return x + 1;
        }
        let [y] = m.function("f", [x], |[x]| [nested(m, x, depth - 1)]);
        y
    }
    assert_eq!(functions(&expect(built(|m, x| nested(m, x, 160)))), ["main"]);
    let deep = mistakes(built(|m, x| nested(m, x, 161)));
    assert_eq!(deep[0].0, "E0310: calls and expressions nest more than 160 deep");
    let many = mistakes(built(|m, mut x| {
        for _ in 0..20_000 {
            [x] = m.function("f", [x], |[x]| [long(x)]);
        }
        x
    }));
    assert_eq!(many.len(), 1);
    assert_eq!(many[0].0, "E0310: the model runs more than 200000 statements once its loops are unrolled");
}

#[test]
fn a_builder_goes_on_with_its_functions() {
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let x = m.batch("x", DType::F32, [4, 6]);
    let [y] = m.function("f", [x], |[x]| [long(x)]);
    let finish = |y: Tensor<'_>| m.finish(y.sum_all(), m.scalar(4.0)).expect("no mistakes").module;
    assert_eq!(functions(&finish(y)), ["main"]);
    let [z] = m.function("f", [y], |[x]| [long(x)]);
    assert_eq!(functions(&finish(z)), ["f", "main"]);
}
