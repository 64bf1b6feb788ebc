//! State that a model declares as `buffer`: read, saved, and never changed.

use halite::Session;
use halite_bundle::init;
use halite_bundle::tensors::Tensors;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::TrainStep;

const MODEL: &str = "model m {
  causal = false
  config { batch = 4; width = 6 }
  fn scaled(x) {
    buffer steps: [2, width] = range(1, 0.5)
    return x * steps[0] + steps[1]
  }
  fn main(x: f32[batch, width]) {
    param weight: [width, width] = orthogonal(1)
    y = linear(scaled(x) as scale, weight)
    output y
    return sum(y * y), full([], batch)
  }
}";

#[test]
fn updates_leave_buffers_as_they_are() {
    for layout in [&["batch=4"][..], &["batch=2", "parallel.data=2", "parallel.zero=1"]] {
        let mut session = Session::new();
        let settings: Vec<String> =
            ["optimizer.adamw.weight_decay=0.5"].iter().chain(layout).map(ToString::to_string).collect();
        let source = expect(session.load_model("m", MODEL, &settings));
        let bundle = expect(session.compile(&source, &Default::default())).bundle;
        let names: Vec<&str> = bundle.manifest.saved().map(|buffer| buffer.name.as_str()).collect();
        assert_eq!(names, ["weight", "scale.steps", "m.weight", "v.weight", "step"], "a buffer has no moments");
        let grads =
            bundle.module("m_grads").map(|module| module.outputs.iter().map(|port| port.name.clone()).collect());
        let grads: Vec<String> = grads.unwrap_or_default();
        assert!(!grads.iter().any(|name| name.contains("steps")), "{grads:?}");
        let mut step = expect(TrainStep::load(xla::executor(), &bundle));
        let start = expect(init::initial_state(&bundle, 3));
        assert_eq!(start["scale.steps"].f64s(), [1.0, 1.5, 2.0, 2.5, 3.0, 3.5].repeat(2));
        let rows: Vec<Vec<f64>> = start["weight"].f64s().chunks(6).map(<[f64]>::to_vec).collect();
        let product: f64 = rows[0].iter().zip(&rows[1]).map(|(one, other)| one * other).sum();
        assert!(product.abs() < 1e-6, "{product}");
        expect(step.set_state(start.clone()));
        let x = HostTensor::from_f64s(DType::F32, [4, 6], (0..24).map(|at| f64::from(at) / 24.0));
        for _ in 0..3 {
            expect(step.step(&Tensors::from_iter([("x".to_owned(), x.clone())])));
        }
        let state = expect(step.state());
        assert_eq!(state["scale.steps"], start["scale.steps"]);
        assert_ne!(state["weight"], start["weight"]);
    }
}

#[test]
fn a_model_of_buffers_alone_is_refused() {
    let model = MODEL.replace("param weight", "buffer weight");
    let mut session = Session::new();
    let source = expect(session.load_model("m", model.as_str(), &[]));
    let error = session.compile(&source, &Default::default()).expect_err("nothing is trained").remove(0);
    assert_eq!(error.message(), "every parameter is frozen, so that nothing is trained");
    assert!(error.help_text().is_some_and(|help| help.contains("`param`")), "{error:?}");
}
