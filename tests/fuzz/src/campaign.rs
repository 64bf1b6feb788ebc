//! Running workers, and keeping what they find.

use crate::guard::HANGS;
use crate::target::Target;
use crate::worker::{Finding, Job, Wire, Word};
use halite_runtime::{PLUGIN_VARIABLE, find_plugin};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The most findings of one fault that are kept.
const KEPT: usize = 2;

/// After so many ends of workers a target is left.
const ENDS: usize = 50;

/// The counts and findings of the executions of one target.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) inputs: u64,
    pub(crate) taken: u64,
    /// The number of workers that ended before their job did.
    pub(crate) ends: usize,
    /// Findings, the first few of each fault.
    pub(crate) findings: Vec<Finding>,
}

impl Tally {
    fn hear(&mut self, word: Word) {
        match word {
            Word::Tried { inputs, taken } => {
                self.inputs += inputs;
                self.taken += taken;
            }
            Word::Found(finding) => {
                if self.findings.iter().filter(|own| own.key == finding.key).count() < KEPT {
                    self.findings.push(finding);
                }
            }
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.hear(Word::Tried { inputs: other.inputs, taken: other.taken });
        self.ends += other.ends;
        other.findings.into_iter().for_each(|finding| self.hear(Word::Found(finding)));
    }
}

/// Does a job in as many processes as it takes.
///
/// # Panics
/// When no process can be started, or it does not come to work.
pub(crate) fn run(target: Target, job: &Job, seconds: u64) -> Tally {
    let (mut tally, mut job) = (Tally::default(), job.clone());
    loop {
        let folder =
            tempfile::Builder::new().prefix("halite-fuzz-").tempdir_in(place()).expect("a folder for a worker");
        let status = start(target, &job, folder.path(), seconds);
        let words = std::fs::read_to_string(folder.path().join(Wire::WORDS)).unwrap_or_default();
        words.lines().filter_map(|line| serde_json::from_str(line).ok()).for_each(|word| tally.hear(word));
        if status.success() {
            return tally;
        }
        let number = std::fs::read(folder.path().join(Wire::NUMBER)).ok();
        let number = number.and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)));
        let (key, message) = end(status, &folder.path().join(Wire::ERRORS));
        let is_file = matches!(job, Job::File(_));
        assert!(number.is_some() || is_file, "{}: a worker does not come to work: {message}", target.name);
        tally.hear(Word::Found(Finding { number: number.unwrap_or_default(), key, message }));
        tally.ends += 1;
        match &mut job {
            Job::Numbers { from, to, .. } if tally.ends < ENDS => {
                // Those that ran since counts were said last.
                let next = number.unwrap_or_default() + 1;
                (*from, *to) = (next, next.max(*to));
            }
            _ => return tally,
        }
    }
}

/// The folder for the folders of workers: in memory where the system has a place there, because each input is a file.
fn place() -> PathBuf {
    Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir()).unwrap_or_else(std::env::temp_dir)
}

fn start(target: Target, job: &Job, folder: &Path, seconds: u64) -> ExitStatus {
    let make = |name: &str| {
        let path = folder.join(name);
        std::fs::create_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    };
    let [_, home, temporary] = [Wire::PLACE, "home", "tmp"].map(make);
    let errors = File::options().create(true).append(true).open(folder.join(Wire::ERRORS)).expect("a file for errors");
    let job = serde_json::to_string(job).expect("a job is text and numbers");
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["worker", target.name, &job, &seconds.to_string()]).arg(folder);
    // Nothing of the surroundings gets in, and nothing is found that could be started.
    command.env_clear().env("HOME", home).env("TMPDIR", temporary).env("PATH", "/nonexistent");
    command.env("TF_CPP_MIN_LOG_LEVEL", "3");
    if target.plugin {
        command.env(PLUGIN_VARIABLE, find_plugin(None).unwrap_or_else(|error| panic!("{error}")));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    command.status().expect("a worker can be started")
}

/// Describes how a worker ended: a key that tells the fault from others, and all that is known.
fn end(status: ExitStatus, errors: &Path) -> (String, String) {
    let text = std::fs::read(errors).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(2000)..]).into_owned();
    let key = if status.code() == Some(HANGS) {
        "takes too long".to_owned()
    } else if text.contains("has overflowed its stack") {
        "stack overflow".to_owned()
    } else if text.contains("memory allocation of") {
        "too much memory".to_owned()
    } else {
        // XLA names the line of a check that fails.
        let check = text.lines().find_map(|line| line.split(['[', ' ']).find(|word| word.contains(".cc:")));
        format!("ended by {status}{}", check.map(|check| format!(" at {check}")).unwrap_or_default())
    };
    (key.clone(), format!("{key}\n{text}"))
}

/// Whether an input has a finding of this fault.
pub(crate) fn has(target: Target, input: &Path, key: &str, seconds: u64) -> bool {
    run(target, &Job::File(PathBuf::from(input)), seconds).findings.iter().any(|finding| finding.key == key)
}
