//! Runs that are killed, and states that come from other runs.

use super::*;
use halite_disk::{Disk, Fate};
use halite_recipe::{Clip, Parallel};
use halite_support::{Diagnostic, Diagnostics, codes};
use std::io::ErrorKind;
use std::path::Path;

fn saving(steps: u64) -> TrainOptions {
    TrainOptions { checkpoint: every(3), eval_every: 4, ..options(steps) }
}

/// A run that writes all that a run can write.
fn run(options: &TrainOptions, files: &RunFiles) -> std::result::Result<History, Diagnostics> {
    let mut bundle = bundle();
    bundle.manifest.recipe.metrics.tensorboard = true;
    let options =
        TrainOptions { page: Some(|title, _, seen| Ok(format!("{title} {:?}", seen.history))), ..options.clone() };
    train(HAND.shared(), &bundle, &numbers(), &options, files, &mut Silent)
}

/// The files of a run that do not depend on time, nor on how often it was started.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let entries = entries.filter(|entry| entry.path().is_file());
    let entries = entries.filter(|entry| {
        !["timing.jsonl", "events.jsonl", "startup.jsonl"].iter().any(|name| entry.file_name() == **name)
    });
    let mut files: Vec<_> =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect();
    files.sort();
    files
}

/// At whatever call the disk fails or the power goes, what is there is whole, and the run that is resumed from it, or started
/// again where no state was saved yet, ends in the bytes of one that nothing happened to.
#[test]
fn a_run_that_is_killed_anywhere_can_be_resumed() {
    let whole = tempfile::tempdir().unwrap();
    let calm = Disk::planned(|_, _| Fate::Done);
    run(&saving(10), &RunFiles::new(whole.path()).on(calm.clone())).unwrap();
    let mut resumed = 0;
    for fate in [Fate::Fails(ErrorKind::StorageFull), Fate::Killed] {
        for n in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let disk = Disk::planned(move |number, _| if number == n { fate } else { Fate::Done });
            let output = RunFiles::new(folder.path());
            let mut warnings = Warnings::default();
            let on_disk = output.clone().on(disk.clone());
            let ended = train(HAND.shared(), &bundle(), &numbers(), &saving(10), &on_disk, &mut warnings);
            if disk.calls() <= n {
                assert!(ended.is_ok() && n > 50);
                break;
            }
            assert!(ended.is_err() || !warnings.0.is_empty(), "call {n} failed and nobody says so");
            resumed += u64::from(output.checkpoints().newest().checkpoint.is_some());
            run(&TrainOptions { start: Start::Newest, ..saving(10) }, &output.on(calm.clone())).unwrap();
            let (found, expected) = (files(folder.path()), files(whole.path()));
            let differs: Vec<_> = found.iter().filter(|file| !expected.contains(file)).map(|(name, _)| name).collect();
            assert!(found == expected, "call {n} of {fate:?}: {differs:?}");
        }
    }
    assert!(resumed > 50, "{resumed} runs had a state to resume from");
}

#[test]
fn a_run_that_is_stopped_between_evaluations_measures_what_it_would_have() {
    struct Stop(halite_support::CancelToken);
    impl Observer for Stop {
        fn stepped(&mut self, record: &StepRecord) {
            if record.step == 7 {
                self.0.cancel();
            }
        }
    }
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&saving(10), &RunFiles::new(whole.path())).unwrap();
    let (options, output) = (saving(10), RunFiles::new(parts.path()));
    let mut stop = Stop(options.cancel.clone());
    train(HAND.shared(), &bundle(), &numbers(), &options, &output, &mut stop).unwrap_err();
    run(&TrainOptions { start: Start::State(output.state()), ..saving(10) }, &output).unwrap();
    assert!(files(whole.path()) == files(parts.path()));
}

/// The warnings that an observer receives.
#[derive(Default)]
struct Warnings(Vec<Diagnostic>);

impl Observer for Warnings {
    fn warned(&mut self, warning: &Diagnostic) {
        self.0.push(warning.clone());
    }
}

/// A folder with the state of ten updates.
fn ten() -> (tempfile::TempDir, RunFiles) {
    let folder = tempfile::tempdir().unwrap();
    let output = RunFiles::new(folder.path().join("run"));
    run(&options(10), &output).unwrap();
    (folder, output)
}

