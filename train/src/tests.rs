//! The loop on an executor that computes by hand.

mod address;
mod checkpoints;
mod mesh;
mod numbers;
mod packed;
mod resume;
mod rollback;
mod schedule;
mod watch;

use super::*;
pub(crate) use address::own_address;
use halite_bundle::BufferRole;
use halite_bundle::fixtures::small;
use halite_bundle::{Bundle, IndexRange, ModuleEntry, ModuleRole, Port, PortRole, sha256, tensors};
use halite_hlo::{ArrayType, BinaryOp, ModuleBuilder};
use halite_recipe::{CheckpointOptions, Nonfinite, RecoveryOptions};
use halite_runtime::{
    Buffer, DeviceBuffer, Executable, Executor, Input, MemoryStats, Program, Result, RuntimeError, Signature, Status,
    StatusCode, TensorSpec,
};
use halite_support::codes;
use halite_tensor::{DType, HostTensor, Init};
use numbers::Numbers;
use std::any::Any;
use std::sync::Arc;

/// Runs the modules of [`bundle`] by their number of outputs. Each takes its own buffers only.
#[derive(Clone, Copy, PartialEq, Debug)]
struct ByHand {
    number: usize,
    /// Whether the metrics of a training step can be copied to the host.
    tells: bool,
    /// The updates whose loss is a number.
    finite: f64,
    /// The mean of a batch that spoils its update, and what it adds to the weight.
    spoilt: (f64, f64),
}

const HAND: ByHand = ByHand { number: 0, tells: true, finite: f64::INFINITY, spoilt: (f64::INFINITY, 0.0) };

#[derive(Debug)]
struct Host {
    tensor: HostTensor,
    spec: TensorSpec,
    owner: ByHand,
    is_readable: bool,
}

impl ByHand {
    fn shared(self) -> Arc<dyn Executor> {
        Arc::new(self)
    }

    fn buffer(self, tensor: HostTensor) -> Buffer {
        let spec = TensorSpec::of(&tensor);
        Box::new(Host { tensor, spec, owner: self, is_readable: true })
    }
}

impl DeviceBuffer for Host {
    fn spec(&self) -> &TensorSpec {
        &self.spec
    }

    fn device(&self) -> usize {
        0
    }

    fn download(&self) -> Result<HostTensor> {
        if self.is_readable {
            return Ok(self.tensor.clone());
        }
        Err(RuntimeError::Transfer(Status::new(StatusCode::DataLoss, "the link is down")))
    }
}

impl Executor for ByHand {
    fn platform(&self) -> String {
        "hand".into()
    }

    fn num_devices(&self) -> usize {
        1
    }

    fn owns(&self, buffer: &dyn DeviceBuffer) -> bool {
        (buffer as &dyn Any).downcast_ref::<Host>().is_some_and(|buffer| buffer.owner == *self)
    }

    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>> {
        Ok(Box::new(Hand(program.signature().clone(), *self)))
    }

    /// Refuses NaN, so that a test can make it fail.
    fn upload(&self, tensor: &HostTensor, _device: usize) -> Result<Buffer> {
        if tensor.f64s().iter().any(|value| value.is_nan()) {
            return Err(RuntimeError::Transfer(Status::new(StatusCode::ResourceExhausted, "the device is full")));
        }
        Ok(self.buffer(tensor.clone()))
    }
}

struct Hand(Signature, ByHand);

impl Executable for Hand {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn devices(&self) -> &[usize] {
        &[0]
    }

    fn memory_stats(&self) -> Result<MemoryStats> {
        Ok(MemoryStats::default())
    }

