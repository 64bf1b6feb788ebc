//! Checkpoints of runs.

use super::*;
use halite_disk::{Disk, Fate, Operation};
use halite_support::{Diagnostic, Diagnostics};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Hears warnings, and asks for a checkpoint after an update.
#[derive(Default)]
struct Listener {
    warnings: Vec<Diagnostic>,
    saved: Vec<(PathBuf, u64)>,
    wish: Option<(RunFiles, u64)>,
}

impl Observer for Listener {
    fn saved(&mut self, checkpoint: &Path, step: u64) {
        self.saved.push((checkpoint.to_path_buf(), step));
    }

    fn warned(&mut self, warning: &Diagnostic) {
        self.warnings.push(warning.clone());
    }

    fn stepped(&mut self, record: &StepRecord) {
        if let Some((files, _)) = self.wish.as_ref().filter(|(_, update)| *update == record.step) {
            std::fs::write(files.wish(), "").unwrap();
        }
    }
}

fn go(
    executor: Arc<dyn Executor>,
    options: &TrainOptions,
    files: &RunFiles,
    listener: &mut Listener,
) -> std::result::Result<History, Diagnostics> {
    train(executor, &bundle(), &numbers(), options, files, listener)
}

fn newest(steps: u64, checkpoint: CheckpointOptions) -> TrainOptions {
    TrainOptions { start: Start::Newest, checkpoint, ..options(steps) }
}

#[test]
fn a_run_goes_on_from_its_newest_whole_checkpoint() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (whole, parts) = (RunFiles::new(whole.path()), RunFiles::new(parts.path()));
    go(HAND.shared(), &newest(30, every(4)), &whole, &mut Listener::default()).unwrap();
    go(HAND.shared(), &newest(18, every(4)), &parts, &mut Listener::default()).unwrap();
    assert_eq!(parts.checkpoints().updates(), [4, 8, 12, 16, 18]);
    std::fs::write(parts.checkpoints().folder(18).join("state.safetensors"), "").unwrap();
    let mut listener = Listener::default();
    go(HAND.shared(), &newest(30, every(4)), &parts, &mut listener).unwrap();
    let [warning] = &listener.warnings[..] else { panic!("{:?}", listener.warnings) };
    assert!(warning.code() == codes::CHECKPOINT && warning.message().contains("00000018"), "{warning}");
    for (a, b) in [(whole.state(), parts.state()), (whole.metrics(), parts.metrics()), (whole.plot(), parts.plot())] {
        assert!(std::fs::read(&a).unwrap() == std::fs::read(b).unwrap(), "{}", a.display());
    }
}

#[test]
fn every_checkpoint_is_told_once_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let mut listener = Listener::default();
    go(HAND.shared(), &newest(10, every(4)), &files, &mut listener).unwrap();
    let saved = [4, 8, 10].map(|update| (files.checkpoints().folder(update), update));
    assert_eq!(listener.saved, saved);
}

#[test]
fn nothing_saved_is_replaced_by_a_run_that_starts_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    go(HAND.shared(), &newest(10, every(5)), &files, &mut Listener::default()).unwrap();
    let state = std::fs::read(files.state()).unwrap();
    let older = files.checkpoints().folder(5);
    for start in [Start::Seed, Start::State(older.clone())] {
        let options = TrainOptions { start, ..options(20) };
        let error = go(HAND.shared(), &options, &files, &mut Listener::default()).unwrap_err().remove(0);
        assert!(error.code() == codes::RUN_KEPT && error.message().contains("00000010"), "{error}");
    }
    assert!(std::fs::read(files.state()).unwrap() == state);
    let other = RunFiles::new(folder.path().join("other"));
    go(HAND.shared(), &TrainOptions { start: Start::State(older), ..options(10) }, &other, &mut Listener::default())
        .unwrap();
    assert!(std::fs::read(other.state()).unwrap() == state);
}

#[test]
fn a_wish_is_granted_after_the_update() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let mut listener = Listener { wish: Some((files.clone(), 7)), ..Listener::default() };
    go(HAND.shared(), &newest(20, every(0)), &files, &mut listener).unwrap();
    assert_eq!(files.checkpoints().updates(), [7, 20]);
    assert!(!files.wish().exists());
}

/// The third checkpoint finds the disk full: it is told, and the run goes on. At its end that is an error.
#[test]
fn a_full_disk_costs_the_checkpoint_that_it_is_full_for() {
    let run = |full: fn(usize) -> bool| {
        let folder = tempfile::tempdir().unwrap();
        let files = RunFiles::new(folder.path());
        let links = Arc::new(AtomicUsize::new(0));
        let disk = Disk::planned(move |_, operation| match operation {
            Operation::MakeFolder if full(links.fetch_add(1, Ordering::Relaxed)) => Fate::Fails(ErrorKind::StorageFull),
            _ => Fate::Done,
        });
        let mut listener = Listener::default();
        let ended = go(HAND.shared(), &newest(20, every(5)), &files.clone().on(disk), &mut listener);
        let updates = files.checkpoints().updates();
        (ended.is_ok(), listener.warnings, updates)
    };
    let (ended, warnings, updates) = run(|folder| folder == 2);
    assert!(ended && warnings.len() == 1, "{warnings:?}");
    assert!(warnings[0].message().starts_with("the checkpoint after update 15 was not saved: "), "{warnings:?}");
    assert_eq!(updates, [5, 10, 20]);
    let (ended, warnings, updates) = run(|folder| folder >= 2);
    assert!(!ended && warnings.len() == 1 && updates == [5, 10], "{warnings:?} {updates:?}");
}

