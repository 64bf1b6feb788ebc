//! Bundles on a mesh of ranks, on virtual devices of CPU XLA.

use super::*;
use halite_bundle::Manifest;
use halite_bundle::tensors::Tensors;
use halite_hlo::{ComputationBuilder, DotDims, Id, ReduceKind};
use halite_runtime::{ClientOptions, Pjrt, find_plugin};
use halite_tensor::{DimShard, Mesh, Sharding};
use std::sync::OnceLock;

const RATE: f64 = 0.01;

/// Four devices.
pub(super) fn devices() -> Arc<dyn Executor> {
    static CLIENT: OnceLock<Pjrt> = OnceLock::new();
    let open = || Pjrt::open(&find_plugin(None).unwrap(), &ClientOptions::cpu(4)).unwrap();
    Arc::new(CLIENT.get_or_init(open).clone())
}

fn mesh(data: usize, tensor: usize) -> Mesh {
    Mesh::new([("data", data), ("tensor", tensor)]).unwrap()
}

/// Least squares of `x w` and 1: `x f32[2, 8]` is a batch whose rows are spread along `data`; of its columns, and of `w f32[8]`, each
/// half of each half is on a rank along `tensor`. The gradient is added up along the axis `reduced`.
fn regression_with(mesh: &Mesh, reduced: &str) -> Bundle {
    let mut bundle = bundle();
    let manifest = &mut bundle.manifest;
    manifest.mesh = mesh.clone();
    let along =
        |axis: &'static str, stride| mesh.sub_axes_of(axis).map(move |sub_axis| DimShard { sub_axis, size: 2, stride });
    let columns = |sharding: Sharding, dim| along("tensor", 2).fold(sharding, |all, digit| all.with(dim, digit));
    let rows = |sharding: Sharding| along("data", 1).fold(sharding, |all, digit| all.with(0, digit));
    let [x, w, _] = &mut manifest.buffers[..] else { panic!("the bundle has three buffers") };
    (x.name, x.dtype, x.shape) = ("x".into(), DType::F32, vec![2, 8]);
    (x.sharding, w.sharding) =
        (Some(columns(rows(Sharding::replicated(2)), 1)), Some(columns(Sharding::replicated(1), 0)));
    w.shape = vec![8];
    manifest.modules.clear();
    bundle.files.clear();
    for role in [ModuleRole::TRAIN_STEP, ModuleRole::EVAL] {
        add_regression(&mut bundle, role, reduced);
    }
    bundle
}

fn regression(mesh: &Mesh) -> Bundle {
    regression_with(mesh, "data")
}

/// Adds the module of a role, whose results are `w`, `step` and `loss`, or `loss` and `count`.
fn add_regression(bundle: &mut Bundle, role: ModuleRole, reduced: &str) {
    let Manifest { mesh, buffers, .. } = &bundle.manifest;
    let trains = role == ModuleRole::TRAIN_STEP;
    let buffer = |buffer: &halite_bundle::Buffer, alias| Port {
        sharding: buffer.sharding.clone(),
        ..port(&buffer.name, buffer.dtype, &buffer.shape, PortRole::Buffer, alias)
    };
    let metric = |name: &str| port(name, DType::F32, &[], PortRole::Metric, None);
    let (inputs, outputs) = match trains {
        true => (3, vec![buffer(&buffers[1], Some(1)), buffer(&buffers[2], Some(2)), metric("loss")]),
        false => (2, vec![metric("loss"), metric("count")]),
    };
    let inputs: Vec<Port> = buffers[..inputs].iter().map(|input| buffer(input, None)).collect();
    let mut module = ModuleBuilder::new(role.name());
    let mut main = module.computation("main");
    let parameter = |port: &Port| main.parameter(&*port.name, ArrayType::new(port.dtype, port.local_shape())).unwrap();
    let parameters: Vec<Id> = inputs.iter().map(parameter).collect();
    let errors = errors(&mut main, mesh, parameters[0], parameters[1]);
    let squares = main.dot(errors, errors, &contracting(0, 0), DType::F32).unwrap();
    let loss = all_reduce(&mut main, mesh, "data", squares);
    let results = if trains {
        let gradient = main.dot(errors, parameters[0], &contracting(0, 0), DType::F32).unwrap();
        let gradient = all_reduce(&mut main, mesh, reduced, gradient);
        let one = main.constant(&HostTensor::scalar(DType::S32, 1.0)).unwrap();
        let step = main.binary(BinaryOp::Add, parameters[2], one).unwrap();
        vec![descended(&mut main, parameters[1], gradient), step, loss]
    } else {
        vec![loss, main.constant_scalar(DType::F32, 2.0).unwrap()]
    };
    let root = main.root_tuple(&results).unwrap();
    main.finish(root).unwrap();
    for (output, port) in outputs.iter().enumerate() {
        port.alias.into_iter().for_each(|input| module.alias(input, output));
    }
    let hlo = halite_hlo::encode(&module.finish().unwrap());
    enter(bundle, role, hlo, inputs, outputs);
}

