//! The core of builders: what it is given are handles, and lines of programs in other languages.

use halite_ir::{LocKind, Registry, text, verify};
use halite_lang::build::core::{Core, Handle};
use halite_lang::build::{BinaryOp, Caller, Init, ModelBuilder};
use halite_support::{Diagnostics, Name, SourceMap, Span};
use halite_tensor::DType;

fn at(line: u32) -> Caller {
    Caller::line_of("model.py".into(), line, None)
}

/// A model with one batch `x`, `f32[4,6]`.
fn begun() -> (Core, Option<Handle>) {
    let mut core = Core::new("m", Registry::builtin(), &at(1));
    let x = core.batch("x", DType::F32, [4, 6].into(), &at(2));
    (core, x)
}

fn call(core: &mut Core, name: &str, x: Option<Handle>, line: u32) -> Option<Handle> {
    core.call(name, vec![(None, x.into())], &at(line))?.first().copied()
}

fn long(core: &mut Core, x: Option<Handle>, line: u32) -> Option<Handle> {
    (0..16).fold(x, |x, _| call(core, "tanh", x, line))
}

fn count(core: &mut Core) -> Option<Handle> {
    let shape = Vec::<i64>::new();
    core.call("full", vec![(None, shape.into()), (None, 4.0.into())], &at(90))?.first().copied()
}

/// Finishes with the sum of `x`.
fn finish(core: &mut Core, x: Option<Handle>) -> Result<halite_lang::Elaborated, Diagnostics> {
    let (loss, count) = (call(core, "sum", x, 91), count(core));
    core.finish(loss, count, &at(92))
}

/// Message and notes of each mistake.
fn mistakes(result: Result<halite_lang::Elaborated, Diagnostics>) -> Vec<(String, Vec<String>)> {
    let errors = result.err().unwrap_or_default();
    errors.iter().map(|error| (error.message().to_owned(), error.notes().to_vec())).collect()
}

#[test]
fn a_core_is_plain_data() {
    fn plain<T: Send + Sync + Clone + 'static>() {}
    plain::<Core>();
    plain::<Handle>();
    plain::<Caller>();
}

/// Layers that call a function, as the builder in Rust has them: everything but the lines is the same.
#[test]
fn the_core_makes_what_the_builder_makes() {
    let (mut core, mut x) = begun();
    for layer in 0..3 {
        let scope = core.enter_scope(format!("layers.{layer}"), &at(4));
        let (body, params) = core.begin_function("block", &[x], &at(5));
        let weight = core.param("weight", [6].into(), Init::Ones, &at(6));
        let y = core.binary(BinaryOp::Multiply, params[0].into(), weight.into(), &at(7));
        let y = long(&mut core, y, 8);
        let results = core.end_function(body, &[y, params[0]], &at(5));
        assert_eq!(results.len(), 2);
        x = results[0];
        core.leave_scope(scope, &at(4));
    }
    let found = finish(&mut core, x).expect("no mistakes").module;
    verify(&found, &Registry::builtin()).unwrap();

    let m = ModelBuilder::new("m", &Registry::builtin());
    let mut x = m.batch("x", DType::F32, [4, 6]);
    for layer in 0..3 {
        [x, _] = m.scope(format_args!("layers.{layer}"), || {
            m.function("block", [x], |[x]| {
                let y = x * m.param("weight", [6], Init::Ones);
                [(0..16).fold(y, |y, _| y.tanh()), x]
            })
        });
    }
    let loss = x.sum_all();
    let expected = m.finish(loss, m.scalar(4.0)).expect("no mistakes").module;
    assert_eq!(text::print(&found), text::print(&expected));

    let block = &found.functions[0];
    assert_eq!((&*block.name, found.functions.len()), ("block", 2));
    let lines = block.insts.iter().filter_map(|inst| match found.locs.kind(inst.loc) {
        LocKind::Code { file, line } => Some((file.to_string(), *line)),
        _ => None,
    });
    let mut lines: Vec<_> = lines.collect();
    lines.dedup();
    assert_eq!(lines, [("model.py".to_owned(), 7), ("model.py".to_owned(), 8)]);
}

