//! One module on the crate `xla`: the step of `tiny` is compiled and makes updates, as it does on the PJRT plugin.

use halite::compile::CompileOptions;
use halite::tensor::{DType, HostTensor};
use halite::{Bundle, Session};
use halite_runtime::{ClientOptions, Executor, Pjrt, find_plugin};
use halite_train::TrainStep;
use halite_xla_rs::XlaRs;
use std::sync::Arc;

const UPDATES: usize = 3;

const TEXT: &str = "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be";

/// How far apart losses may be, relatively, as in `agreement.rs`.
const APART: f64 = 1e-6;

fn compile() -> Bundle {
    let mut session = Session::new();
    let settings = ["precision=fp32".to_owned()];
    let source = session.load("tiny", &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    session.compile(&source, &CompileOptions::default()).unwrap_or_else(|errors| panic!("{errors:?}")).bundle
}

/// The loss of each update on the same batch.
fn losses(executor: Arc<dyn Executor>, bundle: &Bundle) -> Vec<f64> {
    let mut step = TrainStep::load(executor, bundle).expect("the step compiles");
    step.init_state(7).expect("the bundle says how its state starts");
    let tokens = HostTensor::from_ints(DType::S32, [8, 65], TEXT.bytes().cycle().map(i128::from).take(8 * 65));
    (0..UPDATES).map(|_| step.step(&tokens).expect("the batch fits").loss()).collect()
}

#[test]
fn a_compiled_step_makes_the_updates_that_it_makes_on_the_plugin() {
    let bundle = compile();
    let plugin = find_plugin(None).unwrap_or_else(|error| panic!("{error}"));
    let plugin = Pjrt::open(&plugin, &ClientOptions::cpu(1)).expect("the plugin starts");
    let expected = losses(Arc::new(plugin), &bundle);
    let found = losses(Arc::new(XlaRs::cpu().expect("the crate brings a CPU client")), &bundle);
    assert!(found.is_sorted_by(|a, b| a > b), "the loss falls: {found:?}");
    let apart = found.iter().zip(&expected).map(|(a, b)| (a / b - 1.0).abs());
    assert!(apart.clone().all(|apart| apart <= APART), "{found:?}, on the plugin {expected:?}");
}
