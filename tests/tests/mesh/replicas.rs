//! Replicas of a training step on virtual devices: what they all hold stays equal, bit for bit.

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::{ModuleRole, Port, PortRole};
use halite_runtime::evaluate_replicas;
use halite_tensor::{HostTensor, Shape};
use halite_test_kit::xla;
use halite_tests::compiled::stored_state;

const UPDATES: usize = 3;

fn compile(more: &[&str]) -> Bundle {
    let mut session = Session::new();
    let settings: Vec<String> = ["batch=2", "seq=16"].iter().chain(more).map(ToString::to_string).collect();
    let source = session.load("tiny", &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    session.compile(&source, &options).unwrap_or_else(|errors| panic!("{errors:?}")).bundle
}

fn batch(port: &Port) -> HostTensor {
    let shape = Shape::from(port.shape.as_slice());
    let tokens = (0..shape.num_elements()).map(|at| (at * 37 % 251) as i128);
    HostTensor::from_ints(port.dtype, shape.clone(), tokens)
}

/// The state of each of `replicas` after some updates, all from one state and on one batch.
fn run(bundle: &Bundle, replicas: usize) -> Vec<Vec<HostTensor>> {
    let entry = &bundle.manifest.modules[0];
    let executable = xla::compile(&bundle.files[&entry.file], replicas).expect("XLA takes the step");
    let state = stored_state(bundle, 0);
    let start = |port: &Port| state.get(&port.name).cloned().unwrap_or_else(|| batch(port));
    let mut inputs: Vec<Vec<HostTensor>> = vec![entry.inputs.iter().map(start).collect(); replicas];
    for _ in 0..UPDATES {
        let given: Vec<&[HostTensor]> = inputs.iter().map(Vec::as_slice).collect();
        let outputs = evaluate_replicas(xla::client(), executable.as_ref(), &given).expect("the step runs");
        for (inputs, outputs) in inputs.iter_mut().zip(outputs) {
            for (port, output) in entry.outputs.iter().zip(outputs) {
                if let (Some(input), PortRole::Buffer) = (port.alias, port.role) {
                    inputs[input] = output;
                }
            }
        }
    }
    inputs
}

#[test]
fn replicas_round_alike() {
    let bundle = compile(&["precision=bf16-sr"]);
    let (alone, both) = (run(&bundle, 1), run(&bundle, 2));
    assert!(both[0] == both[1], "two devices round the same weights differently");
    assert!(alone[0] == both[0], "a device rounds differently in company");
    // The streams are really there: without them the weights end elsewhere.
    let nearest = run(&compile(&["precision=bf16", "precision.gradient=f32", "precision.reduce=f32"]), 1);
    assert!(nearest[0] != alone[0]);
}
