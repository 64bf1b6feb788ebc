//! Observers, times, alarms and pages of runs.

use super::*;
use halite_data::{Data, Dataset, Opened, Position, Rows, Skipped, Takes};
use halite_support::Diagnostic;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The calls that an observer receives, in order, without values that depend on time.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Observer for Heard {
    fn started(&mut self, step: u64) {
        self.say(format!("started after {step}"));
    }

    fn stepped(&mut self, record: &StepRecord) {
        self.say(format!("stepped {}", record.step));
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        self.say(format!("evaluated {}", record.step));
    }

    fn timed(&mut self, record: &TimeRecord) {
        assert!(record.compute > 0.0 && record.data > 0.0 && record.rate() > 0.0);
        self.say(format!("timed {} of {}", record.step, record.seen.number()));
    }

    fn warned(&mut self, warning: &Diagnostic) {
        self.say(warning.message().to_owned());
    }

    fn written(&mut self) -> halite_support::Result<()> {
        self.say("written".to_owned());
        Ok(())
    }
}

impl Heard {
    fn say(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[test]
fn every_observer_of_a_list_hears_all_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (Heard::default(), Heard::default());
    let mut all: Vec<Box<dyn Observer>> = vec![Box::new(one.clone()), Box::new(other.clone())];
    let options = TrainOptions { eval_every: 2, ..options(3) };
    train(HAND.shared(), &bundle(), &numbers(), &options, &RunFiles::new(folder.path()), &mut all).unwrap();
    let expected = [
        "started after 0",
        "evaluated 0",
        "stepped 1",
        "timed 1 of 6",
        "stepped 2",
        "timed 2 of 6",
        "evaluated 2",
        "written",
        "stepped 3",
        "timed 3 of 6",
        "evaluated 3",
        "written",
        "written",
    ];
    assert_eq!(one.take(), expected);
    assert_eq!(other.take(), expected);
}

/// The numbers of the updates whose times are in the folder of a run.
fn timed(files: &RunFiles) -> Vec<u64> {
    let text = std::fs::read_to_string(files.timing()).unwrap();
    let times = Times::parse(&text, &files.timing(), u64::MAX).unwrap();
    times.records().iter().map(|record| record.step).collect()
}

#[test]
fn a_run_that_is_resumed_has_the_time_of_every_update_once() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let go = |steps, start| {
        let options = TrainOptions { start, checkpoint: every(5), ..options(steps) };
        train(HAND.shared(), &bundle(), &numbers(), &options, &files, &mut Silent)
    };
    go(20, Start::Seed).unwrap();
    go(26, Start::Newest).unwrap();
    assert_eq!(timed(&files), (1..=26).collect::<Vec<_>>());
    std::fs::remove_dir_all(files.checkpoints().folder(26)).unwrap();
    go(25, Start::Newest).unwrap();
    assert_eq!(timed(&files), (1..=25).collect::<Vec<_>>());
}

/// The warnings that an observer receives.
#[derive(Default)]
struct Warned(Vec<String>);

impl Observer for Warned {
    fn warned(&mut self, warning: &Diagnostic) {
        self.0.push(warning.message().to_owned());
    }
}

#[test]
fn a_run_goes_on_where_its_telemetry_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let go = |steps, start| {
        let (options, mut warned) = (TrainOptions { start, checkpoint: every(5), ..options(steps) }, Warned::default());
        train(HAND.shared(), &bundle(), &numbers(), &options, &files, &mut warned).unwrap();
        warned.0
    };
    go(20, Start::Seed);
    let whole = std::fs::read(files.timing()).unwrap();
    std::fs::write(files.timing(), &whole[..whole.len() - 20]).unwrap();
    let told = go(22, Start::Newest);
    assert!(
        told[0].starts_with("line 20 of `") && told[0].ends_with("timing.jsonl` is no record of a run"),
        "{told:?}"
    );
    assert_eq!(timed(&files), (1..=19).chain([21, 22]).collect::<Vec<_>>());
    std::fs::write(files.timing(), b"\0\xff\n{}\n").unwrap();
    std::fs::write(files.events(), b"{\"what\n").unwrap();
    let told = go(24, Start::Newest);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("line 1, and 1 more lines of `"), "{told:?}");
    assert_eq!(timed(&files), [23, 24]);
}

/// A run writes only into its folder, and files elsewhere stay as they were.
#[test]
fn nothing_in_the_folder_of_a_run_leads_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let (run, precious) = (folder.path().join("run"), folder.path().join("precious"));
    std::fs::create_dir_all(precious.join("00000001")).unwrap();
    std::fs::write(precious.join("file"), "precious").unwrap();
    let files = RunFiles::new(&run);
    let lock = run.join("run.lock");
    let each = [
        files.recipe(),
        files.metrics(),
        files.timing(),
        files.events(),
        files.plot(),
        files.report(),
        files.state(),
        lock,
    ];
    let each =
        each.into_iter().map(|path| (path, "file")).chain([(run.join("checkpoints"), ""), (files.tensorboard(), "")]);
    for (path, end) in each {
        std::fs::create_dir_all(&run).unwrap();
        std::os::unix::fs::symlink(precious.join(end), &path).unwrap();
        let refused = train(HAND.shared(), &bundle(), &numbers(), &options(3), &files, &mut Silent).unwrap_err();
        assert!(refused[0].message().contains("it is a link to `"), "{}: {refused:?}", path.display());
        assert_eq!(std::fs::read_dir(&run).unwrap().count(), 1, "{}", path.display());
        std::fs::remove_dir_all(&run).unwrap();
    }
    assert_eq!(std::fs::read(precious.join("file")).unwrap(), b"precious");
    assert!(precious.join("00000001").is_dir());
}

