//! What a command runs modules on: CPU XLA, or a core of Neuron.

use crate::context::{Context, Result};
use crate::neuron::duration;
use clap::{Args, ValueEnum};
use halite_bundle::{Bundle, Manifest};
use halite_runtime::{Executor, Nrt, NrtOptions, find_nrt};
use halite_support::{Diagnostic, Diagnostics, codes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The variable by which the library knows how long a call may take, in seconds.
const EXEC_TIMEOUT: &str = "NEURON_RT_EXEC_TIMEOUT";

/// How much longer than the library this waits for a call.
const GRACE: Duration = Duration::from_secs(60);

/// What runs modules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Kind {
    /// The PJRT plugin, which compiles HLO.
    Pjrt,
    /// libnrt of AWS Neuron, which runs NEFFs.
    Nrt,
}

/// The options that choose it.
#[derive(Args, Debug)]
pub(super) struct Device {
    /// What runs the modules: the PJRT plugin, or libnrt, for which INPUT is a bundle whose modules have NEFFs.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Kind::Pjrt)]
    executor: Kind,
    /// libnrt or its folder [default: $HALITE_NRT, else /opt/aws/neuron/lib].
    #[arg(long, value_name = "PATH")]
    nrt: Option<PathBuf>,
    /// Give up a call of libnrt that takes longer, e.g. `90s` [default: a minute more than $NEURON_RT_EXEC_TIMEOUT].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    nrt_timeout: Option<Duration>,
}

impl Device {
    /// What is said while it gets ready.
    pub(super) fn preparation(&self) -> &'static str {
        match self.executor {
            Kind::Pjrt => "compiling with XLA",
            Kind::Nrt => "loading NEFFs",
        }
    }

    /// The executor for a bundle that was read from `input`, to which its NEFFs are added where it runs these.
    pub(super) fn executor(&self, context: &Context, input: &str, bundle: &mut Bundle) -> Result<Arc<dyn Executor>> {
        match self.executor {
            Kind::Pjrt if self.nrt.is_some() || self.nrt_timeout.is_some() => {
                let message = "`--nrt` and `--nrt-timeout` say nothing without `--executor nrt`";
                Err(Diagnostic::error(codes::USAGE, message).help("add `--executor nrt`, or leave them out").into())
            }
            Kind::Pjrt => Ok(Arc::new(context.executor(bundle.manifest.mesh.num_ranks())?)),
            Kind::Nrt => self.nrt(Path::new(input), bundle),
        }
    }

    fn nrt(&self, input: &Path, bundle: &mut Bundle) -> Result<Arc<dyn Executor>> {
        if !Bundle::is_at(input) {
            let message = "`--executor nrt` runs NEFFs, and only a bundle has them";
            let help = "run `halite compile ... -o DIR` and `halite neuron compile DIR`, and give DIR";
            return Err(Diagnostic::error(codes::USAGE, message).help(help).into());
        }
        bundle.read_neffs(input)?;
        let mistakes = check_environment(&bundle.manifest, &input.display().to_string());
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let options = NrtOptions { call_timeout: self.timeout(), ..NrtOptions::default() };
        Ok(Arc::new(Nrt::open(&find_nrt(self.nrt.as_deref())?, &options)?))
    }

    fn timeout(&self) -> Duration {
        let stated =
            || std::env::var(EXEC_TIMEOUT).ok()?.parse().ok().map(|seconds| Duration::from_secs(seconds) + GRACE);
        self.nrt_timeout.or_else(stated).unwrap_or(NrtOptions::default().call_timeout)
    }
}

/// What of the environment is not as the manifest has it: how numbers are rounded, among others, is told by variables alone.
fn check_environment(manifest: &Manifest, bundle: &str) -> Diagnostics {
    let found = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let differs = |(name, value): (&String, &String)| {
        let message = match found(name) {
            Some(found) if found == *value => return None,
            Some(found) => format!("the variable `{name}` is `{found}`, the bundle needs `{value}`"),
            None => format!("the variable `{name}` is not set, the bundle needs `{value}`"),
        };
        Some(
            Diagnostic::error(codes::ENVIRONMENT, message).help(format!("run `eval \"$(halite env {bundle})\"` first")),
        )
    };
    let forbidden = |name: &String| {
        found(name)?;
        let message = format!("the variable `{name}` is set, under which no program of the bundle is started");
        Some(Diagnostic::error(codes::ENVIRONMENT, message).help(format!("run `unset {name}`")))
    };
    let refused = manifest.launch.iter().flat_map(|launch| &launch.forbidden).filter_map(forbidden);
    manifest.environment.iter().filter_map(differs).chain(refused).collect()
}
