//! A training step with its state on devices.

mod together;

use super::batch::DeviceBatch;
use super::divergence;
use super::metrics::Metrics;
use super::micro::{MicroBatches, cut, times};
use super::scheduled::{Doing, check_loss, doings};
use super::state::{State, Updates};
use crate::execute::{KernelChoice, LoadedModule};
use crate::placed::{Placed, Ranks};
use crate::transport::Transport;
use crate::wires::{self, Wires};
use halite_bundle::init::{initial_state_of, state_from_checkpoint, state_from_weights};
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{Buffer, Bundle, Manifest, ModuleRole, check_ranges, check_state, check_tensors};
use halite_runtime::Executor;
use halite_support::{CancelToken, Diagnostic, Diagnostics, codes};
use halite_tensor::HostTensor;
use indexmap::IndexMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The training step of a bundle on the devices of an executor, one for each rank of its mesh, and the state that it works on.
///
/// State and batches are given, saved and read as whole tensors, whatever the mesh: each rank gets its shard, and the shards are put
/// together again; where ranks are processes, each takes its shard, and none has the whole to give. Replicated tensors and metrics are
/// read from the first rank. State has the tensors of the model, whatever the bundle stores together, so that the state of another
/// layout is taken as it is.
///
/// The state stays on the devices from step to step: every buffer that a step replaces is donated to it, and its output takes the place
/// of the buffer. A step that fails part way may have used up buffers; load the state again then.
///
/// The executor may be that of any PJRT plugin, given by its path. On the plugin of the platform that the bundle is compiled
/// for, the modules run with the kernels of the target; on any other, with their decompositions; or as
/// [`load_with`](TrainStep::load_with) is told.
///
/// ```
/// use halite_train::runtime::{ClientOptions, Pjrt, find_plugin};
/// use halite::tensor::{DType, HostTensor};
/// use halite::{Session, compile::CompileOptions};
/// use halite_train::TrainStep;
/// use std::sync::Arc;
///
/// # fn main() -> Result<(), halite::support::Diagnostics> {
/// # let folder = tempfile::tempdir().expect("a folder");
/// let mut session = Session::new();
/// let source = session.load("tiny", &["layers=1".to_owned()])?;
/// let bundle = session.compile(&source, &CompileOptions::default())?.bundle;
///
/// let plugin = find_plugin(None)?;
/// let executor = Pjrt::open(&plugin, &ClientOptions::cpu(1))?;
/// let mut step = TrainStep::load(Arc::new(executor), &bundle)?;
/// step.init_state(7)?;
/// let tokens = HostTensor::zeros(DType::S32, [8, 65]);
/// let first = step.step(&tokens)?.loss();
/// let second = step.step(&tokens)?.loss();
/// assert!(second < first);
///
/// # let path = folder.path().join("state.safetensors");
/// step.save_state(&path)?;
/// let mut resumed = step.fork();
/// resumed.load_state(&path)?;
/// assert_eq!(resumed.completed(), 2);
/// # Ok(())
/// # }
/// ```
pub struct TrainStep {
    state: Option<State>,
    modules: Arc<Modules>,
    updates: Updates,
    cancel: CancelToken,
    checks_ranges: bool,
    /// The way to stages in other processes, where there are any.
    wires: Option<Arc<Mutex<Wires>>>,
    /// Dropped after the buffers on its devices.
    executor: Arc<dyn Executor>,
}

/// The modules that steps on different states share.
struct Modules {
    manifest: Manifest,
    /// The actions of an update, for each stage.
    update: Vec<Vec<Doing>>,
    /// Those of an evaluation.
    eval: Option<Vec<Vec<Doing>>>,
    micro_batches: MicroBatches,
}

impl std::fmt::Debug for TrainStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TrainStep").field("updates", &self.updates).field("state", &self.state).finish_non_exhaustive()
    }
}

