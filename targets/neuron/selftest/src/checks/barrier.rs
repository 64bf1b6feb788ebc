//! Values that are held apart.

use crate::bench::Bench;
use crate::check::{Case, Check, Told, Within};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

const PROGRAM: &str = "
module @barrier {phase = built}

func @main(%x: f32[4], %y: f32[4]) -> (f32[4], f32[4]) {
  %a, %b = optimization_barrier %x, %y : f32[4], f32[4]
  %c = add %a, %a : f32[4]
  %d = negate %b : f32[4]
  return %c, %d
}
";

pub(super) struct Barrier;

impl Check for Barrier {
    fn name(&self) -> &'static str {
        "barriers"
    }

    fn about(&self) -> &'static str {
        "barriers, which hand their values on in order"
    }

    fn meaning(&self) -> &'static str {
        "What is recomputed in a backward would read other values: set `recompute` to nothing."
    }

    fn told(&self) -> Vec<Told> {
        vec![Told::opcode("opt-barrier")]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let program = bench.program_of("barriers", PROGRAM)?;
        let vector = |values: [f64; 4]| HostTensor::from_f64s(DType::F32, [4], values);
        let inputs = vec![vector([1.0, 2.0, 3.0, 4.0]), vector([-5.0, 6.0, -7.0, 8.0])];
        let case = Case::of(bench, "barriers", program, vec![vec![inputs]])?;
        Ok(vec![case.probing("2 x and -y behind one barrier", vec!["opcodes/opt-barrier".into()], Within::Exact)])
    }
}