    fn execute_replicas(&self, mut inputs: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>> {
        let inputs = inputs.remove(0);
        if inputs.iter().any(|input| !self.1.owns(input.buffer())) {
            return Err(RuntimeError::InvalidInput("an input belongs to another executor".into()));
        }
        let values: Vec<f64> = inputs.iter().map(|input| mean(&input.buffer().download().unwrap())).collect();
        let (tokens, weight) = (values[0], values[1]);
        let mut is_readable = true;
        let outputs = match inputs.len() {
            // eval: (loss, count)
            2 => vec![HostTensor::scalar(DType::F32, 4.0 * weight), HostTensor::scalar(DType::F32, 4.0)],
            // train_step: (weight, step, loss)
            _ => {
                assert!(!inputs[0].is_donated() && inputs[1].is_donated() && inputs[2].is_donated());
                is_readable = self.1.tells;
                let added = if tokens == self.1.spoilt.0 { self.1.spoilt.1 } else { 0.0 };
                let weight = HostTensor::scalar(DType::F32, 0.9 * weight + 0.001 * tokens + added);
                let updates = values[2] + 1.0;
                let loss =
                    if updates <= self.1.finite { weight.clone() } else { HostTensor::scalar(DType::F32, f64::NAN) };
                vec![weight, HostTensor::scalar(DType::S32, updates), loss]
            }
        };
        let last = outputs.len() - 1;
        let own = |(index, tensor): (usize, HostTensor)| -> Buffer {
            let spec = TensorSpec::of(&tensor);
            Box::new(Host { tensor, spec, owner: self.1, is_readable: is_readable || index != last })
        };
        Ok(vec![outputs.into_iter().enumerate().map(own).collect()])
    }
}

fn mean(tensor: &HostTensor) -> f64 {
    tensor.f64s().iter().sum::<f64>() / tensor.len() as f64
}

/// A bundle with one scalar weight whose modules have the right signatures.
fn bundle() -> Bundle {
    let mut bundle = small();
    let shapes: [(&str, DType, &[usize]); 3] =
        [("tokens", DType::S32, &[2, 4]), ("w", DType::F32, &[]), ("step", DType::S32, &[])];
    bundle.manifest.buffers.retain(|buffer| shapes.iter().any(|(name, _, _)| *name == buffer.name));
    bundle.manifest.buffers[1].shape = vec![];
    bundle.manifest.buffers[1].role = BufferRole::Weight(Init::Ones);
    let inputs = shapes.map(|(name, dtype, shape)| port(name, dtype, shape, PortRole::Buffer, None)).to_vec();
    let scalar = |name: &str, dtype, role, alias| port(name, dtype, &[], role, alias);
    let step = vec![
        scalar("w", DType::F32, PortRole::Buffer, Some(1)),
        scalar("step", DType::S32, PortRole::Buffer, Some(2)),
        scalar("loss", DType::F32, PortRole::Metric, None),
    ];
    let eval = ["loss", "count"].map(|name| scalar(name, DType::F32, PortRole::Metric, None)).to_vec();
    bundle.files.clear();
    bundle.manifest.modules.clear();
    add(&mut bundle, ModuleRole::TRAIN_STEP, inputs.clone(), step);
    add(&mut bundle, ModuleRole::EVAL, inputs[..2].to_vec(), eval);
    bundle
}

fn port(name: &str, dtype: DType, shape: &[usize], role: PortRole, alias: Option<usize>) -> Port {
    Port { name: name.into(), dtype, shape: shape.into(), sharding: None, role, alias, ranges: Vec::new() }
}

/// Adds a module with these ports.
fn add(bundle: &mut Bundle, role: ModuleRole, inputs: Vec<Port>, outputs: Vec<Port>) {
    let hlo = signed(&role, BinaryOp::Add, &inputs, &outputs);
    enter(bundle, role, hlo, inputs, outputs);
}

/// The HLO of a module with these ports, whose results are other than the names say: only the signature counts here.
fn signed(role: &ModuleRole, op: BinaryOp, inputs: &[Port], outputs: &[Port]) -> Vec<u8> {
    let mut module = ModuleBuilder::new(role.name());
    let mut main = module.computation("main");
    let parameter =
        |port: &Port| main.parameter(&*port.name, ArrayType::new(port.dtype, port.shape.as_slice())).unwrap();
    let ids: Vec<_> = inputs.iter().map(parameter).collect();
    let results: Vec<_> = outputs
        .iter()
        .map(|port| {
            let id = ids[if port.dtype == DType::F32 { 1 } else { 2 }];
            main.binary(op, id, id).unwrap()
        })
        .collect();
    let root = main.root_tuple(&results).unwrap();
    main.finish(root).unwrap();
    halite_hlo::encode(&module.finish().unwrap())
}

/// Enters the HLO of a module with these ports.
fn enter(bundle: &mut Bundle, role: ModuleRole, hlo: Vec<u8>, inputs: Vec<Port>, outputs: Vec<Port>) {
    let (name, file, sha256) = (role.name().to_owned(), format!("{}.hlo.pb", role.name()), sha256(&hlo));
    bundle.files.insert(file.clone(), hlo);
    bundle.manifest.modules.push(ModuleEntry {
        name,
        role,
        file,
        sha256,
        inputs,
        outputs,
        estimate: None,
        decompositions: Vec::new(),
        stage: 0,
    });
}

fn options(steps: u64) -> TrainOptions {
    TrainOptions {
        title: "t".into(),
        draw: Some(|title, history| Ok(format!("{title} {history:?}"))),
        steps,
        seed: 5,
        eval_every: 10,
        eval_batches: 2,
        ..TrainOptions::default()
    }
}

/// A checkpoint every so many updates, all of which stay.
fn every(every: u64) -> CheckpointOptions {
    CheckpointOptions { every, keep: u32::MAX, ..CheckpointOptions::default() }
}

fn numbers() -> Numbers {
    Numbers { train: 0..180, held_out: 180..200 }
}

#[test]
fn a_run_that_is_resumed_ends_like_one_that_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (RunFiles::new(folder.path().join("whole")), RunFiles::new(folder.path().join("parts")));
    let go = |steps, start: Start, files: &RunFiles| {
        let options = TrainOptions { start, ..options(steps) };
        train(HAND.shared(), &bundle(), &numbers(), &options, files, &mut Silent).unwrap()
    };
    let history = go(40, Start::Seed, &whole);
    assert_eq!((history.steps.len(), history.evals.len()), (40, 5));
    assert_eq!(history.evals[0].held_out_loss, 1.0);
    assert_eq!(history.steps[39].seen, Amount::Tokens(40 * 2 * 3));
    go(20, Start::Seed, &parts);
    go(40, Start::State(parts.state()), &parts);
    for (a, b) in [(whole.state(), parts.state()), (whole.metrics(), parts.metrics()), (whole.plot(), parts.plot())] {
        assert!(std::fs::read(&a).unwrap() == std::fs::read(b).unwrap(), "{}", a.display());
    }
    assert_eq!(tensors::read(&whole.state()).unwrap()["step"].ints(), [40]);
}

