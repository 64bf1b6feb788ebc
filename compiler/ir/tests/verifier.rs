//! Each kind of broken module is rejected with the right message.

use halite_ir::text::parse;
use halite_ir::{
    Def, LocId, Module, Op, Phase, Registry, ResultRole, Rounding, TensorType, Value, VerifyErrors, verify,
};
use halite_support::{FileId, Severity, codes};
use halite_tensor::DType;

const TEXT: &str = r#"halite.ir 1
module @m {phase = step}

func @double(%x: f32[4]) -> (f32[4]) {
  %y = add %x, %x : f32[4]
  return %y
}

func @main(%b: f32[4] {batch}, %w: f32[4] {weight, init = ones}, %m: f32[4] {state = m, of = "w"}, %t: s32[] {state = step}) -> (loss: f32[4] {loss}, w: f32[4] {state = "w"}, m: f32[4] {state = "m"}, t: s32[] {state = "t"}) {
  %0 = add %b, %w : f32[4]
  %1 = tanh %0 : f32[4]
  %2 = add %m, %1 : f32[4]
  %3 = add %w, %2 : f32[4]
  %one = constant 1 : s32[]
  %5 = add %t, %one : s32[]
  return %1, %3, %2, %5
}
"#;

fn read(text: &str) -> Module {
    parse(text, FileId::of("test.ir", text), &Registry::builtin()).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn check(module: &Module) -> Result<(), VerifyErrors> {
    verify(module, &Registry::builtin()).map(drop)
}

/// Breaks the module and expects exactly these messages.
#[track_caller]
fn rejects(corrupt: impl FnOnce(&mut Module), expected: &[&str]) {
    rejects_text(TEXT, corrupt, expected);
}

#[track_caller]
fn rejects_text(text: &str, corrupt: impl FnOnce(&mut Module), expected: &[&str]) {
    let mut module = read(text);
    corrupt(&mut module);
    let errors = check(&module).expect_err("the corruption is found");
    let found: Vec<_> = errors.diagnostics().iter().map(|diagnostic| diagnostic.message()).collect();
    assert_eq!(found, expected, "{errors}");
    for message in expected {
        assert!(errors.listing().contains(&format!("// ^ error: {message}\n")), "{errors}");
    }
}

const MAIN: usize = 1;

#[test]
fn the_module_is_valid_in_every_later_phase() {
    for phase in Phase::ALL {
        let mut module = read(TEXT);
        module.phase = phase;
        check(&module).unwrap();
    }
}

#[test]
fn functions() {
    rejects(|m| m.functions.clear(), &["the module has no function"]);
    rejects(|m| m.functions[0].name = "main".into(), &["two functions are named `@main`"]);
}

#[test]
fn states() {
    let with = |role: &str| TEXT.replace("{state = m, of = \"w\"}", role);
    for role in ["{state = zeta, of = \"w\", init = constant(3.0)}", "{state = ema, of = \"w\", init = weight}"] {
        check(&read(&with(role))).unwrap();
    }
    let cases = [
        ("{state = ema, init = weight}", "state of the kind `ema` starts as a weight and belongs to none"),
        ("{state = weight, of = \"w\"}", "state cannot be of the kind `weight`, which means something else"),
        ("{state = m.x, of = \"w\"}", "a state cannot be named `m.x`"),
        (
            "{state = sum, init = normal(1.0), transient}",
            "transient state of the kind `sum` does not start from a constant",
        ),
        ("{state = accum, init = ones, sum}", "state of the kind `accum` is a sum, and not transient state from zero"),
    ];
    for (role, reason) in cases {
        rejects_text(&with(role), |_| {}, &[&format!("parameter `m`: {reason}")]);
    }
    let text = TEXT.replace("init = ones", "init = weight");
    rejects_text(&text, |_| {}, &["weight `w` starts as a weight, which only state can"]);
    let named = |dims: &str| TEXT.replace("init = ones", &format!("init = ones, dims = {dims}"));
    check(&read(&named("[heads(2) * 2]"))).unwrap();
    for dims in ["[heads(2)]", "[heads(4), 1]", "[heads(4294967296) * 4294967296 * 4]"] {
        let message = "the names of its dimensions do not make parameter `w`: `f32[4]`";
        rejects_text(&named(dims), |_| {}, &[message]);
    }
}

#[test]
fn names() {
    rejects(|m| m.functions[MAIN].params[0].name = "t".into(), &["two parameters are named `t`"]);
    rejects(|m| m.functions[MAIN].results[0].name = "m".into(), &["two results are named `m`"]);
}

#[test]
fn operands() {
    let inst = |m: &mut Module, at: usize, arg: Value| m.functions[MAIN].insts[at].args[0] = arg;
    rejects(|m| inst(m, 1, Value::new(99)), &["operand 0 of `tanh` is no value of this function"]);
    let late = "operand 0 of `tanh` is not defined before it is read";
    rejects(|m| inst(m, 1, Value::new(7)), &[late]);
    rejects(|m| inst(m, 1, Value::new(5)), &[late]);
    rejects(
        |m| m.functions[MAIN].insts.swap(0, 1),
        &[
            late,
            "result 0 of `tanh` is recorded as defined elsewhere",
            "result 0 of `add` is recorded as defined elsewhere",
        ],
    );
    rejects(|m| m.functions[MAIN].insts[0].args.truncate(1), &["`add` takes 2 operands, found 1"]);
    rejects(|m| m.functions[MAIN].insts[1].args.push(Value::new(0)), &["`tanh` takes 1 operand, found 2"]);
    rejects(
        |m| m.functions[MAIN].insts[0].args[1] = Value::new(3),
        &["operands of `add` have different shapes, `f32[4]` and `s32[]`"],
    );
}

#[test]
fn definitions() {
    let result = |m: &mut Module, at: usize, value: usize| m.functions[MAIN].insts[at].results[0] = Value::new(value);
    rejects(
        |m| result(m, 5, 4),
        &[
            "result 0 of `add` is defined a second time",
            "result 3 is not defined",
            "1 values of `@main` are never defined",
        ],
    );
    rejects(
        |m| result(m, 5, 0),
        &[
            "result 0 of `add` is defined a second time",
            "result 3 is not defined",
            "1 values of `@main` are never defined",
        ],
    );
    rejects(
        |m| result(m, 5, 77),
        &[
            "result 0 of `add` is no value of this function",
            "result 3 is not defined",
            "1 values of `@main` are never defined",
        ],
    );
    let param = |m: &mut Module, value: usize| m.functions[0].params[0].value = Value::new(value);
    rejects(
        |m| param(m, 9),
        &[
            "parameter `x` is no value of this function",
            "operand 0 of `add` is not defined before it is read",
            "operand 1 of `add` is not defined before it is read",
            "1 values of `@double` are never defined",
        ],
    );
    let def = |m: &mut Module, value: usize, def: Def| m.functions[MAIN].values[value].def = def;
    rejects(|m| def(m, 4, Def::Inst(1, 0)), &["result 0 of `add` is recorded as defined elsewhere"]);
    rejects(|m| def(m, 4, Def::Inst(0, 1)), &["result 0 of `add` is recorded as defined elsewhere"]);
    rejects(|m| def(m, 4, Def::Param(0)), &["result 0 of `add` is recorded as defined elsewhere"]);
    rejects(|m| def(m, 0, Def::Param(1)), &["parameter `b` is recorded as defined elsewhere"]);
    rejects(
        |m| {
            let data = m.functions[0].values[0].clone();
            m.functions[0].values.push(data)
        },
        &["1 values of `@double` are never defined"],
    );
    rejects(
        |m| drop(m.functions[0].insts.pop()),
        &["result 0 is not defined", "1 values of `@double` are never defined"],
    );
    rejects(|m| m.functions[MAIN].results[0].value = Value::new(1000), &["result 0 is not defined"]);
    rejects(|m| m.functions[MAIN].insts[2].loc = LocId::new(5000), &["the location of `add` does not exist"]);
}

#[test]
fn types() {
    let ty = |m: &mut Module, value: usize, ty: TensorType| m.functions[MAIN].values[value].ty = ty;
    let wide = TensorType::new(DType::F32, [5]);
    rejects(|m| ty(m, 7, wide.clone()), &["`add` gives `f32[4]`, recorded is `f32[5]`"]);
    rejects(
        |m| ty(m, 5, wide.clone()),
        &[
            "`tanh` gives `f32[4]`, recorded is `f32[5]`",
            "operands of `add` have different shapes, `f32[4]` and `f32[5]`",
        ],
    );
    rejects(
        |m| ty(m, 8, TensorType::scalar(DType::S64)),
        &[
            "`constant` gives `s32[]`, recorded is `s64[]`",
            "operands of `add` have different element types, `s32[]` and `s64[]`",
        ],
    );
    rejects(
        |m| {
            m.functions[MAIN].insts[1].results.clear();
            m.functions[MAIN].results[0].value = Value::new(0)
        },
        &[
            "`tanh` has 1 results, found 0",
            "operand 1 of `add` is not defined before it is read",
            "1 values of `@main` are never defined",
        ],
    );
    rejects(|m| m.functions[MAIN].insts[4].op = Op::primitive("tanh").unwrap(), &["`tanh` takes 1 operand, found 0"]);
}

#[test]
fn roundings() {
    let text = "func @main(%x: f32[4]) -> (bf16[4], f32[4]) {\n  %0 = convert %x : bf16[4]\n  %1 = add %x, %x : f32[4]\n  return %0, %1\n}\n";
    rejects_text(
        text,
        |module| module.functions[0].insts[0].rounding = None,
        &["`convert` rounds, but does not say how"],
    );
    let stochastic = || Some(Rounding::Stochastic("x".into()));
    rejects_text(
        text,
        |module| module.functions[0].insts[1].rounding = stochastic(),
        &["`add` has a rounding, but nothing to round"],
    );
    let mut module = read(text);
    module.functions[0].insts[0].rounding = stochastic();
    check(&module).unwrap();
}

#[test]
fn unknown_composites() {
    let text = "func @f(%x: f32[4]) -> (f32[4]) {\n  %y = softmax %x : f32[4]\n  return %y\n}\n";
    let errors = verify(&read(text), &Registry::default()).unwrap_err();
    assert_eq!(errors.diagnostics()[0].message(), "no op or composite is named `softmax`");
}

#[test]
fn gradients() {
    let gradient = |of: &str| ResultRole::Gradient(of.into());
    rejects(
        |m| {
            m.phase = Phase::Built;
            m.functions[MAIN].results[0].role = gradient("w")
        },
        &["a gradient of `w` among the results in phase `built`"],
    );
    rejects(|m| m.functions[MAIN].results[0].role = gradient("k"), &["a gradient of `k`, which is no parameter"]);
}

#[test]
fn closed_state() {
    let role = |m: &mut Module, at: usize, role: ResultRole| m.functions[MAIN].results[at].role = role;
    rejects(|m| role(m, 1, ResultRole::Value), &["`w` has no replacement among the results"]);
    rejects(|m| role(m, 3, ResultRole::Metric), &["`t` has no replacement among the results"]);
    rejects(
        |m| role(m, 1, ResultRole::State("m".into())),
        &["`w` has no replacement among the results", "`m` has 2 replacements"],
    );
    rejects(
        |m| role(m, 0, ResultRole::State("b".into())),
        &["a result replaces `b`, which is no weight or state parameter"],
    );
    rejects(
        |m| role(m, 0, ResultRole::State("z".into())),
        &["a result replaces `z`, which is no weight or state parameter"],
    );
    rejects(|m| m.functions[MAIN].results[3].value = Value::new(0), &["`t` is `s32[]`, its replacement is `f32[4]`"]);
    rejects(
        |m| {
            m.phase = Phase::Legal;
            role(m, 3, ResultRole::Metric)
        },
        &["`t` has no replacement among the results"],
    );
}

/// A module that adds to sums replaces all of them; one that updates weights may leave those that it reads.
#[test]
fn sums_are_replaced_by_what_adds_to_them() {
    let text = |results: &str, returned: &str| {
        format!(
            "module @m {{phase = step}}\nfunc @f(%w: f32[] {{weight, init = ones}}, %a: f32[] {{state = accum, of = \"w\", sum}}, \
             %b: f32[] {{state = accum_loss, sum}}) -> ({results}) {{\n  %y = add %a, %b : f32[]\n  return {returned}\n}}\n"
        )
    };
    check(&read(&text("w: f32[] {state = \"w\"}, loss: f32[] {loss}", "%y, %b"))).unwrap();
    rejects_text(&text("a: f32[] {state = \"a\"}", "%y"), |_| {}, &["`b` has no replacement among the results"]);
}

#[test]
fn a_forward_module_may_be_legal() {
    let text = "module @m {phase = legal}\nfunc @f(%w: f32[4] {weight, init = ones}) -> (f32[4]) {\n  %y = tanh %w : f32[4]\n  return %y\n}\n";
    check(&read(text)).unwrap();
}

#[test]
fn legal_ops() {
    let text =
        "module @m {phase = legal}\nfunc @f(%x: f32[4]) -> (f32[4]) {\n  %y = softmax %x : f32[4]\n  return %y\n}\n";
    rejects_text(text, |_| {}, &["composite `softmax` in phase `legal`"]);
}

/// A legal step over one weight with these instructions.
fn step(insts: &str, results: &str) -> String {
    format!(
        "module @m {{phase = legal}}\nfunc @f(%w: f32[4] {{weight, init = ones}}, %v: f32[4] {{weight, init = ones}}) -> (f32[4] {{state = \"w\"}}, f32[4] {{state = \"v\"}}, f32[4]) {{\n{insts}  return {results}\n}}\n"
    )
}

#[test]
fn donation() {
    let add = "  %n = add %w, %w : f32[4]\n";
    let read_later = "  %k = tanh %w : f32[4]\n";
    check(&read(&step(&format!("{read_later}{add}"), "%n, %v, %k"))).unwrap();
    check(&read(&step(read_later, "%w, %v, %k"))).unwrap();
    check(&read(&step(&format!("{add}  %k = tanh %v : f32[4]\n"), "%n, %v, %k"))).unwrap();
    let late = "`tanh` reads `w` after its replacement is computed";
    rejects_text(&step(&format!("{add}{read_later}"), "%n, %v, %k"), |_| {}, &[late]);
    rejects_text(&step(add, "%n, %v, %w"), |_| {}, &["a result returns `w`, which is replaced"]);
    rejects_text(&step(read_later, "%v, %v, %k"), |_| {}, &[late]);
    rejects_text(
        &step(read_later, "%v, %w, %k"),
        |_| {},
        &[late, "a result returns `v`, which is replaced", "a result returns `w`, which is replaced"],
    );
}

/// A legal step over one weight whose replacement `@g` computes; `@g` has these instructions and returns `%n` and more.
fn called_step(insts: &str, returned: &str) -> String {
    format!(
        "module @m {{phase = legal}}\nfunc @h(%x: f32[4]) -> (f32[4]) {{\n  %y = tanh %x : f32[4]\n  return %y\n}}\nfunc @g(%p: f32[4]) -> (f32[4], f32[4]) {{\n{insts}  return %n, {returned}\n}}\nfunc @f(%w: f32[4] {{weight, init = ones}}) -> (f32[4] {{state = \"w\"}}, f32[4]) {{\n  %a, %b = call %w {{callee = @g}} : f32[4], f32[4]\n  return %a, %b\n}}\n"
    )
}

#[test]
fn donation_to_a_callee() {
    let (new, old) = ("  %n = call %p {callee = @h} : f32[4]\n", "  %k = call %p {callee = @h} : f32[4]\n");
    check(&read(&called_step(&format!("{old}{new}"), "%k"))).unwrap();
    let late = "`call` reads `p` after its replacement is computed";
    rejects_text(&called_step(&format!("{new}{old}"), "%k"), |_| {}, &[late]);
    rejects_text(&called_step(new, "%p"), |_| {}, &["a result returns `p`, which is replaced"]);
}

#[test]
fn errors_stand_under_their_lines() {
    let mut module = read(TEXT);
    module.functions[MAIN].values[5].ty = TensorType::new(DType::F32, [5]);
    let errors = check(&module).unwrap_err();
    let expected = "  %1 = tanh %0 : f32[5]\n  // ^ error: `tanh` gives `f32[4]`, recorded is `f32[5]`\n  %2 = add %m, %1 : f32[4]\n  // ^ error: operands";
    assert!(errors.listing().contains(expected), "{errors}");
    assert!(!errors.listing().contains("@double"), "{errors}");
    let span = errors.diagnostics()[0].primary().unwrap().span;
    assert_eq!(&TEXT[span.start as usize..span.end as usize], "%1 = tanh %0 : f32[4]");
    let bug = errors.into_bug("after pass `cse`");
    assert_eq!((bug.severity(), bug.code()), (Severity::Bug, codes::INTERNAL));
    assert_eq!(
        bug.message(),
        "internal error: after pass `cse`: `tanh` gives `f32[4]`, recorded is `f32[5]` (and 1 more)"
    );
    assert!(bug.notes()[0].contains("// ^ error:"));
}

#[test]
fn long_functions_are_shown_in_part() {
    let lines: String = (0..50).map(|i| format!("  %a{} = add %a{i}, %a{i} : f32[4]\n", i + 1)).collect();
    let text = format!("func @f(%a0: f32[4]) -> (f32[4]) {{\n{lines}  return %a50\n}}\n");
    let mut module = read(&text);
    module.functions[0].insts[20].args[0] = Value::new(40);
    let listing = check(&module).unwrap_err().listing().to_owned();
    assert!(listing.contains("  // .. 17 more\n  %a18 ="), "{listing}");
    assert!(listing.contains("  %a24 = add %a23, %a23 : f32[4]\n  // .. 26 more\n  return"), "{listing}");
}

const CALL: &str = "func @g(%x: f32[4]) -> (f32[4]) {
  %y = tanh %x : f32[4]
  return %y
}

func @f(%x: f32[4]) -> (f32[4]) {
  %y = call %x {callee = @g} : f32[4]
  return %y
}
";

#[test]
fn calls() {
    check(&read(CALL)).unwrap();
    check(&read(&format!("module @m {{phase = legal}}\n{CALL}"))).unwrap();
    let mut module = read(CALL);
    module.functions.swap(0, 1);
    let errors = check(&module).unwrap_err();
    assert_eq!(errors.diagnostics().len(), 1, "{errors}");
    rejects_text(CALL, |m| m.functions[0].results[0].value = Value::new(1000), &["result 0 is not defined"]);
    let mut module = read(CALL);
    module.functions.remove(0);
    assert!(check(&module).is_err());
}
