//! Whether this machine holds a run, told before anything of it is made.

use crate::context::{Context, Result};
use crate::graph::decode;
use crate::table::bytes;
use halite_bundle::estimate::MemoryEstimate;
use halite_bundle::{Buffer, Bundle, Manifest, ModuleEntry, arguments};
use halite_support::{Diagnostic, codes};
use rustix::process::{Resource, getrlimit};
use std::path::{Path, PathBuf};

/// The most memory that something lets a process use.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Limit {
    bytes: u64,
    /// The beginning of a sentence about the limit, which the bytes end.
    who: &'static str,
}

/// The smallest limit on this process, where the system tells any.
fn limit() -> Option<Limit> {
    let resource = |resource, who| getrlimit(resource).current.map(|bytes| Limit { bytes, who });
    let all = [
        machine(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default()),
        group(),
        resource(Resource::As, "this process may use (`ulimit -v`)"),
        resource(Resource::Data, "this process may use (`ulimit -d`)"),
    ];
    all.into_iter().flatten().min_by_key(|limit| limit.bytes)
}

/// Memory and swap of the machine, as `/proc/meminfo` has it.
fn machine(text: &str) -> Option<Limit> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    let bytes = field("MemTotal")?.saturating_add(field("SwapTotal").unwrap_or(0));
    Some(Limit { bytes, who: "this machine has" })
}

/// The smallest `memory.max` of the control group (version 2) of this process and of the groups around it.
fn group() -> Option<Limit> {
    let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = PathBuf::from("/sys/fs/cgroup").join(own);
    let allowed = |folder: &Path| std::fs::read_to_string(folder.join("memory.max")).ok()?.trim().parse::<u64>().ok();
    let bytes =
        folder.ancestors().take_while(|folder| folder.starts_with("/sys/fs/cgroup")).filter_map(allowed).min()?;
    Some(Limit { bytes, who: "its control group allows" })
}

/// The memory that a run needs, in bytes, and the sizes that it depends on.
struct Needs {
    /// The state, exactly.
    state: u64,
    /// A step on all ranks, with the state, as it is estimated.
    step: u64,
    /// The part of it that grows with the data of a step.
    activations: u64,
    ranks: u64,
    /// Sequences of a step, and tokens of each, where the model says so.
    batch: Option<u64>,
    seq: Option<u64>,
}

impl Needs {
    fn of(context: &Context, bundle: &Bundle) -> Result<Self> {
        let manifest = &bundle.manifest;
        let (state, ranks) = (manifest.statistics.state_bytes, manifest.num_ranks() as u64);
        let of_rank = manifest.modules.iter().map(|entry| of_module(context, bundle, entry));
        let of_rank = of_rank.collect::<Result<Vec<_>>>()?.into_iter().max_by_key(MemoryEstimate::total);
        let of_rank = of_rank.unwrap_or_default();
        let activations = of_rank.peak.activations.saturating_add(of_rank.peak.workspace);
        Ok(Self {
            state,
            step: of_rank.total().saturating_mul(ranks).max(state),
            activations: activations.saturating_mul(ranks),
            ranks,
            batch: size(manifest, "batch"),
            seq: size(manifest, "seq"),
        })
    }

    /// Holds them to a limit.
    fn held_to(&self, limit: &Limit) -> halite_support::Result<Option<Diagnostic>> {
        let &Self { state, step, ranks, .. } = self;
        let on_all = if ranks > 1 { format!(" on all {ranks} ranks") } else { String::new() };
        let (who, most) = (limit.who, bytes(limit.bytes));
        let message =
            format!("the state is {}, and a step{on_all} needs about {}; {who} {most}", bytes(state), bytes(step));
        let help = self.smaller(limit.bytes);
        if state > limit.bytes {
            return Err(Diagnostic::error(codes::MACHINE_MEMORY, message).note("nothing was made").help(help));
        }
        Ok((step > limit.bytes).then(|| Diagnostic::warning(codes::MACHINE_MEMORY, message).help(help)))
    }

    /// Advises what to make smaller: the data of a step where the rest fits, else the model.
    fn smaller(&self, limit: u64) -> String {
        let rest = self.step.saturating_sub(self.activations);
        let Some(room) = limit.checked_sub(rest).filter(|room| *room > 0) else {
            return "weights and their optimizer state are too large: make `layers` or `hidden` of the model smaller, as with \
                    `--set layers=2`"
                .to_owned();
        };
        let said = format!("about {} are activations, which grow with `batch` and `seq`", bytes(self.activations));
        // Activations grow with both at least in proportion.
        let fitting = |size: u64| (u128::from(size) * u128::from(room) / u128::from(self.activations.max(1))) as u64;
        let of_batch = self.batch.map(fitting).filter(|batch| *batch > 0).map(|batch| format!("`--set batch={batch}`"));
        let of_seq =
            || self.seq.map(fitting).filter(|seq| *seq > 0).map(|seq| format!("`--set seq={}`", 1 << seq.ilog2()));
        match of_batch.or_else(of_seq) {
            Some(set) => format!("{said}: {set} would fit"),
            None => format!("{said}: make these smaller"),
        }
    }
}