/// The updates in the metrics of a run.
fn measured(files: &RunFiles) -> usize {
    let lines = std::fs::read_to_string(files.metrics()).unwrap();
    lines.lines().filter(|line| line.contains("\"loss\"")).count()
}

#[test]
fn a_run_that_diverges_leaves_what_was_measured_and_the_last_saved_state() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let (hand, options) = (ByHand { finite: 12.0, ..HAND }, TrainOptions { checkpoint: every(5), ..options(20) });
    let error = train(hand.shared(), &bundle(), &numbers(), &options, &files, &mut Silent).unwrap_err();
    assert_eq!((error.len(), error[0].code()), (1, codes::DIVERGED));
    assert_eq!(error[0].message(), "update 13 is not finite: `loss` is NaN");
    assert_eq!(measured(&files), 12);
    assert!(files.plot().is_file());
    assert_eq!(tensors::read(&files.state()).unwrap()["step"].ints(), [10]);
}

#[test]
fn a_run_of_skipped_updates_ends() {
    let folder = tempfile::tempdir().unwrap();
    let files = RunFiles::new(folder.path());
    let mut bundle = bundle();
    bundle.manifest.recipe.nonfinite = Nonfinite::Skip;
    let hand = ByHand { finite: 12.0, ..HAND };
    let error = train(hand.shared(), &bundle, &numbers(), &options(200), &files, &mut Silent).unwrap_err();
    assert_eq!(error[0].message(), "the last 100 updates up to 112 were skipped: none had finite gradients");
    assert_eq!(measured(&files), 112);
}

#[test]
fn a_state_of_another_bundle_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.safetensors");
    let state = [("w".to_owned(), HostTensor::zeros(DType::F32, [3]))].into_iter().collect();
    tensors::write(&path, &state).unwrap();
    let files = RunFiles::new(folder.path().join("run"));
    let options = TrainOptions { start: Start::State(path), ..options(1) };
    let error = train(HAND.shared(), &bundle(), &numbers(), &options, &files, &mut Silent).unwrap_err();
    assert_eq!(error[0].message(), "the tensor `w` is `f32[3]`, the training state takes `f32[]`");
    assert_eq!(error[1].message(), "the tensor `step` is missing");
    assert!(!folder.path().join("run").exists());
}

