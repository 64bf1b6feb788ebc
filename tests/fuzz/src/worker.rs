//! The process in which inputs are tried: it may end in any way.

use crate::guard;
use crate::judge::Verdict;
use crate::mutate::Seeds;
use crate::random::Random;
use crate::target::{Target, Try};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A job of a worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    /// The executions of these numbers.
    Numbers { seed: u64, from: u64, to: u64 },
    /// The contents of a file.
    File(PathBuf),
}

/// A message of a worker, a line of JSON.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum Word {
    /// So many more inputs were tried and taken.
    Tried { inputs: u64, taken: u64 },
    /// Something is wrong with Halite.
    Found(Finding),
}

/// Something that is wrong with Halite.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Finding {
    /// The number of the execution; 0 for a file.
    pub(crate) number: u64,
    /// A key that is the same in all findings of one fault.
    pub(crate) key: String,
    /// A description of the fault.
    pub(crate) message: String,
}

/// Files by which a worker and the process that started it communicate, in the folder of the worker.
pub(crate) struct Wire;

impl Wire {
    /// The messages of the worker.
    pub(crate) const WORDS: &str = "words";
    /// The number of the execution that runs.
    pub(crate) const NUMBER: &str = "number";
    /// Standard error of the worker.
    pub(crate) const ERRORS: &str = "errors";
    /// The folder in which it works.
    pub(crate) const PLACE: &str = "place";
}

/// The number of executions after which counts are reported and standard error is emptied.
const EVERY: u64 = 500;

/// The stack of an execution, in bytes: that of any thread in Rust.
const STACK: usize = 2 << 20;

/// The first panic of an execution.
static PANIC: Mutex<Option<(String, String)>> = Mutex::new(None);

/// Does a job and returns when it is done.
///
/// # Panics
/// When the folder cannot be worked in.
pub(crate) fn work(target: Target, job: Job, folder: &Path, seconds: u64) {
    let place = folder.join(Wire::PLACE);
    std::env::set_current_dir(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    std::panic::set_hook(Box::new(|info| {
        if halite_support::is_contained() {
            return;
        }
        let place = info.location().map_or_else(String::new, ToString::to_string);
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("a panic").to_owned();
        PANIC.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((place, text));
    }));
    guard::limit_memory(target.memory);
    let watch = guard::Watch::start(seconds);
    let mut worker =
        Worker { target, words: open(&folder.join(Wire::WORDS)), number: open(&folder.join(Wire::NUMBER)) };
    let errors = folder.join(Wire::ERRORS);
    let body = move || worker.run(job, &place, &watch, &errors);
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(body);
    let done = thread.map(std::thread::JoinHandle::join);
    // A panic asks for the lock again.
    let told = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    assert!(matches!(done, Ok(Ok(()))), "{told:?}");
}

fn open(path: &Path) -> File {
    let file =
        OpenOptions::new().create(true).append(path.ends_with(Wire::WORDS)).write(true).truncate(false).open(path);
    file.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

struct Worker {
    target: Target,
    words: File,
    number: File,
}

impl Worker {
    fn run(&mut self, job: Job, place: &Path, watch: &guard::Watch, errors: &Path) {
        let mut attempt = (self.target.prepare)(place);
        let (seed, numbers) = match job {
            Job::File(file) => {
                let input = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                watch.begin();
                let taken = self.judge(0, &input, &mut attempt, place);
                return self.say(&Word::Tried { inputs: 1, taken: taken.into() });
            }
            Job::Numbers { seed, from, to } => (seed, from..to),
        };
        let seeds = Seeds::new((self.target.seeds)());
        let (mut inputs, mut taken) = (0, 0);
        for number in numbers {
            let input = (self.target.mutate)(&seeds, &mut Random::of(seed, self.target.name, number));
            self.number.write_all_at(&number.to_le_bytes(), 0).expect("the folder of the worker takes files");
            watch.begin();
            taken += u64::from(self.judge(number, &input, &mut attempt, place));
            watch.end();
            inputs += 1;
            if inputs == EVERY {
                self.say(&Word::Tried { inputs, taken });
                (inputs, taken) = (0, 0);
                // What commands say is not needed; what ends the process comes last.
                _ = OpenOptions::new().write(true).truncate(true).open(errors);
            }
        }
        self.say(&Word::Tried { inputs, taken });
    }

    /// Whether an input is taken; what is wrong is said.
    fn judge(&mut self, number: u64, input: &[u8], attempt: &mut Try, place: &Path) -> bool {
        let verdict: Result<Verdict, _> = catch_unwind(AssertUnwindSafe(|| attempt(input)));
        let panic = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (key, message) = match (verdict, panic) {
            (Ok(Ok(taken)), None) => return taken,
            (Ok(Err(wrong)), None) => (wrong.split([':', '\n']).next().unwrap_or_default().to_owned(), wrong),
            (_, panic) => {
                // What was in use when it happened may be in any state.
                *attempt = (self.target.prepare)(place);
                let (place, text) = panic.unwrap_or_default();
                (format!("panic at {place}"), format!("panic at {place}: {text}"))
            }
        };
        self.say(&Word::Found(Finding { number, key, message }));
        false
    }

    fn say(&mut self, word: &Word) {
        let line = serde_json::to_string(word).expect("words are text and numbers") + "\n";
        self.words.write_all(line.as_bytes()).expect("the folder of the worker takes files");
    }
}
