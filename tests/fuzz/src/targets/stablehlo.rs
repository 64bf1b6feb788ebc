//! HLO that the checker takes, as StableHLO: what XLA takes as HLO it takes as that too.

use crate::judge::{Verdict, refused};
use crate::target::{Target, WIRE};
use crate::targets::{hlo, xla};
use halite_hlo::CheckedHlo;
use halite_runtime::{CompileOptions, Executor, Pjrt, Program, ProgramFormat};
use halite_stablehlo::{Form, Functions, print, translate};
use halite_support::SourceMap;

pub(crate) const TARGET: Target = Target {
    name: "stablehlo",
    share: 1,
    seeds: hlo::seeds,
    prepare: |_| {
        let client = xla::client();
        Box::new(move |input| run(input, &client))
    },
    memory: xla::MEMORY,
    plugin: true,
    ..WIRE
};

/// As which functions a module is written.
const FUNCTIONS: Functions<'_> = Functions { prefix: "step", num_partitions: 8, first_channel: 1 };

fn run(input: &[u8], client: &Pjrt) -> Verdict {
    let Ok(graph) = hlo::sound(input) else { return Ok(false) };
    let refused = |error| refused(&[error], &SourceMap::new());
    let checked = match CheckedHlo::new(graph.module().clone()) {
        Ok(checked) => checked,
        Err(broken) => return Err(format!("a sound module is broken: {broken}")),
    };
    for form in [Form::Program { num_replicas: 1 }, Form::Functions(FUNCTIONS)] {
        if let Err(error) = print(&checked, form) {
            return refused(error);
        }
    }
    let in_format = |format| {
        let program = Program::new(input, CompileOptions::default()).ok()?;
        program.in_format(format, |hlo| translate(hlo, Form::Program { num_replicas: 1 })).ok()
    };
    let (Some(as_hlo), Some(as_mlir)) = (in_format(ProgramFormat::Hlo), in_format(ProgramFormat::Mlir)) else {
        return Ok(false);
    };
    match (client.compile(&as_hlo), client.compile(&as_mlir)) {
        (Ok(_), Err(error)) => Err(format!("XLA takes the HLO and not the StableHLO: {error}")),
        (taken, _) => Ok(taken.is_ok()),
    }
}
