//! `halite neuron selftest --ranks`: all ranks of a launch together.

use super::Selftest;
use crate::context::{Context, Output, Result};
use crate::launched::{Launched, of_environment};
use crate::table::counted;
use halite_neuron::neuronx::Compiler;
use halite_runtime::{Nrt, NrtOptions, find_nrt};
use halite_selftest::{Limits, Place, Together};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_train::Peers;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::PathBuf;

/// The number of stages that the ranks are of, as many ranks each, one stage after another: the launch script of a bundle says it.
const STAGES: &str = "HALITE_STAGES";

/// The NEFF that rank 0 compiled for all.
#[derive(Serialize, Deserialize)]
struct Made {
    /// The version of the compiler, by which the program is made.
    compiler: String,
    neff: PathBuf,
}

/// The finding of a rank.
#[derive(Serialize, Deserialize)]
struct Found {
    node: String,
    /// The error or the wrong results of the rank, if there are any.
    wrong: Option<String>,
}

impl Selftest {
    /// Compiles one program on rank 0, runs it on all, and says which ranks have something else than they should. The ranks of each stage run
    /// it together.
    pub(super) fn ask_ranks(&self, context: &mut Context, place: &Place, limits: &Limits<'_>) -> Result<Output> {
        let launched = Launched::of_processes(of_environment, "selftest", "BUNDLE", |_| None)?;
        context.rank = Some(launched.rank).filter(|_| launched.world > 1);
        let library = find_nrt(self.nrt.as_deref())?;
        // As long as the slowest of them, which compiles.
        let peers = launched.peers(limits.compile.saturating_add(limits.load));
        let peers = peers.map(|options| Peers::join(&options)).transpose()?;
        let stages = stages(of_environment(STAGES), launched.world)?;
        let (rank, ranks) = (launched.rank as usize, (launched.world / stages) as usize);
        let made = match rank {
            0 => self.made(place, limits, ranks),
            _ => Ok(String::new()),
        };
        let made = made.inspect_err(|error| peers.iter().for_each(|peers| peers.fail(&error.clone().into())))?;
        let said = exchange(peers.as_ref(), "compiled", &made)?;
        let made: Made = understood(&said[0])?;
        let options = NrtOptions {
            call_timeout: limits.call,
            load_timeout: limits.load,
            rank: (launched.rank, launched.world),
            stages,
            give_up: peers.as_ref().map(Peers::give_up).unwrap_or_default(),
        };
        let together = Together::new(self.target()?, Some(&made.compiler), ranks)?;
        let found = || {
            Nrt::open(&library, &options)
                .map_err(Diagnostic::from)
                .and_then(|nrt| together.run(&nrt, &made.neff, rank % ranks))
        };
        let wrong = found().unwrap_or_else(|error| Some(error.message().to_owned()));
        let own = Found { node: node(), wrong };
        let said = exchange(peers.as_ref(), "found", &json!(own).to_string())?;
        let found = said.iter().map(|said| understood(said)).collect::<Result<Vec<Found>>>()?;
        if let Some(peers) = &peers {
            peers.end()?;
        }
        Ok(report(&found, stages))
    }

    fn made(&self, place: &Place, limits: &Limits<'_>, ranks: usize) -> halite_support::Result<String> {
        let compiler = place.compiler.as_ref().map_err(|reason| failed(reason))?;
        let together =
            Together::new(self.target().map_err(first)?, Some(Compiler::version(compiler)), ranks).map_err(first)?;
        let neff = together.compile(place, limits).map_err(|reason| failed(&reason))?;
        Ok(json!(Made { compiler: compiler.version().to_owned(), neff }).to_string())
    }
}

/// The number of stages, 1 where nothing says it.
fn stages(said: Option<String>, world: u32) -> halite_support::Result<u32> {
    let Some(said) = said else { return Ok(1) };
    let stages = said.parse().ok().filter(|&stages| stages > 0 && world.is_multiple_of(stages));
    stages.ok_or_else(|| {
        let message =
            format!("the variable `{STAGES}` is `{said}`, and {world} ranks cannot be those of so many stages");
        let help = "start the processes by the script of `halite env BUNDLE --script`, which sets it, or unset it";
        Diagnostic::error(codes::ENVIRONMENT, message).help(help)
    })
}

fn failed(reason: &str) -> Diagnostic {
    Diagnostic::error(codes::SELFTEST, format!("the program of all ranks was not compiled: {reason}"))
}

fn first(errors: Diagnostics) -> Diagnostic {
    errors.into_iter().next().unwrap_or_else(|| Diagnostic::bug("no mistake"))
}

/// Exchanges what each rank says at a point; a rank that is alone gets its own.
fn exchange(peers: Option<&Peers>, point: &str, said: &str) -> Result<Vec<String>> {
    match peers {
        Some(peers) => Ok(peers.exchange(point, said)?),
        None => Ok(vec![said.to_owned()]),
    }
}

fn understood<T: for<'a> Deserialize<'a>>(said: &str) -> Result<T> {
    serde_json::from_str(said).map_err(|error| Diagnostic::bug(error.to_string()).into())
}

fn node() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn report(found: &[Found], stages: u32) -> Output {
    let mut nodes: Vec<&str> = found.iter().map(|found| found.node.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let wrong: Vec<_> =
        found.iter().enumerate().filter_map(|(rank, found)| Some((rank, found, found.wrong.as_ref()?))).collect();
    let (of, whom) = match stages {
        1 => (String::new(), "all"),
        stages => (format!(" of {stages} stages"), "all of a stage"),
    };
    let all = format!("{}{of} on {}", counted(found.len(), "rank"), counted(nodes.len(), "node"));
    let text = match wrong.len() {
        0 => format!("{all}: a sum over {whom} and a gathering of {whom} are right\n"),
        count => {
            let lines = wrong.iter().map(|(rank, found, wrong)| format!("  rank {rank} on {}: {wrong}\n", found.node));
            format!(
                "{all}: {} wrong\n{}",
                if count == 1 { "1 is".to_owned() } else { format!("{count} are") },
                lines.collect::<String>()
            )
        }
    };
    let told: Vec<_> =
        wrong.iter().map(|(rank, found, wrong)| json!({"rank": rank, "node": found.node, "wrong": wrong})).collect();
    Output {
        failed: !wrong.is_empty(),
        ..Output::new(text, json!({"ranks": found.len(), "stages": stages, "nodes": nodes, "failures": told}))
    }
}