#[test]
fn vocabularies_below_bytes_are_refused() {
    let mut bundle = bundle();
    bundle.manifest.model.config.insert("vocab".into(), halite_recipe::ConfigValue::Int(100));
    let files = RunFiles::new("/none/never");
    let error = train(HAND.shared(), &bundle, &numbers(), &options(1), &files, &mut Silent).unwrap_err();
    assert_eq!(error[0].message(), "the model knows 100 token ids, the tokenizer of the data has 256");
}

#[test]
fn numbers_out_of_range_are_refused_where_that_is_asked_for() {
    let mut bundle = bundle();
    let range = IndexRange { part: vec![[0, 2], [0, 3]], below: 5, except: None, computed: None };
    bundle.manifest.modules.iter_mut().for_each(|module| module.inputs[0].ranges = vec![range.clone()]);
    let mut step = TrainStep::load(HAND.shared(), &bundle).unwrap();
    step.init_state(1).unwrap();
    assert!(step.step(&tokens()).is_ok());
    let mut step = step.with_range_checks();
    assert_eq!(message(step.step(&tokens())), "`tokens` holds 5 at [1, 1], the model takes 0 to 4 there");
    assert_eq!(step.completed(), 1);
    let files = RunFiles::new("/none/never");
    let error = train(HAND.shared(), &bundle, &numbers(), &options(1), &files, &mut Silent).unwrap_err();
    assert_eq!(error[0].message(), "the model knows 5 token ids, the tokenizer of the data has 256");
}

fn tokens() -> HostTensor {
    HostTensor::from_ints(DType::S32, [2, 4], 0..8)
}

fn message<T: std::fmt::Debug>(result: std::result::Result<T, halite_support::Diagnostics>) -> String {
    result.unwrap_err()[0].message().to_owned()
}