/// The data of one step. Inputs whose content the model declares, such as a causal mask, need not be given.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Batch<'a> {
    /// The tensor of a model that is fed one, e.g. tokens `s32[batch, seq + 1]`.
    One(&'a HostTensor),
    /// Tensors by name.
    Named(&'a Tensors),
    /// A batch that is on the devices already.
    Device(&'a DeviceBatch),
}

impl<'a> From<&'a HostTensor> for Batch<'a> {
    fn from(tensor: &'a HostTensor) -> Self {
        Self::One(tensor)
    }
}

impl<'a> From<&'a Tensors> for Batch<'a> {
    fn from(tensors: &'a Tensors) -> Self {
        Self::Named(tensors)
    }
}

impl<'a> From<&'a DeviceBatch> for Batch<'a> {
    fn from(batch: &'a DeviceBatch) -> Self {
        Self::Device(batch)
    }
}

impl TrainStep {
    /// Compiles the training step of a bundle, and its evaluation where it has one. There is no state yet.
    ///
    /// # Errors
    /// When the bundle has no training step, the executor has fewer devices than the mesh has ranks, or a module is not what the
    /// manifest states or cannot be compiled.
    pub fn load(executor: Arc<dyn Executor>, bundle: &Bundle) -> Result<Self, Diagnostics> {
        Self::load_with(executor, bundle, KernelChoice::ByPlatform)
    }

