//! The device that a command runs modules on: CPU XLA, or a core of Neuron.

use crate::context::{Context, Result};
use crate::launched::{self, Launched};
use crate::neuron::duration;
use clap::{Args, ValueEnum};
use halite_bundle::{Bundle, Manifest};
use halite_runtime::{Executor, Nrt, NrtOptions, find_nrt};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_train::Peers;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The variable by which the library knows how long a call may take, in seconds.
const EXEC_TIMEOUT: &str = "NEURON_RT_EXEC_TIMEOUT";

/// The time that this process waits for a call beyond the limit of the library.
const GRACE: Duration = Duration::from_secs(60);

/// A kind of executor.
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
    /// Executor: the PJRT plugin, or libnrt, which needs a bundle with NEFFs as INPUT.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Kind::Pjrt)]
    executor: Kind,
    /// libnrt or its folder [default: $HALITE_NRT, else /opt/aws/neuron/lib].
    #[arg(long, value_name = "PATH")]
    nrt: Option<PathBuf>,
    /// Timeout of one call of libnrt, e.g. `90s` [default: a minute more than $NEURON_RT_EXEC_TIMEOUT, or 11m].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    call_timeout: Option<Duration>,
    /// Timeout of starting, loading and meeting other ranks [default: 1h].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    load_timeout: Option<Duration>,
}

/// The executor of a bundle, and the other processes of the run.
pub(super) struct Running {
    pub(super) executor: Arc<dyn Executor>,
    pub(super) peers: Option<Peers>,
}

impl Device {
    /// Whether devices of Neuron run the modules, whose memory is their own.
    pub(super) fn is_nrt(&self) -> bool {
        matches!(self.executor, Kind::Nrt)
    }

    /// The message that is shown while the executor gets ready.
    pub(super) fn preparation(&self) -> &'static str {
        match self.executor {
            Kind::Pjrt => "compiling with XLA",
            Kind::Nrt => "loading NEFFs",
        }
    }

    /// The rank and world of this process where libnrt runs an existing bundle; `None` where one process runs all ranks.
    ///
    /// # Errors
    /// When the environment does not say what the bundle needs.
    pub(super) fn launched(&self, input: &str, manifest: &Manifest) -> Result<Option<Launched>> {
        match (self.executor, launched::world_size()) {
            (Kind::Nrt, _) if Bundle::is_at(Path::new(input)) => Ok(Some(Launched::of_environment(manifest, input)?)),
            (Kind::Pjrt, Some(world)) if world > 1 => {
                let message = format!(
                    "the variable `WORLD_SIZE` is {world}, and `--executor pjrt` runs all ranks in one process"
                );
                let help = "add `--executor nrt`, which runs one rank in each process, or unset `WORLD_SIZE`";
                Err(Diagnostic::error(codes::ENVIRONMENT, message).help(help).into())
            }
            _ => Ok(None),
        }
    }

    /// Starts the executor of a bundle that was read from `input`, as the process that was launched. For libnrt it adds the NEFFs to
    /// the bundle.
    pub(super) fn start(
        &self,
        context: &Context,
        input: &str,
        bundle: &mut Bundle,
        launched: Option<&Launched>,
    ) -> Result<Running> {
        match self.executor {
            Kind::Pjrt if self.nrt.is_some() || self.call_timeout.is_some() || self.load_timeout.is_some() => {
                let message = "`--nrt`, `--call-timeout` and `--load-timeout` say nothing without `--executor nrt`";
                Err(Diagnostic::error(codes::USAGE, message).help("add `--executor nrt`, or leave them out").into())
            }
            Kind::Pjrt => {
                let executor = Arc::new(context.executor(bundle.manifest.num_ranks())?);
                Ok(Running { executor, peers: None })
            }
            Kind::Nrt => self.start_nrt(Path::new(input), bundle, launched),
        }
    }

    fn start_nrt(&self, input: &Path, bundle: &mut Bundle, launched: Option<&Launched>) -> Result<Running> {
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
        let library = find_nrt(self.nrt.as_deref())?;
        let defaults = NrtOptions::default();
        let load_timeout = self.load_timeout.unwrap_or(defaults.load_timeout);
        let peers = launched.and_then(|launched| launched.peers(load_timeout));
        let peers = peers.map(|options| Peers::join(&options)).transpose()?;
        let options = NrtOptions {
            call_timeout: self.timeout(),
            load_timeout,
            rank: launched.map_or(defaults.rank, |launched| (launched.rank, launched.world)),
            stages: u32::try_from(bundle.manifest.num_stages()).unwrap_or(u32::MAX),
            give_up: peers.as_ref().map(Peers::give_up).unwrap_or_default(),
        };
        match Nrt::open(&library, &options).map_err(Diagnostics::from) {
            Ok(executor) => Ok(Running { executor: Arc::new(executor), peers }),
            Err(errors) => {
                peers.inspect(|peers| peers.fail(&errors));
                Err(errors)
            }
        }
    }

    fn timeout(&self) -> Duration {
        let stated =
            || std::env::var(EXEC_TIMEOUT).ok()?.parse().ok().map(|seconds| Duration::from_secs(seconds) + GRACE);
        self.call_timeout.or_else(stated).unwrap_or(NrtOptions::default().call_timeout)
    }
}

/// The differences of the environment from the variables of the manifest, which alone set, among others, how numbers are rounded.
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