/// A size in the configuration of the model.
fn size(manifest: &Manifest, key: &str) -> Option<u64> {
    manifest.model.config.get(key)?.size().map(|size| size as u64)
}

/// The estimated memory of a module on one rank.
fn of_module(context: &Context, bundle: &Bundle, entry: &ModuleEntry) -> Result<MemoryEstimate> {
    let manifest = &bundle.manifest;
    let name = &manifest.recipe.target;
    let target = context.session.vocabulary.targets.get(name)?;
    let hlo = decode(bundle.hlo(entry)?, &entry.file)?;
    let analysis = target.analyze(&hlo, name, &manifest.flags, &arguments(entry, &manifest.buffers))?;
    Ok(analysis.estimate.memory)
}

/// The most that one of several ranks holds while it makes an update, as it is estimated, with the module that runs then; `None` where the
/// manifest has estimates. Of stages that take turns the modules alone do not tell it.
///
/// # Errors
/// When the bundle is damaged.
pub(super) fn peak(context: &Context, bundle: &Bundle) -> Result<Option<(String, u64)>> {
    let manifest = &bundle.manifest;
    let has_estimates = manifest.modules.iter().any(|module| module.estimate.is_some());
    if has_estimates || manifest.num_ranks() == 1 || manifest.num_stages() > 1 {
        return Ok(None);
    }
    let (state, calls) = (manifest.local_state_bytes(), manifest.calls());
    let mut most: Option<(String, u64)> = None;
    for entry in manifest.modules.iter().filter(|module| calls.contains_key(module.name.as_str())) {
        let takes = |buffer: &&Buffer| !buffer.is_batch() && entry.inputs.iter().any(|port| port.name == buffer.name);
        let own = manifest.buffers.iter().filter(takes).map(Buffer::local_bytes).fold(0, u64::saturating_add);
        let all = of_module(context, bundle, entry)?.total().saturating_add(state.saturating_sub(own));
        if most.as_ref().is_none_or(|(_, other)| all > *other) {
            most = Some((entry.name.clone(), all));
        }
    }
    Ok(most)
}

/// Refuses a run whose state alone is more than this process may use; a warning where a step is, as far as it is estimated.
///
/// # Errors
/// In the first case, and where the bundle is damaged.
pub(super) fn check(context: &Context, bundle: &Bundle) -> Result<Option<Diagnostic>> {
    let Some(limit) = limit() else { return Ok(None) };
    Ok(Needs::of(context, bundle)?.held_to(&limit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_machine_is_read() {
        let text = "MemTotal:       24689764 kB\nMemFree:          123 kB\nSwapTotal:         1024 kB\n";
        assert_eq!(machine(text).unwrap().bytes, (24_689_764 + 1024) * 1024);
        assert_eq!(machine("MemTotal: much\n"), None);
        assert_eq!(machine(""), None);
    }

    #[test]
    fn a_state_is_refused_and_a_step_is_told() {
        const GIB: u64 = 1 << 30;
        let limit = Limit { bytes: 8 * GIB, who: "this machine has" };
        let needs = |state, step, batch| Needs {
            state,
            step,
            activations: 4 * GIB,
            ranks: 2,
            batch: Some(batch),
            seq: Some(4096),
        };
        let held = |state: u64, step: u64| needs(state, step, 4).held_to(&limit);
        assert_eq!(held(8 * GIB, 8 * GIB), Ok(None));
        let warning = held(8 * GIB, 9 * GIB).unwrap().unwrap();
        let said = "the state is 8.0 GiB, and a step on all 2 ranks needs about 9.0 GiB; this machine has 8.0 GiB";
        assert_eq!(warning.message(), said);
        assert!(held(9 * GIB, 13 * GIB).is_err());
        let help = |state, step, batch| needs(state, step, batch).smaller(limit.bytes);
        let of_step = "about 4.0 GiB are activations, which grow with `batch` and `seq`: ";
        assert_eq!(help(5 * GIB, 9 * GIB, 4), format!("{of_step}`--set batch=3` would fit"));
        assert_eq!(help(5 * GIB, 9 * GIB, 1), format!("{of_step}`--set seq=2048` would fit"));
        assert!(help(8 * GIB, 12 * GIB, 4).contains("`layers` or `hidden`"));
    }
}
