//! Rank and world of this process, from the variables that launchers set: those of the script of `halite env --script`.

use halite_bundle::{Manifest, sha256};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Axis;
use halite_train::PeerOptions;
use std::time::Duration;

/// The number of the process among all.
const RANK: &str = "RANK";

/// The number of processes.
const WORLD_SIZE: &str = "WORLD_SIZE";

/// Address and port of the first process, at which libraries of ranks find one another.
const ROOT: &str = "NEURON_RT_ROOT_COMM_ID";

/// The same of the first stage, where several stages have addresses of their own for their libraries.
const FIRST_ROOT: &str = "HALITE_ROOT";

/// Variables that tell processes of one launch from those of others: an id that the user gives all of them, or the launcher's id of
/// the launch.
const LAUNCH: [&str; 3] = ["HALITE_LAUNCH", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"];

/// The place of this process in its launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Launched {
    /// The rank, from 0.
    pub(super) rank: u32,
    /// The number of processes.
    pub(super) world: u32,
    /// `HOST:PORT` where processes meet: the port after that of the root of the first stage, which is the library's.
    address: Option<String>,
    /// A digest of the launch and the manifest, which processes of another launch or with another bundle do not have.
    secret: String,
}

impl Launched {
    /// Reads the environment for a bundle; rank 0 of 1 where no variable is set.
    ///
    /// # Errors
    /// When the variables contradict one another or the bundle.
    pub(super) fn of_environment(manifest: &Manifest, bundle: &str) -> Result<Self> {
        Self::of(of_environment, manifest, bundle)
    }

    fn of(variable: impl Fn(&str) -> Option<String>, manifest: &Manifest, bundle: &str) -> Result<Self> {
        let what = serde_json::to_string(manifest).map_err(|error| Diagnostic::bug(error.to_string()))?;
        let misfit = |world: u32| {
            let fits = u32::try_from(manifest.num_ranks()) == Ok(world);
            (!fits).then(|| misfit(manifest, variable(WORLD_SIZE).map(|_| world)))
        };
        Self::of_processes(&variable, &what, bundle, misfit)
    }

    /// Reads the environment for processes that run something together; rank 0 of 1 where no variable is set. `misfit` gives the error
    /// message for a world of the wrong size.
    ///
    /// # Errors
    /// When the variables contradict one another, or `misfit` gives a message.
    pub(super) fn of_processes(
        variable: impl Fn(&str) -> Option<String>,
        what: &str,
        bundle: &str,
        misfit: impl Fn(u32) -> Option<String>,
    ) -> Result<Self> {
        let refuse = |message: String| refuse(message, bundle);
        let number = |name: &str| match variable(name) {
            None => Ok(None),
            Some(text) => match text.parse::<u32>() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(refuse(format!("the variable `{name}` is `{text}`, expected a whole number"))),
            },
        };
        let (rank, world) = match (number(RANK)?, number(WORLD_SIZE)?) {
            (None, None) => (0, 1),
            (Some(rank), Some(world)) if rank < world => (rank, world),
            (Some(rank), Some(world)) => {
                let most = world.saturating_sub(1);
                let message = format!("the variable `{RANK}` is {rank}, of {world} processes expected 0 to {most}");
                return Err(refuse(message));
            }
            (Some(_), None) => {
                return Err(refuse(format!("the variable `{RANK}` is set and `{WORLD_SIZE}` is not")));
            }
            (None, Some(_)) => {
                return Err(refuse(format!("the variable `{WORLD_SIZE}` is set and `{RANK}` is not")));
            }
        };
        if let Some(message) = misfit(world) {
            return Err(refuse(message));
        }
        let address = if world > 1 {
            Some(next_port(variable(FIRST_ROOT).or_else(|| variable(ROOT))).map_err(refuse)?)
        } else {
            None
        };
        let launch = LAUNCH.iter().find_map(|name| variable(name)).unwrap_or_default();
        let secret = sha256(format!("{launch}\0{what}").as_bytes());
        Ok(Self { rank, world, address, secret })
    }

    /// The options by which this process joins the others; `None` where it is alone.
    pub(super) fn peers(&self, patience: Duration) -> Option<PeerOptions> {
        let address = self.address.clone()?;
        let (rank, world, secret) = (self.rank as usize, self.world as usize, self.secret.clone());
        Some(PeerOptions { rank, world, address, patience, secret })
    }
}

