//! The training loop.

use super::checkpoint::is_due;
use super::failure::{self, Restarts};
use super::feed::Feed;
use super::programs::Programs;
use super::record::Record;
use super::rollbacks::Rollbacks;
use super::saver::Saver;
use super::start::Started;
use super::state::Updates;
use super::together::Together;
use super::update::Run;
use super::watch::{Part, Utilization, Watch};
use super::{Event, History, Observer, RunFiles, Startup, TrainOptions, samples, start};
use halite_bundle::{Bundle, check_state};
use halite_data::{Ahead, Data};
use halite_runtime::Executor;
use halite_support::{Diagnostic, Diagnostics, codes};
use std::sync::Arc;
use std::time::Instant;

/// The most batches that wait while an update is made.
const BATCHES_AHEAD: usize = 2;

/// Trains a bundle on data, and leaves recipe, metrics, plot and final state in the folder. Metrics and plot are also written at each
/// evaluation, and [checkpoints](super::Checkpoints) as [`checkpoint`](TrainOptions::checkpoint) says. A state carries a [`Record`] of
/// the run that made it, and a run that is resumed from it is checked against that.
///
/// # Errors
/// When several processes are to recover alone, the bundle lacks a training step on sequences, the data cannot be read, state or
/// weights do not fit, the state comes from another run, the folder has another run at work or checkpoints of later updates, the last
/// state cannot be written, the executor fails, the run diverges, or it is cancelled. A run diverges where an update or an evaluation
/// is not finite or, with `nonfinite = "skip"`, a hundred updates in a row are not: metrics and plot are written, and the last state
/// that was saved stays.
pub fn train(
    executor: Arc<dyn Executor>,
    bundle: &Bundle,
    data: &dyn Data,
    options: &TrainOptions,
    output: &RunFiles,
    observer: &mut dyn Observer,
) -> std::result::Result<History, Diagnostics> {
    let output = match &options.peers {
        Some(peers) => &output.clone().of_rank(peers.rank()),
        None => output,
    };
    if let Some(peers) = &options.peers {
        peers.in_stages_of(bundle.manifest.mesh.num_ranks());
    }
    let ended = run_to_end(executor, bundle, data, options, output, observer);
    if let (Some(peers), Err(errors)) = (&options.peers, &ended) {
        peers.fail(errors);
    }
    ended
}

/// As [`train`], of one process.
fn run_to_end(
    executor: Arc<dyn Executor>,
    bundle: &Bundle,
    source: &dyn Data,
    options: &TrainOptions,
    output: &RunFiles,
    observer: &mut dyn Observer,
) -> std::result::Result<History, Diagnostics> {
    failure::check(options)?;
    let feed = Feed::of(bundle)?;
    let mut data = source.open(&feed.takes, options.seed)?;
    feed.check(data.train.as_ref())?;
    let warnings = data.warnings();
    let record = Record::new(bundle, &data, options.seed)?;
    let start::Started { tensors, rollbacks } =
        start::started(bundle, output, (&record, data.train.as_mut()), options, observer)?;
    // Before anything is compiled.
    check_state(&bundle.manifest, &tensors)?;
    let train = Box::new(Ahead::new(data.train, feed.rows, BATCHES_AHEAD));
    let start = Updates::of(&bundle.manifest, &tensors).attempted;
    start::check_kept(output, start)?;
    let utilization = Utilization::of(&bundle.manifest, executor.as_ref());
    let began = Instant::now();
    let programs = Programs::load(executor.clone(), bundle, data.held_out, options.eval_batches)?;
    let programs = match &options.peers {
        Some(peers) => programs.with_peers(peers)?,
        None => programs,
    };
    let load_seconds = began.elapsed().as_secs_f64();
    let together = Together::of(options.peers.as_ref(), &options.cancel);
    let mut step = programs.step().with_cancel(together.cancel.clone());
    step.set_state(tensors)?;
    let mut run = Run::new(&programs, train, step);
    (run.history, run.rollbacks) = (output.history(start)?, rollbacks);
    // Nothing is written before all have read.
    together.compare(&told(options, &record.at(start, run.position.clone(), &run.rollbacks), &run.history))?;
    let _lock = output.lock()?;
    // Another run may have come and gone.
    start::check_kept(output, start)?;
    output.begin(&bundle.manifest.recipe, options)?;
    let watch = &mut output.watch(&bundle.manifest.recipe, &run.history, start, observer)?.on(utilization);
    let startup = Startup::here(start, executor.as_ref(), options.compile_seconds, load_seconds);
    output.add_startup(watch, Startup { update_seconds: options.update_seconds, ..startup })?;
    if start > 0 {
        output.add_event(watch, Event::Resume { update: start })?;
    }
    watch.started(start);
    warnings.iter().chain(&programs.warnings).for_each(|warning| watch.warned(warning));
    let mut saver = Saver::new(output, options, &record);
    let ended = go_on(&mut run, bundle, &record, (options, &together), &mut saver, output, watch);
    run.tell_skipped(true, watch);
    let ended = keep(ended, &run, &mut saver, output, watch)?;
    if ended.is_ok() {
        sample((&run, executor), bundle, source, options, output, &mut saver, watch)?;
    }
    together.end()?;
    ended.map(|()| run.history)
}

