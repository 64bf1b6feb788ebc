//! Checks of what ranks hold in an HLO module.

use super::shardings::Stated;
use crate::context::{Output, Result};
use crate::table::{counted, grouped};
use halite_analysis::{Moves, ReplicaFinding, ReplicaSuspicion, held_elsewhere, replicas, unlike_ranks};
use halite_hlo::graph::Graph;
use halite_ir::Registry;
use halite_lift::{Claims, Lifted, are_claimed, claims, lift, require_partitioned};
use halite_support::text::plain;
use halite_support::{Diagnostic, Diagnostics, Severity, codes};
use halite_tensor::{Mesh, Sharding};
use serde_json::{Value, json};
use std::path::Path;

/// The largest number of different findings that are shown.
const SHOWN: usize = 12;

/// A mesh, and the shardings that a file states beside the HLO.
pub(super) struct OnMesh {
    mesh: Mesh,
    stated: Option<Stated>,
}

impl OnMesh {
    pub(super) fn new(axes: &str, shardings: Option<&Path>) -> Result<Self> {
        let axes = named_sizes(axes)?;
        let help = "give each axis a name of its own and at least 1 rank";
        let mesh = Mesh::new(axes.iter().map(|(name, size)| (name.as_str(), *size)));
        let mesh = mesh.map_err(|wrong| wrong.help(help))?;
        let names = axes.into_iter().map(|(name, _)| name).collect();
        let stated = shardings.map(|file| Stated::read(file, names)).transpose()?;
        Ok(Self { mesh, stated })
    }

    /// Checks that ranks hold what the shardings say.
    ///
    /// # Errors
    /// When the HLO is not sound or not the program of one rank, or the shardings are not those of its parameters and results.
    pub(super) fn check(&self, graph: &Graph) -> Result<Output> {
        let faults: Diagnostics =
            halite_hlo::check(graph).into_iter().filter(|fault| fault.severity() >= Severity::Error).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        require_partitioned(graph, self.stated.is_some())?;
        let mut lifted = lift(graph, self.mesh.num_ranks())?;
        let (claims, warning) = self.claims(graph, &lifted)?;
        lifted.lay(&self.mesh, &claims)?;
        let findings = counted_findings(replicas(&lifted.module, Moves::Unwritten));
        let verdict = Verdict::of(&findings, &lifted);
        let text = describe(graph, &self.mesh, &lifted, &claims, (&findings, &verdict));
        let json = json!({
            "module": plain(&graph.module().name),
            "replicas": {
                "mesh": self.mesh,
                "unfollowed": lifted.unfollowed,
                "verdict": verdict.word(),
                "witness": verdict.witness(),
                "suspicion": verdict.suspicion().map(ReplicaSuspicion::to_string),
                "findings": findings.iter().map(object).collect::<Vec<_>>(),
            },
        });
        let unproven = findings.first().filter(|_| matches!(verdict, Verdict::NotFollowed(_)));
        let unproven = unproven.map(|(finding, _)| match verdict.suspicion() {
            Some(suspicion) => finding.not_followed().note(suspicion.to_string()).note(GROUPS),
            None => finding.not_followed(),
        });
        let warnings = warning.into_iter().chain(unproven).collect();
        Ok(Output { warnings, failed: verdict.witness().is_some(), ..Output::new(text, json) })
    }

    /// The shardings of parameters and results, and a warning where their source is incomplete.
    fn claims(&self, graph: &Graph, lifted: &Lifted) -> Result<(Claims, Option<Diagnostic>)> {
        let entry = lifted.module.entry().ok_or_else(|| Diagnostic::bug("a module was lifted without its entry"))?;
        let said = claims(graph, entry, &self.mesh);
        match (&self.stated, said) {
            (None, said) => Ok((said?, silent(graph))),
            (Some(stated), Ok(said)) => Ok((stated.over(said, entry, &self.mesh)?, None)),
            (Some(stated), Err(wrong)) => {
                let message = format!("{}: what is not stated is taken to be the same on all ranks", wrong.message());
                let warning = Diagnostic::warning(wrong.code(), message).help("state the others in the file too");
                Ok((stated.over(Claims::replicated(entry), entry, &self.mesh)?, Some(warning)))
            }
        }
    }
}

/// The verdict on a module.
#[derive(Clone, PartialEq, Debug)]
enum Verdict {
    /// Ranks hold what the shardings say.
    Proven,
    /// They do not, as inputs that were tried show.
    Wrong(String),
    /// Some of it cannot be followed, and no input that was tried shows that it is wrong. Some may show that it deserves a look.
    NotFollowed(Option<ReplicaSuspicion>),
}

impl Verdict {
    fn of(findings: &[(ReplicaFinding, usize)], lifted: &Lifted) -> Self {
        if findings.is_empty() {
            return Self::Proven;
        }
        // Of ops that the IR lacks nobody here knows what they compute.
        let runs = lifted.unfollowed.is_empty();
        let all: Vec<ReplicaFinding> = findings.iter().map(|(finding, _)| finding.clone()).collect();
        let registry = Registry::builtin();
        match runs.then(|| unlike_ranks(&lifted.module, &registry, &all)).flatten() {
            Some(witness) => Self::Wrong(witness.to_string()),
            None => match runs.then(|| held_elsewhere(&lifted.module, &registry)).flatten() {
                Some(seen) if all.iter().any(|finding| finding.misreads) => Self::Wrong(format!("tried: {seen}")),
                suspicion => Self::NotFollowed(suspicion),
            },
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Wrong(_) => "wrong",
            Self::NotFollowed(_) => "not followed",
        }
    }