#[test]
fn a_step_keeps_its_state_and_can_be_saved() {
    let bundle = bundle();
    let mut step = TrainStep::load(HAND.shared(), &bundle).unwrap();
    assert_eq!(message(step.step(&tokens())), "the training step has no state");
    step.init_state(3).unwrap();
    let losses: Vec<f64> = (0..3).map(|_| step.step(&tokens()).unwrap().loss()).collect();
    assert_eq!(step.completed(), 3);
    assert!(losses.windows(2).all(|pair| pair[1] < pair[0]), "{losses:?}");
    let metrics = step.eval(&tokens()).unwrap();
    assert_eq!((metrics.mean_loss() * 4.0, metrics.get("count")), (metrics.loss(), Some(4.0)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.safetensors");
    step.save_state(&path).unwrap();
    let mut other = step.fork();
    other.load_state(&path).unwrap();
    assert_eq!(other.completed(), 3);
    assert_eq!(other.step(&tokens()).unwrap(), step.step(&tokens()).unwrap());
    assert_eq!(other.state().unwrap(), step.state().unwrap());
    assert_eq!(step.weights().unwrap().keys().collect::<Vec<_>>(), ["w"]);
}

#[test]
fn a_batch_that_does_not_fit_leaves_the_state_alone() {
    let mut step = TrainStep::load(HAND.shared(), &bundle()).unwrap();
    step.init_state(3).unwrap();
    let wrong = HostTensor::zeros(DType::S32, [2, 5]);
    assert_eq!(message(step.step(&wrong)), "the tensor `tokens` is `s32[2,5]`, the training step takes `s32[2,4]`");
    let named = tensors::Tensors::from_iter([("token".to_owned(), tokens())]);
    assert_eq!(message(step.step(&named)), "the tensor `tokens` is missing");
    let batch = step.upload(&tokens()).unwrap();
    step.step(&batch).unwrap();
    step.eval(&batch).unwrap();
    let mut other = bundle();
    for module in &mut other.manifest.modules {
        module.inputs[0].name = "ids".into();
    }
    other.manifest.buffers[0].name = "ids".into();
    let mut other = TrainStep::load(HAND.shared(), &other).unwrap();
    other.init_state(3).unwrap();
    assert_eq!(message(other.step(&batch)), "the tensor `ids` is missing");
    let ids = other.upload(&tokens()).unwrap();
    other.step(&ids).unwrap();
}

#[test]
fn a_batch_of_another_step_is_not_uploaded_again() {
    let step = TrainStep::load(HAND.shared(), &bundle()).unwrap();
    let mut other = bundle();
    for module in &mut other.manifest.modules {
        module.inputs[0].name = "ids".into();
    }
    other.manifest.buffers[0].name = "ids".into();
    let other = TrainStep::load(HAND.shared(), &other).unwrap();
    let batch = other.upload(&tokens()).unwrap();
    assert_eq!(message(step.upload(&batch)), "the tensor `tokens` is missing");
}

#[test]
fn a_state_that_the_device_cannot_hold_leaves_none() {
    let mut step = TrainStep::load(HAND.shared(), &bundle()).unwrap();
    step.init_state(3).unwrap();
    step.step(&tokens()).unwrap();
    let mut state = step.state().unwrap();
    state.insert("w".into(), HostTensor::scalar(DType::F32, f64::NAN));
    assert!(message(step.set_state(state)).contains("the device is full"));
    assert_eq!(step.completed(), 0);
    let error = step.state().unwrap_err().remove(0);
    assert_eq!(error.message(), "the training step has no state");
    let ways = error.help_text().unwrap();
    assert!(["`init_state`", "`set_state`", "`load_state`", "`load_weights`"].iter().all(|way| ways.contains(way)));
}

#[test]
fn a_module_that_asks_for_the_batch_leaves_the_state_alone() {
    let mut bundle = bundle();
    bundle.manifest.modules[0].outputs[2].alias = Some(0);
    let mut step = TrainStep::load(HAND.shared(), &bundle).unwrap();
    step.init_state(3).unwrap();
    let before = step.state().unwrap();
    step.step(&tokens()).unwrap_err();
    assert_eq!(step.state().unwrap(), before);
}

#[test]
fn a_batch_of_another_executor_leaves_the_state_alone() {
    let losses = |between: &dyn Fn(&mut TrainStep)| -> Vec<f64> {
        let mut step = TrainStep::load(HAND.shared(), &bundle()).unwrap();
        step.init_state(3).unwrap();
        let mut losses = vec![step.step(&tokens()).unwrap().loss()];
        between(&mut step);
        losses.push(step.step(&tokens()).unwrap().loss());
        assert_eq!(step.completed(), 2);
        losses
    };
    let other = TrainStep::load(ByHand { number: 1, ..HAND }.shared(), &bundle()).unwrap();
    let foreign = other.upload(&tokens()).unwrap();
    let disturbed = losses(&|step| {
        let refused = "`tokens` of the batch is on a device of another executor";
        assert_eq!(message(step.step(&foreign)), refused);
        assert_eq!(message(step.eval(&foreign)), refused);
        step.upload(&foreign).unwrap();
    });
    assert_eq!(disturbed, losses(&|_| {}));
}

#[test]
fn an_update_counts_whose_metrics_are_lost() {
    let mut step = TrainStep::load(ByHand { tells: false, ..HAND }.shared(), &bundle()).unwrap();
    step.init_state(3).unwrap();
    assert!(message(step.step(&tokens())).contains("the link is down"));
    assert_eq!(step.completed(), 1);
    assert_eq!(step.state().unwrap()["step"].ints(), [1]);
}

#[test]
fn a_cancelled_run_leaves_what_it_can_be_resumed_from() {
    struct Stop(halite_support::CancelToken);
    impl Observer for Stop {
        fn stepped(&mut self, record: &StepRecord) {
            if record.step == 7 {
                self.0.cancel();
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (RunFiles::new(folder.path().join("whole")), RunFiles::new(folder.path().join("parts")));
    train(HAND.shared(), &bundle(), &numbers(), &options(20), &whole, &mut Silent).unwrap();
    let options = options(20);
    let mut stop = Stop(options.cancel.clone());
    let error = train(HAND.shared(), &bundle(), &numbers(), &options, &parts, &mut stop).unwrap_err();
    assert_eq!(error[0].code(), halite_support::codes::CANCELLED);
    let start = Start::State(parts.state());
    let options = TrainOptions { start, cancel: halite_support::CancelToken::default(), ..options };
    train(HAND.shared(), &bundle(), &numbers(), &options, &parts, &mut Silent).unwrap();
    assert!(std::fs::read(whole.state()).unwrap() == std::fs::read(parts.state()).unwrap());
}

/// A run that is asked to end while its state is made makes no more of it, and leaves no folder.
#[test]
fn a_run_that_is_cancelled_before_its_first_update_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = RunFiles::new(folder.path().join("run"));
    let options = options(20);
    options.cancel.cancel();
    let error = train(HAND.shared(), &bundle(), &numbers(), &options, &output, &mut Silent).unwrap_err();
    assert_eq!(error[0].code(), halite_support::codes::CANCELLED);
    assert!(!folder.path().join("run").exists());
}