#[test]
fn a_state_of_another_run_is_refused_and_each_difference_named() {
    let (folder, output) = ten();
    let mut other = bundle();
    let optimizer = &mut other.manifest.recipe.optimizer;
    (optimizer.lr, optimizer.clip) = (0.02, Some(Clip::Norm(1.0)));
    other.manifest.recipe.train.steps = 7;
    let other_numbers = Numbers { train: 1..161, held_out: 161..201 };
    let start = Start::State(output.state());
    let options = TrainOptions { start, seed: 6, ..options(20) };
    let files = RunFiles::new(folder.path().join("other"));
    let mut warnings = Warnings::default();
    let error = train(HAND.shared(), &other, &other_numbers, &options, &files, &mut warnings).unwrap_err().remove(0);
    assert_eq!(error.code(), codes::OTHER_RUN);
    let notes = error.notes();
    assert_eq!(notes[0], "`data.numbers` was 0..180, now it is 1..161");
    assert_eq!(notes[1], "`optimizer.adamw.clip_norm` was not set, now it is 1.0");
    assert_eq!(notes[2], "`optimizer.adamw.lr` was 0.001, now it is 0.02");
    assert_eq!((&*notes[3], notes.len()), ("`seed` was 5, now it is 6", 4));
    assert!(error.help_text().unwrap().contains("--allow-changes"));
    assert!(!folder.path().join("other").exists() && warnings.0.is_empty());
    let options = TrainOptions { allow_changes: true, ..options };
    train(HAND.shared(), &other, &other_numbers, &options, &files, &mut warnings).unwrap();
    assert_eq!((warnings.0[0].notes(), warnings.0.len()), (notes, 1));
    assert_eq!(tensors::read(&files.state()).unwrap()["step"].ints(), [20]);
}

#[test]
fn a_state_of_another_program_is_refused() {
    let (_folder, output) = ten();
    let mut other = bundle();
    let hlo = other.files.get("eval.hlo.pb").unwrap().clone();
    other.files.insert("train_step.hlo.pb".into(), hlo);
    let options = TrainOptions { start: Start::State(output.state()), ..options(20) };
    let error = train(HAND.shared(), &other, &numbers(), &options, &output, &mut Silent).unwrap_err().remove(0);
    assert!(error.code() == codes::OTHER_RUN && error.notes()[0].starts_with("the program was "), "{error}");
}

/// The bundle on another layout, whose program is another.
fn laid_out(batch: usize, data: u32) -> Bundle {
    let mut bundle = bundle();
    let ModuleEntry { role, inputs, outputs, .. } = &bundle.manifest.modules[0];
    let hlo = signed(role, BinaryOp::Multiply, inputs, outputs);
    let recipe = &mut bundle.manifest.recipe;
    recipe.batch = Some(batch);
    recipe.parallel = Some(Parallel { data, tensor: 4, ..Parallel::default() });
    bundle.files.insert("train_step.hlo.pb".into(), hlo);
    bundle
}

#[test]
fn a_state_of_another_layout_is_gone_on_from_and_told_in_one_line() {
    let (whole, whole_files) = (tempfile::tempdir().unwrap(), |folder: &Path| RunFiles::new(folder));
    run(&options(20), &whole_files(whole.path())).unwrap();
    let (_folder, output) = ten();
    let options = TrainOptions { start: Start::State(output.state()), ..options(20) };
    let mut warnings = Warnings::default();
    train(HAND.shared(), &laid_out(1, 2), &numbers(), &options, &output, &mut warnings).unwrap();
    let [warning] = &warnings.0[..] else { panic!("{:?}", warnings.0) };
    assert_eq!(warning.code(), codes::OTHER_LAYOUT);
    assert!(warning.notes().is_empty() && warning.help_text().is_none());
    let told = "was saved on another layout: `data` was 1, now it is 2; `tensor` was 1, now it is 4";
    assert!(warning.message().ends_with(told), "{warning}");
    // The text goes on where it was.
    let metrics = |files: &RunFiles| std::fs::read(files.metrics()).unwrap();
    assert!(metrics(&output) == metrics(&whole_files(whole.path())));
    let record = Record::read(&output.state()).unwrap().unwrap();
    assert_eq!((record.step, record.layout["tensor"].as_str()), (20, "4"));
}

#[test]
fn what_else_differs_on_another_layout_is_refused() {
    let (_folder, output) = ten();
    let refused = |bundle: &Bundle| {
        let options = TrainOptions { start: Start::State(output.state()), ..options(20) };
        let error = train(HAND.shared(), bundle, &numbers(), &options, &output, &mut Silent).unwrap_err().remove(0);
        assert_eq!(error.code(), codes::OTHER_RUN);
        error.notes().to_vec()
    };
    assert_eq!(refused(&laid_out(2, 2)), ["`parallel.global_batch` was 2, now it is 4"]);
    let mut other = laid_out(1, 2);
    other.manifest.recipe.target = "trn1".into();
    assert_eq!(refused(&other), ["`target` was \"cpu\", now it is \"trn1\""]);
    let mut other = laid_out(1, 2);
    other.manifest.model.sha256 = sha256(b"another");
    let notes = refused(&other);
    assert!(notes.len() == 1 && notes[0].starts_with("the model was "), "{notes:?}");
}