/// `x w - 1`, for the rows of this rank.
fn errors(main: &mut ComputationBuilder<'_>, mesh: &Mesh, x: Id, w: Id) -> Id {
    let products = main.dot(x, w, &contracting(1, 0), DType::F32).unwrap();
    let products = all_reduce(main, mesh, "tensor", products);
    let shape = main.array(products).unwrap().shape.clone();
    let one = main.constant_scalar(DType::F32, 1.0).unwrap();
    let ones = main.broadcast(one, &shape, &[]).unwrap();
    main.binary(BinaryOp::Subtract, products, ones).unwrap()
}

/// `w - RATE * gradient`.
fn descended(main: &mut ComputationBuilder<'_>, w: Id, gradient: Id) -> Id {
    let shape = main.array(w).unwrap().shape.clone();
    let rate = main.constant_scalar(DType::F32, RATE).unwrap();
    let rate = main.broadcast(rate, &shape, &[]).unwrap();
    let update = main.binary(BinaryOp::Multiply, gradient, rate).unwrap();
    main.binary(BinaryOp::Subtract, w, update).unwrap()
}

fn contracting(lhs: usize, rhs: usize) -> DotDims {
    let dims = |dim| [dim].into_iter().collect();
    DotDims { lhs_contracting: dims(lhs), rhs_contracting: dims(rhs), ..DotDims::default() }
}

/// The sum over the ranks along an axis, where there is one.
fn all_reduce(main: &mut ComputationBuilder<'_>, mesh: &Mesh, axis: &str, x: Id) -> Id {
    let sub_axes: Vec<_> = mesh.sub_axes_of(axis).collect();
    if sub_axes.is_empty() {
        x
    } else {
        main.all_reduce(ReduceKind::Add, &[x], &mesh.groups(&sub_axes).lists()).unwrap()[0]
    }
}

fn batch(rows: usize) -> HostTensor {
    HostTensor::from_f64s(DType::F32, [rows, 8], (0..rows * 8).map(|at| f64::from((at * 7 % 11) as u8) / 8.0 - 0.5))
}

/// A step on a state in which no two elements of the weight are equal.
fn started(bundle: &Bundle) -> TrainStep {
    let mut step = TrainStep::load(devices(), bundle).unwrap();
    let weight = HostTensor::from_f64s(DType::F32, [8], (0..8_u8).map(|at| f64::from(at) / 4.0));
    step.set_state([("w".into(), weight), ("step".into(), HostTensor::zeros(DType::S32, []))].into_iter().collect())
        .unwrap();
    step
}

fn on(data: usize, tensor: usize) -> TrainStep {
    started(&regression(&mesh(data, tensor)))
}

/// Ranks add in another order than one device does.
fn assert_close(found: &Tensors, expected: &Tensors) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, tensor) in found {
        let distance = halite_tensor::compare::difference(tensor, &expected[name]).relative();
        assert!(distance < 1e-5, "`{name}` differs by {distance}: {tensor:?}, {:?}", expected[name]);
    }
}

#[test]
fn a_mesh_trains_as_one_rank_does() {
    for (data, tensor) in [(2, 1), (1, 2), (2, 2)] {
        let (mut alone, mut ranks) = (on(1, 1), on(data, tensor));
        assert_eq!(ranks.state().unwrap(), alone.state().unwrap());
        let losses = |step: &mut TrainStep| (0..20).map(|_| step.step(&batch(2)).unwrap().loss()).collect::<Vec<_>>();
        let (expected, found) = (losses(&mut alone), losses(&mut ranks));
        assert!(expected[19] < 0.5 * expected[0], "{expected:?}");
        assert!(
            found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-4 * expected.max(1.0))
        );
        assert_eq!((ranks.completed(), ranks.state().unwrap()["step"].ints()), (20, vec![20]));
        assert_close(&ranks.state().unwrap(), &alone.state().unwrap());
        assert_close(&ranks.weights().unwrap(), &alone.weights().unwrap());
        let (found, expected) = (ranks.eval(&batch(2)).unwrap(), alone.eval(&batch(2)).unwrap());
        assert!((found.mean_loss() - expected.mean_loss()).abs() < 1e-4);
        ranks.check_replicas().unwrap();
    }
}

