//! The programs of stages, run as a bundle of them says.
//!
//! What they are compared with are programs of the same recipe on one stage: the state and the batch of these, by the names of the model,
//! are what the stages are given, and the tensors of the model are what is compared afterwards.

use crate::outputs::{Output, Outputs};
use halite::Session;
use halite::compile::{CompileOptions, locate};
use halite::source::Source;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Buffer, Bundle, ModuleRole, init};
use halite_passes::Audit;
use halite_recipe::{Nonfinite, Parallel};
use halite_runtime::Executor;
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::{DType, HostTensor, Shape};
use halite_train::{Inference, TrainStep};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// The stages that ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct StagesRun {
    /// How many there are.
    pub stages: usize,
    /// Parts of the model on each.
    pub chunks: usize,
    /// The word of the schedule of an update; `None` where parts run once, one after another.
    pub schedule: Option<String>,
    /// Micro-batches that each part ran on.
    pub micro_batches: usize,
}

impl fmt::Display for StagesRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} stages", self.stages)?;
        if self.chunks > 1 {
            write!(f, " of {} parts", self.chunks)?;
        }
        match &self.schedule {
            Some(word) => {
                let plural = if self.micro_batches == 1 { "" } else { "es" };
                write!(f, ", {word}, {} micro-batch{plural}", self.micro_batches)
            }
            None => write!(f, ", one after another"),
        }
    }
}

/// The recipe on one stage: the same updates, by one program.
pub(super) fn on_one(source: &Source) -> Source {
    let mut source = source.clone();
    if let Some(parallel) = &mut source.recipe.parallel {
        let Parallel { pipeline, chunks, schedule, .. } = Parallel::default();
        (parallel.pipeline, parallel.chunks, parallel.schedule) = (pipeline, chunks, schedule);
    }
    source
}

/// Whether a recipe has several stages.
pub(super) fn are_several(source: &Source) -> bool {
    source.recipe.stages() > 1
}

/// Refuses to tell the optimizations of a recipe apart whose stages are programs of their own.
///
/// # Errors
/// When it has several.
pub fn check_told_apart(source: &Source) -> Result<(), Diagnostics> {
    check_one_stage(source, "optimizations are not told apart")
}

/// Refuses what is done to one program alone, where a recipe has several stages.
///
/// # Errors
/// When it has.
pub(super) fn check_one_stage(source: &Source, what: &str) -> Result<(), Diagnostics> {
    if !are_several(source) {
        return Ok(());
    }
    let message = format!("{what} on {} stages, each of which has programs of its own", source.recipe.stages());
    let error = Diagnostic::error(codes::NOT_SUPPORTED, message).key("parallel.pipeline");
    Err(locate(source, error.help("set `parallel.pipeline = 1`")).into())
}

/// Checks that a role can be verified on stages: a part of an update is verified with the whole, and so are gradients.
///
/// # Errors
/// When it is one.
pub(super) fn check_role(session: &Session, source: &Source, role: &ModuleRole) -> Result<(), Diagnostics> {
    let is_part = session.roles.get(role)?.calls.is_some() && *role != ModuleRole::TRAIN_STEP;
    if !is_part && *role != ModuleRole::GRADS {
        return Ok(());
    }
    let message = match is_part {
        true => format!("`{}` is a part of an update, which stages make as a whole", role.name()),
        false => format!("`{}` of stages are not compared: each stage gives those of what it stores", role.name()),
    };
    let error = Diagnostic::error(codes::NOT_SUPPORTED, message).key("parallel.pipeline");
    Err(locate(source, error.help("verify `--role train_step`, or set `parallel.pipeline = 1`")).into())
}

/// The programs of the stages of a recipe, loaded from what a bundle would hold.
pub(super) struct Stages {
    pub(super) run: StagesRun,
    pub(super) audit: Audit,
    runner: Runner,
    /// The names of the tensors of its state, and of those of a batch.
    saved: Vec<String>,
    fed: Vec<String>,
}

