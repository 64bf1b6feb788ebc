//! Runs that go back before an update that spoils them.

use super::*;
use halite_disk::{Disk, Fate};
use halite_support::Diagnostics;
use std::path::Path;

/// So many updates with a checkpoint every four, in a run that may go back once.
fn recovering(steps: u64, recovery: RecoveryOptions) -> TrainOptions {
    TrainOptions { start: Start::Newest, checkpoint: every(4), recovery, ..options(steps) }
}

fn once() -> RecoveryOptions {
    RecoveryOptions { rollbacks: 1, ..RecoveryOptions::default() }
}

fn go(hand: ByHand, options: &TrainOptions, files: &RunFiles) -> std::result::Result<History, Diagnostics> {
    train(hand.shared(), &bundle(), &numbers(), options, files, &mut Silent)
}

/// The means of the batches of a run, in order.
fn batches(count: usize) -> Vec<f64> {
    let feed = Feed::of(&bundle()).unwrap();
    let mut data = halite_data::Data::open(&numbers(), &feed.takes, 5).unwrap().train;
    (0..count).map(|_| mean(&feed.batch(data.next(feed.rows).unwrap()).unwrap()["tokens"])).collect()
}

/// An executor that one batch spoils, counted from 1: by so much.
fn spoilt_by(batch: usize, by: f64) -> ByHand {
    let means = batches(40);
    assert_eq!(means.iter().filter(|mean| **mean == means[batch - 1]).count(), 1, "there is one such batch");
    ByHand { spoilt: (means[batch - 1], by), ..HAND }
}

/// The losses of a run that takes these batches.
fn losses(batches: &[f64]) -> Vec<f64> {
    let mut weight = 1.0;
    let update = |tokens: &f64| {
        weight = f64::from((0.9 * weight + 0.001 * tokens) as f32);
        weight
    };
    batches.iter().map(update).collect()
}

fn measured_losses(history: &History) -> Vec<f64> {
    history.steps.iter().map(StepRecord::loss).collect()
}

fn events(files: &RunFiles) -> Vec<Event> {
    Event::parse(&std::fs::read_to_string(files.events()).unwrap(), &files.events()).unwrap()
}

#[test]
fn a_loss_that_is_no_number_is_undone_and_its_batches_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let history = go(spoilt_by(11, f64::INFINITY), &recovering(20, once()), &files).unwrap();
    let all = batches(23);
    assert_eq!(measured_losses(&history), losses(&[&all[..8], &all[11..]].concat()));
    let rollback = Rollback { update: 11, to: 8, batches: [9, 11] };
    let [Event::Rollback { rollback: told, loss: None, reason }] = &events(&files)[..] else { panic!("one event") };
    assert_eq!((told, &**reason), (&rollback, "update 11 is not finite: `loss` is inf"));
    assert_eq!(Record::read(&files.state()).unwrap().unwrap().rollbacks, [rollback]);
    assert_eq!(files.checkpoints().updates(), [4, 8, 12, 16, 20]);
    assert_eq!(measured(&files), 20);
}

/// The newest checkpoint is too near: it goes, and what is saved again in its place is of the run that went on.
#[test]
fn a_loss_that_jumps_is_undone_from_a_checkpoint_some_updates_before() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let recovery = RecoveryOptions { loss_jump: 2.0, distance: 6, ..once() };
    let history = go(spoilt_by(27, 5.0), &recovering(30, recovery), &files).unwrap();
    let all = batches(37);
    assert_eq!(measured_losses(&history), losses(&[&all[..20], &all[27..]].concat()));
    let again = Checkpoint::open(&files.checkpoints().folder(24)).unwrap();
    assert_eq!(tensors::read(&again.state).unwrap()["w"].f64s(), [history.steps[23].loss()]);
    let [Event::Rollback { rollback, loss: Some(loss), .. }] = &events(&files)[..] else { panic!("one event") };
    assert_eq!(rollback, &Rollback { update: 27, to: 20, batches: [21, 27] });
    assert!(*loss > 5.0);
    let unheeded = RunFiles::new(folder.path().join("unheeded"));
    let recovery = RecoveryOptions { loss_jump: 2.0, distance: 27, ..once() };
    let history = go(spoilt_by(27, 5.0), &recovering(30, recovery), &unheeded).unwrap();
    assert!(history.steps[26].loss() > 5.0 && !unheeded.events().exists(), "there is no checkpoint so far before");
}

#[test]
fn a_run_goes_back_as_often_as_it_may() {
    let ended = |rollbacks, steps| {
        let folder = tempfile::tempdir().unwrap();
        let files = RunFiles::new(folder.path());
        let hand = ByHand { finite: 10.0, ..HAND };
        let recovery = RecoveryOptions { rollbacks, ..once() };
        let error = go(hand, &TrainOptions { checkpoint: every(steps), ..recovering(20, recovery) }, &files);
        assert_eq!(error.unwrap_err()[0].code(), codes::DIVERGED);
        if files.events().exists() { events(&files).len() } else { 0 }
    };
    assert_eq!((ended(0, 4), ended(3, 4), ended(3, 15)), (0, 3, 0));
}

/// The files of a run that do not depend on time or on how often it was started.
fn left(folder: &Path) -> Vec<Vec<u8>> {
    let files = RunFiles::new(folder);
    [files.state(), files.metrics(), files.plot(), files.recipe()].map(|path| std::fs::read(path).unwrap()).into()
}

/// Killed at any call to the disk and gone on with, it ends in the bytes of one that nobody killed.
#[test]
fn a_run_that_goes_back_and_is_killed_anywhere_can_be_resumed() {
    let (whole, hand) = (tempfile::tempdir().unwrap(), spoilt_by(7, f64::INFINITY));
    go(hand, &recovering(10, once()), &RunFiles::new(whole.path())).unwrap();
    let rollbacks =
        |files: &RunFiles| events(files).into_iter().filter(|event| matches!(event, Event::Rollback { .. })).count();
    let mut gone_back = 0;
    for n in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::planned(move |number, _| if number == n { Fate::Killed } else { Fate::Done });
        let files = RunFiles::new(folder.path());
        let ended = go(hand, &recovering(10, once()), &files.clone().on(disk.clone()));
        if disk.calls() <= n {
            assert!(ended.is_ok() && n > 50);
            break;
        }
        gone_back += u64::from(files.events().exists() && files.checkpoints().updates() == [4]);
        go(hand, &recovering(10, once()), &files).unwrap();
        assert!(left(folder.path()) == left(whole.path()), "call {n}");
        assert_eq!(rollbacks(&files), 1, "call {n}");
    }
    assert!(gone_back > 2, "{gone_back} runs had gone back");
}

/// A batch that spoiled an update may not do so again: that it is skipped is on the disk before the run goes on.
#[test]
fn a_run_that_is_killed_after_it_went_back_skips_what_it_skipped() {
    struct Killed;
    impl Observer for Killed {
        fn warned(&mut self, warning: &halite_support::Diagnostic) {
            assert!(!warning.message().starts_with("the run goes back"), "killed");
        }
    }
    let (whole, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (hand, files) = (spoilt_by(7, f64::INFINITY), RunFiles::new(folder.path()));
    go(hand, &recovering(10, once()), &RunFiles::new(whole.path())).unwrap();
    let killed = std::panic::AssertUnwindSafe(|| {
        train(hand.shared(), &bundle(), &numbers(), &recovering(10, once()), &files, &mut Killed)
    });
    assert!(std::panic::catch_unwind(killed).is_err());
    go(HAND, &recovering(10, once()), &files).unwrap();
    assert!(left(folder.path()) == left(whole.path()));
}