/// Losses are about 1, so that their median is below the floor from the first that there is.
#[test]
fn alarms_are_heard_once_and_are_on_the_page_of_a_run_that_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let mut bundle = bundle();
    bundle.manifest.recipe.metrics.loss_floor = 2.0;
    let heard = Heard::default();
    let go = |steps, start| {
        let options = TrainOptions {
            start,
            page: Some(|_, _, seen| Ok(seen.alarms.iter().map(|alarm| format!("{}\n", alarm.step)).collect())),
            ..options(steps)
        };
        let mut observer = heard.clone();
        train(HAND.shared(), &bundle, &numbers(), &options, &files, &mut observer).unwrap();
        heard.take().iter().filter(|said| said.starts_with("the training loss is too good")).count()
    };
    let page = || std::fs::read_to_string(files.report()).unwrap();
    assert_eq!((go(30, Start::Seed), page().lines().count()), (1, 1));
    assert_eq!((go(40, Start::State(files.state())), page().lines().count()), (0, 1));
}

#[test]
fn a_recipe_can_do_without_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let mut bundle = bundle();
    bundle.manifest.recipe.metrics.report = false;
    let options = TrainOptions { page: Some(|_, _, _| Ok("page".into())), ..options(3) };
    train(HAND.shared(), &bundle, &numbers(), &options, &files, &mut Silent).unwrap();
    assert!(!files.report().exists() && !files.tensorboard().exists());
}

/// 6 tokens of 1,000 operations each are 6,000 of the 10^6 that the one rank could do in a second.
#[test]
fn the_utilization_is_that_of_the_peak_of_all_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let mut bundle = bundle();
    (bundle.manifest.statistics.model_flops_per_token, bundle.manifest.statistics.peak_flops) = (1000, Some(1_000_000));
    train(HAND.shared(), &bundle, &numbers(), &options(3), &files, &mut Silent).unwrap();
    let text = std::fs::read_to_string(files.timing()).unwrap();
    for record in Times::parse(&text, &files.timing(), 3).unwrap().records() {
        let expected = 6e-3 / (record.data + record.compute);
        assert!((record.mfu.unwrap() / expected - 1.0).abs() < 1e-12, "{record:?}");
    }
    bundle.manifest.statistics.peak_flops = None;
    let files = RunFiles::new(folder.path().join("without"));
    train(HAND.shared(), &bundle, &numbers(), &options(3), &files, &mut Silent).unwrap();
    assert!(!std::fs::read_to_string(files.timing()).unwrap().contains("mfu"));
}

/// A data set that leaves something out with every sequence.
struct Leaving(Box<dyn Dataset>, u64);

impl Dataset for Leaving {
    fn next(&mut self, rows: usize) -> halite_support::Result<Rows> {
        self.1 += rows as u64;
        self.0.next(rows)
    }

    fn position(&self) -> Position {
        self.0.position()
    }

    fn seek(&mut self, position: &Position) -> halite_support::Result<()> {
        self.0.seek(position)
    }

    fn epochs(&self) -> u64 {
        self.0.epochs()
    }

    fn identity(&self) -> BTreeMap<String, String> {
        self.0.identity()
    }

    fn vocabulary(&self) -> u64 {
        self.0.vocabulary()
    }

    fn skipped(&self) -> Vec<Skipped> {
        vec![Skipped { reason: "no text".into(), count: self.1, example: "a.jsonl:3".into() }]
    }
}

/// The data that [`Leaving`] leaves something out of.
struct Gaps;

impl Data for Gaps {
    fn open(&self, takes: &Takes, seed: u64) -> halite_support::Result<Opened> {
        let opened = numbers().open(takes, seed)?;
        Ok(Opened { train: Box::new(Leaving(opened.train, 0)), ..opened })
    }
}

#[test]
fn what_is_left_out_of_the_data_is_told_when_it_first_is_and_in_all() {
    let folder = tempfile::tempdir().unwrap();
    let heard = Heard::default();
    let mut observer = heard.clone();
    let files = RunFiles::new(folder.path());
    train(HAND.shared(), &bundle(), &Gaps, &options(5), &files, &mut observer).unwrap();
    let told: Vec<_> = heard.take().into_iter().filter(|said| said.starts_with("left out")).collect();
    let of = |count| format!("left out of the data, {count} up to here: no text");
    assert_eq!(told, [of(2), of(10)]);
}