enum Runner {
    Update(Box<TrainStep>),
    Reading(Box<Inference>),
}

impl Stages {
    /// Compiles and loads those of a role.
    ///
    /// # Errors
    /// When the recipe does not compile, its target does not take the programs, or XLA fails.
    pub(super) fn load(
        session: &Session,
        source: &Source,
        role: &ModuleRole,
        executor: Arc<dyn Executor>,
    ) -> Result<Self, Diagnostics> {
        let options = CompileOptions { roles: vec![role.clone()], ..CompileOptions::default() };
        let compiled = session.compile(source, &options)?;
        let (bundle, audit) = (compiled.bundle, compiled.audit);
        let mut bundle = Bundle::new(bundle.manifest, bundle.files, &session.vocabulary)?;
        // Numbers that are not finite are judged, and do not end an update that was made.
        bundle.manifest.recipe.nonfinite = Nonfinite::Skip;
        let saved = bundle.manifest.saved().flat_map(Buffer::tensor_names).collect();
        let (pipeline, kind) = source.recipe.pipeline()?;
        let (stages, chunks) = (pipeline.stages(), pipeline.chunks());
        let run = StagesRun { stages, chunks, schedule: None, micro_batches: 1 };
        if *role == ModuleRole::TRAIN_STEP {
            let schedule = Some(kind.name().to_owned());
            let run = StagesRun { schedule, micro_batches: pipeline.micro_batches(), ..run };
            let step = TrainStep::load(executor, &bundle)?;
            let fed = step.fed().map(|buffer| buffer.name).collect();
            return Ok(Self { run, audit, runner: Runner::Update(Box::new(step)), saved, fed });
        }
        let inference = Inference::load(executor, &bundle, role, init::initial_state(&bundle, 0)?)?;
        let fed = inference.fed().map(|buffer| buffer.name.clone()).collect();
        Ok(Self { run, audit, runner: Runner::Reading(Box::new(inference)), saved, fed })
    }

    /// Runs them once, on the state and the batch of a program on one stage. Returns the results of these names, each a tensor of the
    /// model.
    ///
    /// # Errors
    /// When the tensors are not those that the stages take, or XLA fails; a bug when a result is not there.
    pub(super) fn run<'n>(
        &mut self,
        tensors: &(Tensors, Tensors),
        mut wanted: impl Iterator<Item = &'n str>,
    ) -> Result<Outputs, Diagnostics> {
        let mut outputs = self.run_all(tensors)?;
        let missing = |name: &str| Diagnostic::bug(format!("the stages do not give the result `{name}`"));
        wanted.try_fold(Outputs::new(), |mut found, name| {
            found.insert(name.to_owned(), outputs.swap_remove(name).ok_or_else(|| missing(name))?);
            Ok(found)
        })
    }

    fn run_all(&mut self, (state, batch): &(Tensors, Tensors)) -> Result<Outputs, Diagnostics> {
        let (given, batch) = (among(&self.saved, state), among(&self.fed, batch));
        match &mut self.runner {
            Runner::Update(step) => {
                step.set_state(given)?;
                let metrics = step.step(&batch)?;
                let scalar = |value| HostTensor::from_f64s(DType::F64, Shape::default(), [value]);
                let metrics = metrics.iter().map(|(name, value)| (name.to_owned(), Output::new(scalar(value), None)));
                let replaced = step.state()?.into_iter().map(|(name, new)| {
                    let output = Output::new(new, state.get(&name));
                    (name, output)
                });
                Ok(replaced.chain(metrics).collect())
            }
            Runner::Reading(inference) => {
                inference.set_state(given)?;
                let outputs = inference.run(&batch)?.into_iter();
                Ok(outputs.map(|(name, written)| (name, Output::new(written, None))).collect())
            }
        }
    }
}

/// The tensors of these names, as far as they are there.
fn among(names: &[String], tensors: &Tensors) -> Tensors {
    names.iter().filter_map(|name| Some((name.clone(), tensors.get(name)?.clone()))).collect()
}