/// Saves the results of a run that ended, also where it was cancelled; where it diverged, all but the state. Returns how it ended.
///
/// # Errors
/// The other errors that ended it, with those of writing.
fn keep(
    ended: std::result::Result<(), Diagnostics>,
    run: &Run<'_>,
    saver: &mut Saver<'_>,
    output: &RunFiles,
    watch: &mut Watch<'_>,
) -> std::result::Result<std::result::Result<(), Diagnostics>, Diagnostics> {
    let ended_by = |code| matches!(&ended, Err(errors) if errors.iter().all(|error| error.code() == code));
    if ended.is_ok() || ended_by(codes::CANCELLED) {
        saver.end(run, watch)?;
        return Ok(ended);
    }
    saver.wait(watch);
    let unwritten = saver.write(run, watch);
    if ended_by(codes::DIVERGED) {
        unwritten?;
        return Ok(ended);
    }
    let (kept, errors) = (failure::kept(output), ended.err().unwrap_or_default());
    Err(errors.into_iter().map(|error| error.note(kept.clone())).chain(unwritten.err()).collect())
}

/// Generates texts for the page of a run whose state is saved. A failure of the executor is only reported: the run is complete.
fn sample(
    (run, executor): (&Run<'_>, Arc<dyn Executor>),
    bundle: &Bundle,
    data: &dyn Data,
    options: &TrainOptions,
    output: &RunFiles,
    saver: &mut Saver<'_>,
    watch: &mut Watch<'_>,
) -> std::result::Result<(), Diagnostics> {
    match samples::of(run, executor, bundle, data, options) {
        Ok(samples) if samples.is_empty() => {}
        Ok(samples) => {
            output.write_samples(watch, samples)?;
            saver.write(run, watch)?;
        }
        Err(errors) => errors.iter().for_each(|error| {
            let message = format!("the page of the run has no samples of text: {}", error.message());
            watch.warned(&Diagnostic::warning(error.code(), message));
        }),
    }
    Ok(())
}

/// The values that must be equal in all processes of a run.
fn told(options: &TrainOptions, record: &Record, history: &History) -> serde_json::Value {
    serde_json::json!({
        "made": record,
        "updates": options.steps,
        "eval_every": options.eval_every,
        "eval_batches": options.eval_batches,
        "checkpoint_every": options.checkpoint.every,
        "measured": [history.steps.len(), history.evals.len()],
    })
}

/// All updates from where a run is; where the executor fails or the run is spoiled, again from a checkpoint, as often as that is
/// allowed.
fn go_on(
    run: &mut Run<'_>,
    bundle: &Bundle,
    record: &Record,
    (options, together): (&TrainOptions, &Together<'_>),
    saver: &mut Saver<'_>,
    output: &RunFiles,
    watch: &mut Watch<'_>,
) -> std::result::Result<(), Diagnostics> {
    let (mut restarts, rollbacks) = (Restarts::new(options), Rollbacks::new(options, output, record));
    loop {
        let Err(errors) = go(run, (options, together), &rollbacks, saver, watch) else { return Ok(()) };
        saver.wait(watch);
        let checkpoint = match rollbacks.next(run, &errors, watch)? {
            None => restarts.next(output, &errors, watch)?,
            back => back,
        };
        let Some(checkpoint) = checkpoint else { return Err(errors) };
        let Started { tensors, rollbacks } =
            start::resumed(bundle, &checkpoint.state, (record, run.data()), options, watch)?;
        run.go_back(tensors, rollbacks)?;
        watch.go_back(run.step.attempted(), &run.history)?;
        saver.went_back();
    }
}

/// All updates from where a run is.
fn go(
    run: &mut Run<'_>,
    (options, together): (&TrainOptions, &Together<'_>),
    rollbacks: &Rollbacks<'_>,
    saver: &mut Saver<'_>,
    watch: &mut Watch<'_>,
) -> std::result::Result<(), Diagnostics> {
    let start = run.step.attempted();
    // Of a run that was stopped, the last evaluation may be missing; where none was due, none is made.
    let due = start - start.checked_rem(options.eval_every).unwrap_or(start);
    if run.history.evals.last().is_none_or(|eval| eval.step < due) {
        run.evaluate(start, watch)?;
        watch.spent(Part::Evaluation);
    }
    for step in start + 1..=options.steps {
        saver.look(watch);
        if together.heed(step, saver.is_asked())? {
            saver.save(run, watch)?;
        }
        watch.spent(Part::Writing);
        let batch = run.batch()?;
        run.tell_skipped(false, watch);
        watch.spent(Part::Data);
        run.step(step, &batch, watch)?;
        watch.spent(Part::Step);
        watch.completed(step, run.amount());
        rollbacks.heed(run, saver, watch)?;
        let is_evaluated = is_due(step, options.eval_every) || step == options.steps;
        if is_evaluated {
            run.evaluate(step, watch)?;
            watch.spent(Part::Evaluation);
        }
        saver.updated(run, is_evaluated, watch)?;
        watch.spent(Part::Writing);
    }
    Ok(())
}
