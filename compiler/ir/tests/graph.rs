//! Graph views.

use halite_ir::graph::{Dependencies, Node, call_order, depends_on, dot, dot_function, live_insts, reached_functions};
use halite_ir::text::parse;
use halite_ir::{Builder, InferCx, Module, ParamRole, Registry, TensorType};
use halite_support::FileId;
use halite_tensor::DType;

const TEXT: &str = "func @f(%x: f32[4], %w: f32[4]) -> (f32[4]) {
  %a = tanh %x : f32[4]
  %dead = add %a, %w : f32[4]
  %b = add %a, %a : f32[4]
  %c = add %b, %w : f32[4]
  %deader = tanh %dead : f32[4]
  return %c
}
";

fn read(text: &str) -> Module {
    parse(text, FileId::of("test.ir", text), &Registry::builtin()).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

#[test]
fn live_instructions_reach_a_result() {
    let (module, registry) = (read(TEXT), Registry::builtin());
    let cx = InferCx { functions: &module.functions, registry: &registry };
    assert_eq!(live_insts(&cx, &module.functions[0]), [true, false, true, true, false]);
}

#[test]
fn barriers_that_nothing_reads_are_dead() {
    let text = "func @f(%x: f32[4]) -> (f32[4]) {\n  %y = tanh %x : f32[4]\n  %z = optimization_barrier %y : f32[4]\n  return %x\n}\n";
    let (module, registry) = (read(text), Registry::builtin());
    let cx = InferCx { functions: &module.functions, registry: &registry };
    assert_eq!(live_insts(&cx, &module.functions[0]), [false, false]);
}

#[test]
fn dependence_follows_operands() {
    let module = read(TEXT);
    let function = &module.functions[0];
    let weight = function.params[1].value;
    assert_eq!(depends_on(function, &[weight]), [false, true, false, true, false, true, true]);
    assert_eq!(depends_on(function, &[]), [false; 7]);
}

#[test]
fn edges_go_from_definition_to_use() {
    let module = read(TEXT);
    let view = Dependencies::new(&module.functions[0]);
    let users: Vec<_> = view.graph().neighbors(view.index(Node::Param(1))).map(|index| view.graph()[index]).collect();
    assert_eq!(users, [Node::Inst(3), Node::Inst(1)]);
    assert_eq!(view.graph().edge_count(), 9);
}

#[test]
fn functions_without_calls_keep_any_order() {
    let module = read(&format!("{TEXT}{}", TEXT.replace("@f", "@g")));
    let mut order = call_order(&module).unwrap();
    order.sort();
    assert_eq!(order.iter().map(|id| id.index()).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn the_entry_reaches_what_it_calls() {
    let func = |name: &str, callee: &str| {
        let body = if callee.is_empty() { "tanh %x".into() } else { format!("call %x {{callee = @{callee}}}") };
        format!("func @{name}(%x: f32[4]) -> (f32[4]) {{\n  %y = {body} : f32[4]\n  return %y\n}}\n")
    };
    let calls = [("a", ""), ("b", ""), ("c", "b"), ("d", "a"), ("main", "c")];
    let module = read(&calls.map(|(name, callee)| func(name, callee)).concat());
    assert_eq!(reached_functions(&module), [false, true, true, false, true]);
    assert!(reached_functions(&Module::new("empty")).is_empty());
}

#[test]
fn scopes_are_frames() {
    let registry = Registry::builtin();
    let mut module = Module::new("m");
    let mut b = Builder::new(&mut module, &registry, "main");
    let x = b.param("x", TensorType::new(DType::F32, [2]), ParamRole::Argument);
    let outside = b.enter_scope("layers.0");
    let inside = b.enter_scope("mlp");
    let y = b.tanh(x).unwrap();
    b.set_loc(inside);
    let z = b.add(y, x).unwrap();
    b.set_loc(outside);
    let u = b.add(z, z).unwrap();
    b.named_result(u, "out \"u\"", Default::default());
    b.finish();
    let text = dot_function(&module, &module.functions[0]);
    let expected = r#"digraph "main" {
  node [shape=box, fontname=monospace, fontsize=10];
  p0 [label="x\nf32[2]", shape=ellipse];
  i2 [label="add\nf32[2]"];
  subgraph cluster_s1 {
    label="layers.0";
    i1 [label="add\nf32[2]"];
    subgraph cluster_s2 {
      label="layers.0.mlp";
      i0 [label="tanh\nf32[2]"];
    }
  }
  r0 [label="out \"u\"\nf32[2]", shape=ellipse, style=bold];
  p0 -> i0;
  i0 -> i1;
  p0 -> i1;
  i1 -> i2;
  i1 -> i2;
  i2 -> r0;
}
"#;
    assert_eq!(text, expected);
    assert!(dot(&module).contains("  subgraph cluster_0 {\n    label=\"@main\"; style=bold;\n    f0_p0 "));
}

#[test]
fn callees_come_first_and_cycles_are_refused() {
    let text = "func @g(%x: f32[4]) -> (f32[4]) {\n  return %x\n}\nfunc @f(%x: f32[4]) -> (f32[4]) {\n  %y = call %x {callee = @g} : f32[4]\n  return %y\n}\n";
    let mut module = read(text);
    let order = |module: &Module| call_order(module).map(|order| order.iter().map(|id| id.index()).collect::<Vec<_>>());
    assert_eq!(order(&module).unwrap(), [0, 1]);
    let call = module.functions[1].clone();
    module.functions[0] = call;
    assert_eq!(order(&module).unwrap_err().message(), "`@f` calls itself");
    module.functions.remove(0);
    assert_eq!(order(&module).unwrap_err().message(), "`@f` calls itself");
    module.functions.clear();
    assert_eq!(order(&module).unwrap(), []);
}