/// As version 1 had it: a record that says no version, of a state that stored what the bundle did.
#[test]
fn a_state_of_another_version_is_refused_with_what_to_do() {
    let (_folder, output) = ten();
    let state = tensors::read(&output.state()).unwrap();
    let refused = |record: &str| {
        std::fs::write(output.state(), tensors::to_bytes(&state, Some((record::KEY, record))).unwrap()).unwrap();
        let options = TrainOptions { start: Start::State(output.state()), allow_changes: true, ..options(20) };
        run(&options, &output).unwrap_err().remove(0)
    };
    let old = refused(r#"{"step": 10, "program": "0123", "made_by": {"seed": "5"}}"#);
    assert_eq!(old.code(), codes::VERSION);
    assert!(old.message().ends_with("has version 1, this build reads version 3"), "{old}");
    assert!(old.help_text().unwrap().contains("halite convert BUNDLE"), "{old}");
    let new = refused(r#"{"version": 4}"#);
    assert!(new.help_text().unwrap().contains("newer"), "{new}");
    for damaged in ["[]", "3", r#"{"version": "3"}"#, r#"{"version": 3}"#] {
        assert_eq!(refused(damaged).code(), codes::TENSOR_FILE, "{damaged}");
    }
}

#[test]
fn a_state_without_a_record_is_taken_with_a_warning() {
    let (folder, output) = ten();
    let mut states =
        vec![tensors::read(&output.state()).unwrap(), halite_bundle::init::initial_state(&bundle(), 9).unwrap()];
    for (count, state) in [1, 0].into_iter().zip(states.drain(..)) {
        let path = folder.path().join("bare.safetensors");
        tensors::write(&path, &state).unwrap();
        assert_eq!(Record::read(&path).unwrap(), None);
        let mut warnings = Warnings::default();
        let options = TrainOptions { start: Start::State(path), ..options(20) };
        let files = RunFiles::new(folder.path().join(count.to_string()));
        train(HAND.shared(), &bundle(), &numbers(), &options, &files, &mut warnings).unwrap();
        assert_eq!(warnings.0.len(), count, "one of the initial state starts any run");
        assert!(warnings.0.iter().all(|warning| warning.message().ends_with("does not say what made it")));
    }
}

#[test]
fn a_record_says_how_far_it_is_and_one_that_is_none_is_refused() {
    let (_folder, output) = ten();
    let record = Record::read(&output.state()).unwrap().unwrap();
    assert_eq!((record.step, record.seed()), (10, Some(5)));
    assert_eq!(record.made_by["model.name"], "\"llama\"");
    let state = tensors::read(&output.state()).unwrap();
    let bytes = tensors::to_bytes(&state, Some((record::KEY, "[[["))).unwrap();
    std::fs::write(output.state(), bytes).unwrap();
    let options = TrainOptions { start: Start::State(output.state()), ..options(20) };
    let error = run(&options, &output).unwrap_err().remove(0);
    assert_eq!(error.code(), codes::TENSOR_FILE);
}

/// It is there before the first update, and a run of it is this run.
#[test]
fn a_run_folder_holds_its_recipe_from_the_start() {
    struct Looks(RunFiles, Option<String>);
    impl Observer for Looks {
        fn started(&mut self, _: u64) {
            self.1 = std::fs::read_to_string(self.0.recipe()).ok();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let output = RunFiles::new(folder.path());
    let recovery = RecoveryOptions { restarts: 2, ..RecoveryOptions::default() };
    let options = TrainOptions { checkpoint: every(2), recovery, ..options(3) };
    let mut looks = Looks(output.clone(), None);
    train(HAND.shared(), &bundle(), &numbers(), &options, &output, &mut looks).unwrap();
    let recipe: halite_recipe::Recipe = toml::from_str(&looks.1.expect("it is there")).unwrap();
    let train = halite_recipe::Train { seed: 5, steps: 3, eval_every: 10, eval_batches: 2 };
    let (checkpoint, recovery) = (options.checkpoint, options.recovery);
    assert_eq!(recipe, halite_recipe::Recipe { train, checkpoint, recovery, ..bundle().manifest.recipe });
}