/// A variable of this process.
pub(super) fn of_environment(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// The error for processes that were started otherwise than the bundle needs.
fn refuse(message: String, bundle: &str) -> Diagnostic {
    Diagnostic::error(codes::ENVIRONMENT, message).help(format!(
        "start the processes by `halite env {bundle} --script`, which sets what each needs; without a launcher, unset \
         `{RANK}` and `{WORLD_SIZE}`"
    ))
}

/// The number of launched processes, where the environment says it.
pub(super) fn world_size() -> Option<u32> {
    std::env::var(WORLD_SIZE).ok()?.parse().ok()
}

/// The message of a world that is not the mesh.
fn misfit(manifest: &Manifest, world: Option<u32>) -> String {
    let stages = Some(manifest.num_stages()).filter(|stages| *stages > 1).map(|stages| format!("{stages} stages"));
    let axes = manifest.mesh.axes().iter().map(|Axis { name, size }| format!("`{name}` = {size}"));
    let axes: Vec<_> = stages.into_iter().chain(axes).collect();
    let ranks = match manifest.num_ranks() {
        1 => "1 rank".to_owned(),
        ranks => format!("{ranks} ranks ({})", axes.join(", ")),
    };
    match world {
        Some(world) => format!("the variable `{WORLD_SIZE}` is {world}, the bundle runs on {ranks}, each a process"),
        None => format!("the bundle runs on {ranks}, each a process, and the variable `{WORLD_SIZE}` is not set"),
    }
}

/// The address with the port after it.
fn next_port(root: Option<String>) -> std::result::Result<String, String> {
    let root = root.ok_or_else(|| format!("the variable `{ROOT}` is not set, by which processes find one another"))?;
    let next = root.rsplit_once(':').and_then(|(host, port)| {
        let port = port.parse::<u16>().ok()?.checked_add(1).filter(|port| *port > 1)?;
        (!host.is_empty()).then(|| format!("{host}:{port}"))
    });
    next.ok_or_else(|| format!("the variable `{ROOT}` is `{root}`, expected HOST:PORT with a port from 1 to 65534"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_bundle::fixtures::small;
    use halite_tensor::Mesh;

    fn of(variables: &[(&str, &str)], ranks: usize) -> std::result::Result<Launched, String> {
        let mut manifest = small().manifest;
        manifest.mesh = Mesh::new([("data", ranks)]).unwrap();
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Launched::of(variable, &manifest, "b").map_err(|error| error.message().to_owned())
    }

    #[test]
    fn a_process_is_alone_or_one_of_the_mesh() {
        let who = |launched: Launched| (launched.rank, launched.world, launched.address);
        assert_eq!(of(&[], 1).map(who), Ok((0, 1, None)));
        assert_eq!(of(&[(RANK, "0"), (WORLD_SIZE, "1")], 1).map(who), Ok((0, 1, None)));
        let launched = of(&[(RANK, "3"), (WORLD_SIZE, "4"), (ROOT, "10.0.0.1:46820")], 4).unwrap();
        let peers = launched.peers(Duration::from_secs(1)).unwrap();
        assert_eq!((peers.rank, peers.world, peers.address.as_str()), (3, 4, "10.0.0.1:46821"));
    }

    #[test]
    fn launches_and_bundles_have_secrets_of_their_own() {
        let secret = |variables: &[(&str, &str)], ranks| {
            let own = [(RANK, "0"), (WORLD_SIZE, ["1", "2"][ranks - 1]), (ROOT, "10.0.0.1:46820")];
            of(&[&own, variables].concat(), ranks).unwrap().secret
        };
        let secrets = [
            secret(&[], 1),
            secret(&[], 2),
            secret(&[("SLURM_JOB_ID", "7")], 2),
            secret(&[("SLURM_JOB_ID", "8")], 2),
            secret(&[("SLURM_JOB_ID", "8"), ("HALITE_LAUNCH", "a")], 2),
        ];
        let apart: std::collections::BTreeSet<_> = secrets.iter().collect();
        assert_eq!(apart.len(), secrets.len());
        assert_eq!(secret(&[("HALITE_LAUNCH", "a")], 2), secrets[4]);
    }

    #[test]
    fn variables_that_do_not_fit_are_told() {
        for (variables, ranks, part) in [
            (&[(RANK, "0")][..], 1, "`RANK` is set and `WORLD_SIZE` is not"),
            (&[(WORLD_SIZE, "1")], 1, "`WORLD_SIZE` is set and `RANK` is not"),
            (&[(RANK, "4"), (WORLD_SIZE, "4")], 4, "`RANK` is 4, of 4 processes expected 0 to 3"),
            (&[(RANK, "-1"), (WORLD_SIZE, "4")], 4, "`RANK` is `-1`, expected a whole number"),
            (&[(RANK, "0"), (WORLD_SIZE, "2")], 4, "`WORLD_SIZE` is 2, the bundle runs on 4 ranks (`data` = 4)"),
            (&[(RANK, "0"), (WORLD_SIZE, "2")], 1, "`WORLD_SIZE` is 2, the bundle runs on 1 rank"),
            (&[], 4, "runs on 4 ranks (`data` = 4), each a process, and the variable `WORLD_SIZE` is not set"),
            (&[(RANK, "0"), (WORLD_SIZE, "4")], 4, "`NEURON_RT_ROOT_COMM_ID` is not set"),
            (&[(RANK, "0"), (WORLD_SIZE, "4"), (ROOT, "here:65535")], 4, "a port from 1 to 65534"),
            (&[(RANK, "0"), (WORLD_SIZE, "4"), (ROOT, ":1")], 4, "expected HOST:PORT"),
        ] {
            let found = of(variables, ranks).unwrap_err();
            assert!(found.contains(part), "{variables:?}: {found}");
        }
    }
}