#[test]
fn the_names_of_ops_are_those_that_can_be_called() {
    let (core, _) = begun();
    let names: Vec<&str> = core.op_names().collect();
    for name in ["softmax", "where", "sum", "cross_entropy"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

#[test]
fn mistakes_name_the_line_or_point_at_it() {
    let (mut core, x) = begun();
    let scope = core.enter_scope("layers.0".to_owned(), &at(3));
    let y = call(&mut core, "sofmax", x, 4);
    assert_eq!(y, None);
    let mut sources = SourceMap::new();
    let file = sources.add("a/model.py", "one\ntwo\nx.log(3)\n");
    let span = Span::new(file, 8, 16);
    let in_text = Caller::line_of("model.py".into(), 3, Some(span));
    assert_eq!(core.call("log", vec![(None, x.into()), (None, 3.into())], &in_text), None);
    core.leave_scope(scope, &at(3));
    let errors = finish(&mut core, y).unwrap_err();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert_eq!((errors[0].primary(), errors[0].notes()), (None, &["at `model.py:4`, in `layers.0`".to_owned()][..]));
    assert_eq!(errors[0].help_text(), Some("did you mean `softmax`? `halite help softmax` describes it"));
    assert_eq!(errors[1].primary().map(|label| label.span), Some(span));
    assert_eq!(errors[1].notes(), ["it is `log(x)`", "in `layers.0`"]);
}

#[test]
fn a_name_that_is_taken_points_at_its_first_place() {
    let (mut core, x) = begun();
    let mut sources = SourceMap::new();
    let file = sources.add("model.py", "one\ntwo\n");
    let line = |line: u32, start| Caller::line_of("model.py".into(), line, Some(Span::new(file, start, start + 3)));
    core.param("w", [6].into(), Init::Ones, &line(1, 0));
    core.param("w", [6].into(), Init::Ones, &line(2, 4));
    let errors = finish(&mut core, x).unwrap_err();
    let places = errors[0].primary().into_iter().chain(errors[0].secondary()).map(|label| label.span.start);
    assert_eq!(places.collect::<Vec<_>>(), [4, 0]);
}

/// A body that cannot be finished leaves the model as it was, its scopes too.
#[test]
fn an_abandoned_body_leaves_no_trace() {
    let (mut core, x) = begun();
    let scope = core.enter_scope("a".to_owned(), &at(3));
    let (body, params) = core.begin_function("f", &[x], &at(4));
    let inner = core.enter_scope("b".to_owned(), &at(5));
    let (within, deep) = core.begin_function("g", &params, &at(6));
    core.abandon_function(body);
    let w = core.param("w", [6].into(), Init::Ones, &at(7));
    let y = core.binary(BinaryOp::Multiply, x.into(), w.into(), &at(7));
    core.leave_scope(scope, &at(3));
    let module = finish(&mut core.clone(), y).expect("no mistakes").module;
    assert_eq!(module.entry().unwrap().params[1].name, Name::from("a.w"));
    assert_eq!(module.functions.len(), 1);

    // Functions and scopes that were begun in it have ended with it.
    let results = core.end_function(within, &[deep[0], deep[0]], &at(8));
    assert_eq!(results, [None, None]);
    core.leave_scope(inner, &at(9));
    let used = call(&mut core, "tanh", deep[0], 10);
    assert_eq!(used, None);
    let note = |line: u32| vec![format!("at `model.py:{line}`")];
    let expected = [
        ("the function around this one has returned before it".to_owned(), note(8)),
        ("scopes are left in another order than they were entered in".to_owned(), note(9)),
        ("this tensor is one of a call of `g` that has returned".to_owned(), note(10)),
    ];
    assert_eq!(mistakes(finish(&mut core, y)), expected);
}

/// Ending a function ends those that were begun in it, whose results are of no use then.
#[test]
fn a_function_that_ends_before_one_within_it_goes_on_without() {
    let (mut core, x) = begun();
    let (body, params) = core.begin_function("f", &[x], &at(3));
    let (within, deep) = core.begin_function("g", &params, &at(4));
    assert_eq!(core.end_function(body, &[deep[0]], &at(5)), [None]);
    assert_eq!(core.end_function(within, &[x], &at(6)), [None]);
    let found = mistakes(finish(&mut core, x));
    let note = |line: u32| vec![format!("at `model.py:{line}`")];
    let expected = [
        ("this tensor is one of a call of `g` that has returned".to_owned(), note(5)),
        ("the function around this one has returned before it".to_owned(), note(6)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn scopes_that_are_left_in_another_order_are_a_mistake() {
    let (mut core, x) = begun();
    let a = core.enter_scope("a".to_owned(), &at(3));
    let b = core.enter_scope("b".to_owned(), &at(4));
    core.leave_scope(a, &at(5));
    core.leave_scope(b, &at(6));
    let w = core.param("w", [4, 6].into(), Init::Ones, &at(7));
    assert!(w.is_some());
    let found = mistakes(finish(&mut core, x));
    let message = "scopes are left in another order than they were entered in".to_owned();
    // Where a mistake was made is told with the scopes there.
    let expected = [
        (message.clone(), vec!["at `model.py:5`, in `a.b`".to_owned()]),
        (message, vec!["at `model.py:6`".to_owned()]),
    ];
    assert_eq!(found, expected);
}

/// Handles, scopes and bodies of one model mean nothing to another.
#[test]
fn what_is_of_another_model_is_refused() {
    let (mut core, x) = begun();
    let (mut other, y) = begun();
    let y = long(&mut other, y, 3);
    let scope = other.enter_scope("a".to_owned(), &at(4));
    let (body, params) = other.begin_function("f", &[y], &at(5));
    assert_eq!(core.ty(y), None);
    assert_eq!(core.current_ty(y, &at(6)), None);
    assert_eq!(call(&mut core, "tanh", params[0], 7), None);
    core.name_tensor(y, "y");
    core.leave_scope(scope, &at(8));
    assert_eq!(core.end_function(body, &[x], &at(9)), [x]);
    let found: Vec<_> = mistakes(finish(&mut core, x)).into_iter().map(|(message, _)| message).collect();
    let foreign = "this tensor is one of another model";
    let order = "scopes are left in another order than they were entered in";
    assert_eq!(found, [foreign, foreign, order]);
}