/// An executor whose calls of training steps fail at some of their numbers.
#[derive(Debug)]
struct Failing {
    calls: Arc<AtomicUsize>,
    fails: fn(usize) -> bool,
}

impl Executor for Failing {
    fn platform(&self) -> String {
        HAND.platform()
    }

    fn num_devices(&self) -> usize {
        HAND.num_devices()
    }

    fn owns(&self, buffer: &dyn DeviceBuffer) -> bool {
        HAND.owns(buffer)
    }

    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>> {
        let (calls, fails) = (self.calls.clone(), self.fails);
        Ok(Box::new(FailingModule { module: Hand(program.signature().clone(), HAND), calls, fails }))
    }

    fn upload(&self, tensor: &HostTensor, device: usize) -> Result<Buffer> {
        HAND.upload(tensor, device)
    }
}

struct FailingModule {
    module: Hand,
    calls: Arc<AtomicUsize>,
    fails: fn(usize) -> bool,
}

impl Executable for FailingModule {
    fn signature(&self) -> &Signature {
        self.module.signature()
    }

    fn devices(&self) -> &[usize] {
        self.module.devices()
    }

    fn memory_stats(&self) -> Result<MemoryStats> {
        self.module.memory_stats()
    }

    fn execute_replicas(&self, inputs: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>> {
        if inputs[0].len() > 2 && (self.fails)(self.calls.fetch_add(1, Ordering::Relaxed) + 1) {
            return Err(RuntimeError::Execute(Status::new(StatusCode::Internal, "a core hangs")));
        }
        self.module.execute_replicas(inputs)
    }
}

fn failing(fails: fn(usize) -> bool) -> Arc<dyn Executor> {
    Arc::new(Failing { calls: Arc::default(), fails })
}

/// Calls 8 and 20 fail. A run that goes on ends like one to which nothing happened, and says in its folder what did.
#[test]
fn a_run_whose_executor_fails_goes_on_from_the_newest_checkpoint() {
    let (whole, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (whole, files) = (RunFiles::new(whole.path()), RunFiles::new(folder.path()));
    let recovery = RecoveryOptions { restarts: 1, ..RecoveryOptions::default() };
    let options = TrainOptions { recovery, ..newest(30, every(5)) };
    go(HAND.shared(), &options, &whole, &mut Listener::default()).unwrap();
    let mut listener = Listener::default();
    go(failing(|call| call == 8 || call == 20), &options, &files, &mut listener).unwrap();
    assert_eq!(listener.warnings.len(), 2, "there was a newer checkpoint between the two");
    let events = Event::parse(&std::fs::read_to_string(files.events()).unwrap(), &files.events()).unwrap();
    assert_eq!(events.iter().map(Event::update).collect::<Vec<_>>(), [5, 15]);
    for (a, b) in [(whole.state(), files.state()), (whole.metrics(), files.metrics()), (whole.plot(), files.plot())] {
        assert!(std::fs::read(&a).unwrap() == std::fs::read(b).unwrap(), "{}", a.display());
    }
}

#[test]
fn a_run_that_fails_again_and_again_ends() {
    let ended = |restarts, fails: fn(usize) -> bool| {
        let folder = tempfile::tempdir().unwrap();
        let recovery = RecoveryOptions { restarts, ..RecoveryOptions::default() };
        let options = TrainOptions { recovery, ..newest(30, every(5)) };
        let mut listener = Listener::default();
        let error = go(failing(fails), &options, &RunFiles::new(folder.path()), &mut listener).unwrap_err().remove(0);
        assert_eq!(error.code(), codes::RUNTIME_EXECUTE);
        listener.warnings.len()
    };
    assert_eq!(ended(3, |call| call >= 8), 3);
    assert_eq!(ended(0, |call| call >= 8), 0, "it is not asked to go on");
    assert_eq!(ended(3, |call| call >= 2), 0, "there is no checkpoint yet");
}

/// Each of two processes, that are threads here, is told before anything is compiled.
#[test]
fn none_of_several_processes_goes_back_alone() {
    let address = own_address().to_string();
    let refused = |rank| {
        let patience = std::time::Duration::from_secs(30);
        let peers =
            Peers::join(&PeerOptions { rank, world: 2, address: address.clone(), patience, secret: String::new() })
                .unwrap();
        let recovery = RecoveryOptions { restarts: 2, ..RecoveryOptions::default() };
        let options = TrainOptions { recovery, peers: Some(peers), ..options(10) };
        let files = RunFiles::new("/none/never");
        go(HAND.shared(), &options, &files, &mut Listener::default()).unwrap_err().remove(0)
    };
    let told: Vec<Diagnostic> = std::thread::scope(|scope| {
        let threads = [0, 1].map(|rank| {
            scope.spawn({
                let refused = &refused;
                move || refused(rank)
            })
        });
        threads.map(|thread| thread.join().unwrap()).into()
    });
    for error in told {
        assert_eq!(error.code(), codes::RECIPE_CLASH);
        assert!(error.message().starts_with("`recovery.restarts` is 2, "), "{error}");
    }
}