    /// As [`load`](Self::load), with the choice between kernels and decompositions made by the caller.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(executor: Arc<dyn Executor>, bundle: &Bundle, kernels: KernelChoice) -> Result<Self, Diagnostics> {
        Self::load_parts(executor, bundle, kernels, true).map_err(Diagnostics::from)
    }

    /// As [`load_with`](Self::load_with); without `eval`, evaluation is left out.
    pub(super) fn load_parts(
        executor: Arc<dyn Executor>,
        bundle: &Bundle,
        kernels: KernelChoice,
        eval: bool,
    ) -> Result<Self, Diagnostic> {
        let taken = if kernels.are_called(executor.as_ref(), bundle) { "called" } else { "decompositions" };
        let model = &bundle.manifest.model.name;
        let _span = tracing::info_span!("load", model, platform = executor.platform(), kernels = taken).entered();
        let load = |entry: &_| LoadedModule::load_with(executor.as_ref(), bundle, entry, kernels);
        let manifest = &bundle.manifest;
        if manifest.schedule.is_empty() {
            bundle.module_with_role(&ModuleRole::TRAIN_STEP)?;
        }
        let here = Ranks::stages(executor.as_ref(), manifest);
        check_loss(manifest)?;
        let update = doings(manifest, &manifest.schedule, &here, load)?;
        let has_eval = eval && bundle.modules_with_role(&ModuleRole::EVAL).is_ok();
        let eval = has_eval.then(|| Doing::of_role(bundle, &ModuleRole::EVAL, &here, load)).transpose()?;
        let (manifest, micro_batches) = (manifest.clone(), MicroBatches::of(manifest)?);
        let modules = Arc::new(Modules { manifest, update, eval, micro_batches });
        Ok(Self {
            executor,
            modules,
            state: None,
            updates: Updates::default(),
            cancel: CancelToken::default(),
            checks_ranges: false,
            wires: None,
        })
    }

    /// The same step without state: another run of what is compiled already.
    #[must_use]
    pub fn fork(&self) -> Self {
        let (executor, modules, wires) = (self.executor.clone(), self.modules.clone(), self.wires.clone());
        let (cancel, updates) = (self.cancel.clone(), Updates::default());
        Self { executor, modules, wires, state: None, updates, cancel, ..*self }
    }

    /// The same step, which refuses to run once the token is cancelled.
    #[must_use]
    pub fn with_cancel(self, cancel: CancelToken) -> Self {
        Self { cancel, ..self }
    }

    /// The same step, which looks at the numbers of each batch before it is copied to the devices: token ids, labels and
    /// other positions out of range are refused, as far as the manifest states ranges
    /// ([`Port::ranges`](halite_bundle::Port)). A module does not look: it takes such a number for another one. Off unless it
    /// is asked for, because it costs a pass over the batch on the host.
    #[must_use]
    pub fn with_range_checks(self) -> Self {
        Self { checks_ranges: true, ..self }
    }

    /// The manifest of the bundle: inputs, outputs, the recipe.
    pub fn manifest(&self) -> &Manifest {
        &self.modules.manifest
    }

    /// Whether the modules call kernels of Neuron; otherwise decompositions stand in their place, or there are none.
    pub fn calls_kernels(&self) -> bool {
        self.modules.update.iter().flatten().filter_map(Doing::call).any(|call| call.module.calls_kernels())
    }

    /// Whether the bundle has an evaluation.
    pub fn has_eval(&self) -> bool {
        self.modules.eval.is_some()
    }

    /// Starts from the initial state of a seed, as [`initial_state`](halite_bundle::init::initial_state) makes it.
    ///
    /// # Errors
    /// When the manifest contradicts itself, or the executor cannot hold it.
    pub fn init_state(&mut self, seed: u64) -> Result<(), Diagnostics> {
        let tensors = initial_state_of(self.manifest(), seed)?;
        self.set_state(tensors)
    }

    /// Starts from the tensors of a saved state, as the model has them. What is transient starts anew.
    ///
    /// # Errors
    /// Every tensor that is missing, not of the state, or of the wrong type: the state is as it was. Then what the executor
    /// says: there is no state any more.
    pub fn set_state(&mut self, tensors: Tensors) -> Result<(), Diagnostics> {
        check_state(self.manifest(), &tensors)?;
        let updates = Updates::of(self.manifest(), &tensors);
        // The old state goes first: two may not fit on the device.
        (self.state, self.updates) = (None, Updates::default());
        self.state = Some(State::upload(self.executor.as_ref(), self.manifest(), tensors)?);
        self.updates = updates;
        Ok(())
    }

    /// Starts from the tensors of a safetensors file.
    ///
    /// # Errors
    /// When the file cannot be read; as [`set_state`](Self::set_state).
    pub fn load_state(&mut self, path: &Path) -> Result<(), Diagnostics> {
        self.set_state(tensors::read(path)?)
    }

    /// Starts from the weights of the model alone, in any float types: moments and
    /// counters are those of the initial state, weights and masters what [`state_from_weights`] makes of them.
    ///
    /// # Errors
    /// Every weight that is missing, not of the model, or of the wrong shape; then what the executor says.
    pub fn set_weights(&mut self, weights: Tensors) -> Result<(), Diagnostics> {
        let tensors = state_from_weights(self.manifest(), weights)?;
        self.set_state(tensors)
    }

    /// Starts from the weights of a safetensors file, of the shards that an index names, or of a folder with one of the two;
    /// a checkpoint of Hugging Face's Transformers is taken as it is.
    ///
    /// # Errors
    /// When a file cannot be read; as [`set_weights`](Self::set_weights).
    pub fn load_weights(&mut self, path: &Path) -> Result<(), Diagnostics> {
        let tensors = state_from_checkpoint(self.manifest(), path)?;
        self.set_state(tensors)
    }

    /// Copies the state to the host, as tensors of the model. What is transient is left out: it holds its initial value.
    ///
    /// # Errors
    /// When there is none, the copy fails, or a tensor is stored several times and its copies differ.
    pub fn state(&self) -> Result<Tensors, Diagnostics> {
        self.held()?.download(self.manifest().saved()).map_err(Diagnostics::from)
    }

    /// Writes the state to a safetensors file, as tensors of the model: [`load_state`](Self::load_state) reads it back bit for bit,
    /// in a step of this layout or of another.
    ///
    /// # Errors
    /// As [`state`](Self::state), or when the file cannot be written.
    pub fn save_state(&self, path: &Path) -> Result<(), Diagnostics> {
        tensors::write(path, &self.state()?).map_err(Diagnostics::from)
    }

    /// Checks that the ranks that hold the same part of a saved buffer hold the same bytes. It costs a copy of the state to the host
    /// for each rank.
    ///
    /// # Errors
    /// Every buffer of which some do not, with those ranks; when there is no state, or a copy fails.
    pub fn check_replicas(&self) -> Result<(), Diagnostics> {
        self.held()?.check_replicas(self.manifest().saved())
    }

    /// Copies the weights to the host, as tensors of the model.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    pub fn weights(&self) -> Result<Tensors, Diagnostics> {
        let weights = self.manifest().buffers.iter().filter(|buffer| buffer.is_weight());
        self.held()?.download(weights).map_err(Diagnostics::from)
    }

    /// Completed updates: those of the state that was loaded, and those made since.
    pub fn completed(&self) -> u64 {
        self.updates.made
    }

    /// Updates that were made or skipped; the next batch comes after these. The number equals [`completed`](Self::completed) unless the
    /// recipe skips updates whose gradients are not finite.
    pub fn attempted(&self) -> u64 {
        self.updates.attempted
    }

    /// Copies a batch to the devices, to use it more than once.
    ///
    /// # Errors
    /// Every tensor that is missing, not an input, or of the wrong type; with [`with_range_checks`](Self::with_range_checks),
    /// every one with numbers out of range; then what the executor says.
    pub fn upload<'a>(&self, batch: impl Into<Batch<'a>>) -> Result<DeviceBatch, Diagnostics> {
        let (expected, who) = (self.fed().collect::<Vec<_>>(), "the training step");
        match batch.into() {
            Batch::One(tensor) => {
                let [only] = &expected[..] else {
                    let message = format!("{who} takes {} inputs, one tensor without a name is given", expected.len());
                    return Err(Diagnostic::error(codes::TENSORS, message).help("give tensors by name").into());
                };
                self.upload_named(&Tensors::from_iter([(only.name.clone(), tensor.clone())]))
            }
            Batch::Named(tensors) => self.upload_named(tensors),
            Batch::Device(batch) => self.upload_named(&batch.download()?),
        }
    }

    /// Copies a batch, cut as the calls of the schedule take it; one of a single micro-batch, as an evaluation takes it.
    fn upload_named(&self, tensors: &Tensors) -> Result<DeviceBatch, Diagnostics> {
        let MicroBatches { of_update, of_call } = self.modules.micro_batches;
        let is_one =
            |buffer: &Buffer| tensors.get(&buffer.name).is_some_and(|tensor| tensor.shape()[..] == buffer.shape[..]);
        let (whole, each) = if self.micro().all(is_one) { (1, 1) } else { (of_update, of_call) };
        let expected: Vec<Buffer> = self.micro().map(|buffer| times(buffer, whole)).collect();
        check_tensors(tensors, &expected.iter().collect::<Vec<_>>(), "the training step")?;
        let pieces = cut(tensors, whole / each)?;
        if self.checks_ranges {
            let lists = self.modules.update.iter().chain(self.modules.eval.iter().flatten());
            let calls = lists.flatten().filter_map(Doing::call).filter(|call| call.micro_batches == each);
            let readers: IndexMap<&str, &LoadedModule> =
                calls.map(|call| (call.module.entry().name.as_str(), &*call.module)).collect();
            for reader in readers.values() {
                pieces.iter().try_for_each(|piece| check_ranges(&reader.entry().inputs, piece))?;
            }
        }
        DeviceBatch::upload(self.executor.as_ref(), self.manifest(), &pieces).map_err(Diagnostics::from)
    }

    /// The inputs that the host feeds for one update and that the model does not determine, in the order of the manifest. Where
    /// an update accumulates over micro-batches, these stand one after another along the first dimension.
    pub fn fed(&self) -> impl Iterator<Item = Buffer> {
        self.micro().map(|buffer| times(buffer, self.modules.micro_batches.of_update))
    }

    /// The same for one micro-batch, which is what an evaluation takes.
    fn micro(&self) -> impl Iterator<Item = &Buffer> {
        let buffers = self.manifest().buffers.iter();
        buffers.filter(|buffer| buffer.is_batch() && buffer.content().is_none())
    }

    /// Makes one update and returns its metrics: `loss`, the mean over the batch, and the others that the step reports. Where these
    /// [are not finite](Metrics::are_finite), the update was skipped and the state is as it was, but for the dynamic loss scale: the
    /// recipe says `nonfinite = "skip"`, or that scale can still be halved.
    ///
    /// # Errors
    /// When there is no state, the token is cancelled, or the batch does not fit or was uploaded through another executor:
    /// all of these before anything runs, so that the state is as it was. Then when the executor fails; if it does so when
    /// only the metrics are left to copy, the update is made and counts as [`completed`](Self::completed). Last, with
    /// `nonfinite = "stop"`, when loss or norm of the gradient are not finite ([`DIVERGED`](codes::DIVERGED)): the update is made
    /// and counts, and the state is of no use any more; at the least scale of a loss that is scaled dynamically, it is skipped.
    pub fn step<'a>(&mut self, batch: impl Into<Batch<'a>>) -> Result<Metrics, Diagnostics> {
        let outputs = self.run(batch.into(), |modules| Ok(&modules.update))?;
        self.updates.attempted += 1;
        let modules = self.modules.clone();
        let recipe = &modules.manifest.recipe;
        // Whether it was made is known when its metrics are.
        let metrics = Metrics::download(&outputs).and_then(|own| self.metrics_of_all(own));
        let made = !recipe.skips_nonfinite() || metrics.as_ref().is_ok_and(Metrics::are_finite);
        self.updates.made += u64::from(made);
        let metrics = metrics?;
        if !metrics.are_finite() && recipe.stops_at(metrics.loss_scale()) {
            return Err(divergence::of_update(self.updates.attempted, &metrics, made).into());
        }
        Ok(metrics)
    }

    /// Measures a batch without an update: `loss`, the sum over its elements, and `count`, how many these are. Their
    /// quotient is [`Metrics::mean_loss`].
    ///
    /// # Errors
    /// When the bundle has no evaluation; as [`step`](Self::step).
    pub fn eval<'a>(&mut self, batch: impl Into<Batch<'a>>) -> Result<Metrics, Diagnostics> {
        let outputs = self.run(batch.into(), |modules| {
            let eval = modules.eval.as_ref().ok_or_else(|| {
                let message = "the bundle has no module with the role `eval`";
                Diagnostic::error(codes::MODULE, message).help("compile it with that role")
            })?;
            Ok(eval)
        })?;
        Metrics::download(&outputs).and_then(|own| self.metrics_of_all(own)).map_err(Diagnostics::from)
    }

    /// Does what each stage does on a batch. Returns the outputs besides the state and what other calls read, by name.
    fn run(
        &mut self,
        batch: Batch<'_>,
        doings: impl FnOnce(&Modules) -> Result<&Vec<Vec<Doing>>, Diagnostic>,
    ) -> Result<IndexMap<String, Placed>, Diagnostics> {
        self.cancel.check()?;
        self.held()?;
        let modules = self.modules.clone();
        let doings = doings(&modules)?;
        let uploaded;
        let batch = match batch {
            Batch::Device(batch) => {
                batch.check_owner(self.executor.as_ref())?;
                batch
            }
            batch => {
                uploaded = self.upload(batch)?;
                &uploaded
            }
        };
        let wires = self.wires.clone();
        let mut wires = wires.as_ref().map(|wires| wires.lock().unwrap_or_else(PoisonError::into_inner));
        if wires.is_none() && self.executor.rank().is_some() && modules.manifest.num_stages() > 1 {
            return Err(wires::apart());
        }
        let state = self.state.as_mut().ok_or_else(no_state)?;
        // A batch that does not fit is refused before the first call gives anything away.
        let plan = state.plan(batch, doings)?;
        state.start_anew(self.executor.as_ref(), &modules.manifest)?;
        wires.as_mut().map_or(Ok(()), |wires| wires.begin())?;
        let _span = tracing::debug_span!("update", step = self.updates.made).entered();
        let outputs =
            state.run(self.executor.as_ref(), &plan, wires.as_mut().map(|wires| &mut **wires as &mut dyn Transport));
        let outputs = outputs.map_err(|(error, module)| self.updates.blame(error, &module))?;
        state.come_to_end();
        Ok(outputs)
    }

    fn held(&self) -> Result<&State, Diagnostics> {
        Ok(self.state.as_ref().ok_or_else(no_state)?)
    }
}

fn no_state() -> Diagnostic {
    Diagnostic::error(codes::TENSORS, "the training step has no state")
        .help("call `init_state`, `set_state` or `load_state`, or `load_weights` first")
}