#[test]
fn a_state_goes_from_a_mesh_to_one_rank_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    let (mut alone, mut ranks) = (on(1, 1), on(2, 2));
    ranks.step(&batch(2)).unwrap();
    ranks.save_state(&first).unwrap();
    alone.load_state(&first).unwrap();
    assert_eq!(alone.completed(), 1);
    assert_eq!(alone.state().unwrap(), ranks.state().unwrap());
    alone.step(&batch(2)).unwrap();
    alone.save_state(&second).unwrap();
    let mut resumed = ranks.fork();
    resumed.load_state(&second).unwrap();
    assert_eq!(resumed.state().unwrap(), alone.state().unwrap());
    ranks.step(&batch(2)).unwrap();
    assert_close(&ranks.state().unwrap(), &resumed.state().unwrap());
}

#[test]
fn micro_batches_are_shared_out_one_by_one() {
    let steps = [mesh(1, 1), mesh(2, 2)].map(|mesh| {
        let mut bundle = regression(&mesh);
        bundle.manifest.schedule = vec![vec!["run train_step 0..3".parse().unwrap()]];
        let mut step = started(&bundle);
        step.step(&batch(6)).unwrap();
        step
    });
    assert_close(&steps[1].state().unwrap(), &steps[0].state().unwrap());
    assert_eq!(steps[1].state().unwrap()["step"].ints(), [3]);
}

#[test]
fn a_module_takes_and_gives_whole_tensors() {
    let run = |mesh: &Mesh| {
        let (bundle, executor) = (regression(mesh), devices());
        let module = LoadedModule::load(executor.as_ref(), &bundle, &bundle.manifest.modules[0]).unwrap();
        let mut tensors = started(&bundle).state().unwrap();
        tensors.insert("x".into(), batch(2));
        module.run(executor.as_ref(), tensors).unwrap()
    };
    assert_close(&run(&mesh(2, 2)), &run(&mesh(1, 1)));
}

#[test]
fn ranks_that_part_are_named() {
    let mut step = started(&regression_with(&mesh(2, 2), "none"));
    step.check_replicas().unwrap();
    step.step(&batch(2)).unwrap();
    let mistakes = step.check_replicas().unwrap_err();
    assert_eq!(mistakes.len(), 1);
    assert_eq!(mistakes[0].message(), "`w` should be the same on several ranks and differs on ranks 2, 3");
}

#[test]
fn a_batch_of_another_mesh_leaves_the_state_alone() {
    let (alone, mut ranks) = (on(1, 1), on(2, 2));
    let before = ranks.state().unwrap();
    let foreign = alone.upload(&batch(2)).unwrap();
    assert_eq!(message(ranks.step(&foreign)), "`x` of the batch is `f32[2,8]`, which another step takes");
    assert_eq!(ranks.state().unwrap(), before);
    let own = ranks.upload(&foreign).unwrap();
    let mut fresh = on(2, 2);
    assert_eq!(ranks.step(&own).unwrap(), fresh.step(&batch(2)).unwrap());
    let spread = message(on(1, 1).step(&own));
    assert_eq!(spread, "`x` of the batch is `f32[2,8] on 4 ranks`, which another step takes");
}

#[test]
fn fewer_devices_than_ranks_are_refused() {
    let mesh = Mesh::new([("data", 2), ("tensor", 2), ("expert", 2)]).unwrap();
    let bundle = regression(&mesh);
    let ranks = "the bundle runs on 8 ranks (`data` = 2, `tensor` = 2, `expert` = 2)";
    for (executor, devices) in [(devices(), "4 devices"), (HAND.shared(), "1 device")] {
        let error = TrainStep::load(executor, &bundle).unwrap_err().remove(0);
        assert_eq!(error.message(), format!("{ranks}, the executor has {devices}"));
        assert!(error.help_text().unwrap().contains("`ClientOptions::cpu(8)`"), "{error}");
    }
}

#[test]
fn shardings_that_contradict_the_mesh_are_refused() {
    let mut bundle = regression(&mesh(2, 1));
    bundle.manifest.mesh = mesh(1, 1);
    let text = message(TrainStep::load(devices(), &bundle));
    assert!(text.ends_with("the buffer `x` is sharded by the sub-axis 0 of the mesh, which has 0"), "{text}");
}
