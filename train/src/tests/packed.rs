//! Weights that a bundle stores as one: a state has each by its own name, and what cannot be one tensor is not saved.

use super::mesh::devices;
use super::*;
use halite_bundle::tensors::Tensors;
use halite_tensor::{Packing, Part};

/// A bundle for two ranks on one device that stores `q f32[2]` and `k f32[1]`, which both ranks read, as `w f32[2, 2]`: the rows of
/// each rank. A step adds `delta` to it.
fn stored_as_one(delta: [f64; 4]) -> Bundle {
    let mut bundle = bundle();
    let part =
        |name: &str, rows, copies| Part { name: name.into(), shape: vec![rows], transposed: false, copies, padding: 0 };
    let w = &mut bundle.manifest.buffers[1];
    w.shape = vec![2, 2];
    w.packing = Some(Packing { ranks: 2, parts: vec![part("q", 2, 1), part("k", 1, 2)] });
    bundle.files.clear();
    bundle.manifest.modules.clear();
    let buffer = |buffer: &halite_bundle::Buffer, alias| {
        port(&buffer.name, buffer.dtype, &buffer.shape, PortRole::Buffer, alias)
    };
    let [tokens, w, step] = &bundle.manifest.buffers[..] else { panic!("the bundle has three buffers") };
    let inputs: Vec<Port> = [tokens, w, step].map(|input| buffer(input, None)).to_vec();
    let loss = port("loss", DType::F32, &[], PortRole::Metric, None);
    let outputs = vec![buffer(w, Some(1)), buffer(step, Some(2)), loss];
    let hlo = adding(delta, &inputs);
    enter(&mut bundle, ModuleRole::TRAIN_STEP, hlo, inputs, outputs);
    bundle
}

fn adding(delta: [f64; 4], inputs: &[Port]) -> Vec<u8> {
    let mut module = ModuleBuilder::new("train_step");
    let mut main = module.computation("main");
    let parameter =
        |port: &Port| main.parameter(&*port.name, ArrayType::new(port.dtype, port.shape.as_slice())).unwrap();
    let ids: Vec<_> = inputs.iter().map(parameter).collect();
    let delta = main.constant(&HostTensor::from_f64s(DType::F32, [2, 2], delta)).unwrap();
    let one = main.constant(&HostTensor::scalar(DType::S32, 1.0)).unwrap();
    let results = [
        main.binary(BinaryOp::Add, ids[1], delta).unwrap(),
        main.binary(BinaryOp::Add, ids[2], one).unwrap(),
        main.constant_scalar(DType::F32, 1.0).unwrap(),
    ];
    let root = main.root_tuple(&results).unwrap();
    main.finish(root).unwrap();
    (1..=2).for_each(|at| module.alias(at, at - 1));
    halite_hlo::encode(&module.finish().unwrap())
}

fn given() -> Tensors {
    let f32s = |values: &[f64]| HostTensor::from_f64s(DType::F32, [values.len()], values.iter().copied());
    let tensors = [("q", f32s(&[1.0, 2.0])), ("k", f32s(&[3.0])), ("step", HostTensor::zeros(DType::S32, []))];
    tensors.map(|(name, tensor)| (name.to_owned(), tensor)).into_iter().collect()
}

/// A step after one update.
fn stepped(delta: [f64; 4]) -> TrainStep {
    let mut step = TrainStep::load(devices(), &stored_as_one(delta)).unwrap();
    step.set_state(given()).unwrap();
    assert_eq!(step.state().unwrap(), given());
    step.step(&HostTensor::zeros(DType::S32, [2, 4])).unwrap();
    step
}

#[test]
fn a_state_has_the_tensors_of_the_model() {
    let step = stepped([10.0, 20.0, 30.0, 20.0]);
    let state = step.state().unwrap();
    assert_eq!(state.keys().collect::<Vec<_>>(), ["q", "k", "step"]);
    assert_eq!((state["q"].f64s(), state["k"].f64s()), (vec![11.0, 32.0], vec![23.0]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.safetensors");
    step.save_state(&path).unwrap();
    let read = tensors::read(&path).unwrap();
    assert_eq!(read, state);
    let mut resumed = step.fork();
    resumed.load_state(&path).unwrap();
    assert_eq!(resumed.state().unwrap(), state);
    assert_eq!(step.weights().unwrap().keys().collect::<Vec<_>>(), ["q", "k"]);
}

#[test]
fn copies_that_drifted_apart_are_not_saved() {
    let step = stepped([0.0, 0.0, 0.0, 1.0]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.safetensors");
    let error = step.save_state(&path).unwrap_err().remove(0);
    assert_eq!(error.message(), "the copies of `k` on ranks 0 and 1 differ");
    assert!(error.notes().contains(&"stored in `w`".to_owned()) && !path.exists(), "{error:?}");
    assert_eq!(message(step.weights()), error.message());
}

#[test]
fn a_state_that_is_stored_as_one_is_refused() {
    let mut step = stepped([0.0; 4]);
    let w = HostTensor::zeros(DType::F32, [2, 2]);
    let old = [("w".to_owned(), w), ("step".to_owned(), HostTensor::zeros(DType::S32, []))];
    let error = step.set_state(old.into_iter().collect()).unwrap_err().remove(0);
    assert_eq!(error.message(), "`w` is several tensors stored as one, as a bundle has them: `q` and `k`");
    assert!(error.help_text().unwrap().contains("halite convert"), "{error}");
    assert_eq!(step.completed(), 1);
}
