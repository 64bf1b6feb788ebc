//! Outputs that take the memory of inputs.

use crate::bench::Bench;
use crate::check::{Case, Check, Told, Within};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// A weight and its momentum, of one type, so that what lands in the wrong place is seen; and a result that reads what is replaced.
const PROGRAM: &str = "
module @aliasing {phase = step}

func @main(%g: f32[8] {batch}, %w: f32[8] {weight, init = ones, decay = 0.0}, %m.w: f32[8] {state = m, of = \"w\"}) -> (w: f32[8] {state = \"w\"}, m.w: f32[8] {state = \"m.w\"}, sum: f32[8] {metric}) {
  %s = add %w, %g : f32[8]
  %n = add %m.w, %m.w : f32[8]
  %t = add %n, %g : f32[8]
  %v = subtract %w, %t : f32[8]
  return %v, %t, %s
}
";

/// The number of updates, each of which continues from the memory that the last one left.
const UPDATES: usize = 3;

pub(super) struct Aliasing;

impl Check for Aliasing {
    fn name(&self) -> &'static str {
        "aliasing"
    }

    fn about(&self) -> &'static str {
        "state that updates replace where it lies"
    }

    fn meaning(&self) -> &'static str {
        "Updates would be lost or land in the wrong state; training needs outputs apart from its inputs, at twice the memory."
    }

    fn told(&self) -> Vec<Told> {
        vec![Told::new(
            "runtime/aliased-output",
            "an output that the HLO aliases with an input may be given the tensor of that input",
            "docs/neuron/device.md: the row on aliased outputs leaves what is open",
            "runtime/src/nrt/model.rs gives each output a tensor of its own, and the estimate of memory counts both",
        )]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let program = bench.program_of("aliasing", PROGRAM)?;
        let whole = |from: i128| HostTensor::from_ints(DType::F32, [8], from..from + 8);
        let run = |at: usize| vec![program.inputs(&[whole(at as i128 * 3 - 4), whole(100), whole(-7)])];
        let runs = (0..UPDATES).map(run).collect();
        let case = Case::of(bench, "aliasing", program, runs)?;
        let facts = vec!["runtime/aliased-output".into()];
        Ok(vec![case.probing(
            "w - 2 m - g in the memory of w, 2 m + g in that of m, w + g apart",
            facts,
            Within::Exact,
        )])
    }
}
