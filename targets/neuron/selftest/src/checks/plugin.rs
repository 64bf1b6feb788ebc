//! Requirements of Neuron's PJRT plugin on the process that opens it.

use crate::bench::Bench;
use crate::check::{Case, Check, Needs, Told, Within};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

const PROGRAM: &str = "
module @plugin {phase = built}

func @main(%x: f32[4]) -> (f32[4]) {
  %y = add %x, %x : f32[4]
  return %y
}
";

pub(super) struct Plugin;

impl Check for Plugin {
    fn name(&self) -> &'static str {
        "plugin"
    }

    fn about(&self) -> &'static str {
        "Neuron's PJRT plugin in a process without Python"
    }

    fn needs(&self) -> Needs {
        Needs::Plugin
    }

    fn meaning(&self) -> &'static str {
        "Programs run on a device through libnrt (`--executor nrt`) or from JAX, and not by `--plugin`."
    }

    fn told(&self) -> Vec<Told> {
        vec![Told::new(
            "plugin/without-python",
            "the plugin compiles and runs in a process that has no Python, as it does since SDK 2.30",
            "docs/neuron/launch.md: what it says of the plugin is observed",
            "docs/neuron/launch.md: the plugin needs Python, and `--plugin` refuses it with that reason",
        )]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let program = bench.program_of("plugin", PROGRAM)?;
        let inputs = vec![HostTensor::from_f64s(DType::F32, [4], [1.0, -2.5, 0.0, 4096.0])];
        let case = Case::of(bench, "plugin", program, vec![vec![inputs]])?;
        Ok(vec![case.probing("x + x", vec!["plugin/without-python".into()], Within::Exact)])
    }
}