    fn witness(&self) -> Option<&str> {
        if let Self::Wrong(witness) = self { Some(witness) } else { None }
    }

    fn suspicion(&self) -> Option<&ReplicaSuspicion> {
        if let Self::NotFollowed(suspicion) = self { suspicion.as_ref() } else { None }
    }
}

/// Why a suspicion is no proof.
const GROUPS: &str =
    "that is a fault, unless the model has groups that lie on one rank each, such as heads: compare with one device";

/// That HLO says nothing of shardings.
fn silent(graph: &Graph) -> Option<Diagnostic> {
    let message = "the module does not say how it is sharded: all is taken to be the same on all ranks";
    let warning = || Diagnostic::warning(codes::INPUT, message).help("state it in a file with `--shardings`");
    (!are_claimed(graph)).then(warning)
}

/// `data=2,tensor=4`.
fn named_sizes(text: &str) -> Result<Vec<(String, usize)>> {
    let pair = |part: &str| {
        let (name, size) = part.split_once('=')?;
        let name = name.trim();
        Some((name.to_owned(), size.trim().parse().ok()?)).filter(|_| !name.is_empty())
    };
    text.split(',').map(pair).collect::<Option<_>>().ok_or_else(|| {
        let message = format!("`{text}` is no mesh; expected names and sizes of axes");
        Diagnostic::error(codes::USAGE, message)
            .help("write the major axis first, such as `--mesh data=2,tensor=4`")
            .into()
    })
}

/// Each finding once, in order, with how often it is made.
fn counted_findings(all: Vec<ReplicaFinding>) -> Vec<(ReplicaFinding, usize)> {
    let mut counted: Vec<(ReplicaFinding, usize)> = Vec::new();
    for finding in all {
        match counted.iter_mut().find(|(own, _)| *own == finding) {
            Some((_, count)) => *count += 1,
            None => counted.push((finding, 1)),
        }
    }
    counted
}

fn object((finding, count): &(ReplicaFinding, usize)) -> Value {
    let ReplicaFinding { message, label, line, scope, remedy, .. } = finding;
    json!({"message": message, "count": count, "label": label, "line": line, "scope": scope, "remedy": remedy})
}

fn describe(
    graph: &Graph,
    mesh: &Mesh,
    lifted: &Lifted,
    claims: &Claims,
    (findings, verdict): (&[(ReplicaFinding, usize)], &Verdict),
) -> String {
    let axes: Vec<String> = mesh.axes().iter().map(|axis| format!("{} = {}", axis.name, axis.size)).collect();
    let mut text = format!(
        "{}: {}, the program of one of {} ({})\n{}, {}\n",
        plain(&graph.module().name),
        counted(graph.len(), "instruction"),
        counted(mesh.num_ranks(), "rank"),
        axes.join(", "),
        sharded("parameter", &claims.params),
        sharded("result", &claims.results),
    );
    if !lifted.unfollowed.is_empty() {
        let each =
            lifted.unfollowed.iter().map(|(name, &count)| format!("{} ({})", plain(name), grouped(count as u64)));
        text.push_str(&format!("not followed: {}\n", each.collect::<Vec<_>>().join(", ")));
    }
    findings.iter().take(SHOWN).for_each(|finding| text.push_str(&describe_finding(finding)));
    if findings.len() > SHOWN {
        text.push_str(&format!("\nand {} more\n", findings.len() - SHOWN));
    }
    let count = counted(findings.len(), "finding");
    let verdict = match verdict {
        Verdict::Proven => "proven: ranks hold what the shardings say".to_owned(),
        Verdict::Wrong(witness) => format!("wrong: ranks do not hold what the shardings say: {count}; {witness}"),
        Verdict::NotFollowed(None) => format!("not followed: nothing that was tried shows a fault: {count}"),
        Verdict::NotFollowed(Some(suspicion)) => format!("not followed, and deserves a look: {suspicion}: {count}"),
    };
    text + &format!("\n{verdict}\n")
}

/// `4 parameters, 2 of them sharded`.
fn sharded(what: &str, all: &[Sharding]) -> String {
    let sharded = all.iter().filter(|sharding| !sharding.is_replicated()).count();
    format!("{}, {sharded} of them sharded", counted(all.len(), what))
}

fn describe_finding((finding, count): &(ReplicaFinding, usize)) -> String {
    let ReplicaFinding { message, label, line, scope, remedy, .. } = finding;
    let times = if *count > 1 { format!(", {} times", grouped(*count as u64)) } else { String::new() };
    let place = [scope.as_str(), line.as_deref().unwrap_or_default()].into_iter().filter(|part| !part.is_empty());
    let place = place.map(plain).collect::<Vec<_>>().join("  ");
    let place = if place.is_empty() { place } else { format!(": {place}") };
    format!("\n{}{times}\n  {label}{place}\n  instead: {remedy}\n", plain(message))
}
