//! Functions that are called.

use crate::bench::Bench;
use crate::check::{Case, Check, Told, Within};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// The callee tells its operands apart, calls another one, and is called with its operands both ways.
const PROGRAM: &str = "
module @call {phase = built}

func @twice(%x: f32[4]) -> (f32[4]) noinline {
  %y = add %x, %x : f32[4]
  return %y
}

func @less(%x: f32[4], %y: f32[4]) -> (f32[4]) noinline {
  %z = call %y {callee = @twice} : f32[4]
  %d = subtract %x, %z : f32[4]
  return %d
}

func @main(%x: f32[4], %y: f32[4]) -> (f32[4], f32[4]) {
  %a = call %x, %y {callee = @less} : f32[4]
  %b = call %y, %x {callee = @less} : f32[4]
  return %a, %b
}
";

pub(super) struct Call;

impl Check for Call {
    fn name(&self) -> &'static str {
        "call"
    }

    fn about(&self) -> &'static str {
        "calls of functions that are not written in place"
    }

    fn meaning(&self) -> &'static str {
        "Layers that share a function would be computed wrongly: set `emit.calls = \"inline\"`."
    }

    fn told(&self) -> Vec<Told> {
        vec![Told {
            confirmed: "opcodes.toml: the row of `call` becomes `observed`, and `emit.calls = \"keep\"` can become the default for Neuron, whose \
                        programs then do not grow with the layers"
                .into(),
            refuted: "rules.toml gets a rule that refuses `call`: `emit.calls` stays `inline`, and `keep` is an error for Neuron".into(),
            ..Told::opcode("call")
        }]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let program = bench.program_of("call", PROGRAM)?;
        let vector = |values: [f64; 4]| HostTensor::from_f64s(DType::F32, [4], values);
        let inputs = vec![vector([1.0, 2.0, 3.0, 4.0]), vector([0.5, -8.0, 0.0, 16.0])];
        let case = Case::of(bench, "call", program, vec![vec![inputs]])?;
        Ok(vec![case.probing("x - 2 y and y - 2 x by one function", vec!["opcodes/call".into()], Within::Exact)])
    }
}
