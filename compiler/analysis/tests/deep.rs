//! Calls that nest deeper than a stack is: how deep they do is the input's.

use halite_analysis::{Verdict, causality, check_init};
use halite_ir::text::parse;
use halite_ir::{Module, Registry};
use halite_support::FileId;
use std::fmt::Write;

/// How deep calls nest.
const DEPTH: usize = 6_000;

/// A model whose features go through functions that call one another, the innermost of which does `op` to them.
fn nested(op: &str) -> Module {
    let mut text = format!(
        "module @deep {{phase = built}}\n\nfunc @f0(%x: f32[2,8,4]) -> (f32[2,8,4]) {{\n  %y = {op} : f32[2,8,4]\n  return %y\n}}\n"
    );
    for at in 1..DEPTH {
        let inner = at - 1;
        writeln!(
            text,
            "\nfunc @f{at}(%x: f32[2,8,4]) -> (f32[2,8,4]) {{\n  %y = call %x {{callee = @f{inner}}} : f32[2,8,4]\n  return %y\n}}"
        )
        .unwrap();
    }
    let last = DEPTH - 1;
    write!(
        text,
        "\nfunc @main(%tokens: s32[2,8] {{batch}}, %table: f32[16,4] {{weight, init = normal(0.02)}}) -> (logits: f32[2,8,4] {{probe}}) {{\n  \
         %x = embedding %tokens, %table : f32[2,8,4]\n  %y = call %x {{callee = @f{last}}} : f32[2,8,4]\n  return %y\n}}\n"
    )
    .unwrap();
    parse(&text, FileId::of("deep.ir", &text), &Registry::builtin()).unwrap()
}

#[test]
fn deep_calls_are_followed() {
    let module = nested("tanh %x");
    let registry = Registry::builtin();
    let report = causality(&module, &registry).unwrap();
    assert!(matches!(report.outputs, Verdict::Proven(_)), "{:?}", report.outputs);
    check_init(&module, &registry).unwrap();
}

#[test]
fn a_leak_in_the_innermost_is_found_there() {
    let module = nested("reverse %x {dims = [1]}");
    let report = causality(&module, &Registry::builtin()).unwrap();
    let Verdict::Leaks(finding) = &report.outputs else { panic!("{:?}", report.outputs) };
    assert_eq!(finding.op, "reverse");
}
