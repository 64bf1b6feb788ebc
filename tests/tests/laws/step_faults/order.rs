//! Faults of the order of passes: the law is that micro-batches and a scaled loss change nothing.

use halite::Session;
use halite_bundle::tensors::Tensors;
use halite_bundle::{ModuleRole, init};
use halite_passes::PipelineSpec;
use halite_support::Diagnostics;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::TrainStep;
use std::collections::BTreeMap;

/// The passes that make the step, in a wrong order.
pub(super) const FAULTS: &[(&str, &str)] = &[
    ("unscaled after the clip", "accumulate, clip, unscale, finite, update"),
    ("never unscaled", "accumulate, clip, finite, update"),
    ("unscaled twice", "accumulate, unscale, unscale, clip, finite, update"),
    ("not accumulated", "unscale, clip, finite, update"),
];

/// The elements of all state, by name.
type State = BTreeMap<String, Vec<f64>>;

const RIGHT: &str = "accumulate, unscale, clip, finite, update";

/// The state after three updates of a step that these passes make; the last pass of the whole pipeline is that which counts.
fn run(passes: &str, settings: &[&str]) -> Result<State, Diagnostics> {
    let mut session = Session::new();
    let whole = format!("bind-recipe, scale-loss, auto-diff, auto-cast, {passes}, expand-composites, inline, legalize");
    session.roles.set_pipeline(&ModuleRole::TRAIN_STEP, whole.parse::<PipelineSpec>()?)?;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/labelled.hal");
    let stated = ["precision=fp64", "optimizer.adamw.clip_norm=0.05"];
    let settings: Vec<String> = stated.iter().chain(settings).map(ToString::to_string).collect();
    let source = session.load(path, &settings)?;
    let options = halite::compile::CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..Default::default() };
    let bundle = session.compile(&source, &options)?.bundle;
    let mut step = TrainStep::load(xla::executor(), &bundle)?;
    step.set_state(init::initial_state(&bundle, 3)?)?;
    for update in 0..3 {
        step.step(&batch(update))?;
    }
    Ok(step.state()?.into_iter().map(|(name, tensor)| (name, tensor.f64s())).collect())
}

/// Two sequences, of which one has few labels.
fn batch(update: usize) -> Tensors {
    let token = |at: usize| ((at * 7 + update * 13) % 32) as i128;
    let tokens = HostTensor::from_ints(DType::S32, [2, 6], (0..12).map(token));
    let labels = HostTensor::from_ints(DType::S32, [2, 6], (0..12).map(|at| if at < 8 { token(at + 1) } else { -100 }));
    Tensors::from_iter([("tokens".to_owned(), tokens), ("labels".to_owned(), labels)])
}

fn differs(found: &State, expected: &State) -> bool {
    let close = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-9 * y.abs().max(1e-3);
    let same = |name: &String| found[name].iter().zip(&expected[name]).all(close);
    !found.keys().eq(expected.keys()) || !found.keys().all(same)
}

#[test]
fn each_wrong_order_fails_the_law() {
    let scaled = ["batch=1", "accumulate={ steps = 2, form = \"one\" }", "loss_scale=64"];
    let expected = expect(run(RIGHT, &["batch=2"]));
    assert!(!differs(&expect(run(RIGHT, &scaled)), &expected), "the law fails without a fault");
    for (name, passes) in FAULTS {
        match run(passes, &scaled) {
            Ok(found) => assert!(differs(&found, &expected), "{name}: the law holds with it"),
            // The step then takes one micro-batch.
            Err(errors) => {
                assert!(*name == "not accumulated" && format!("{errors:?}").contains("s32[2,6]"), "{errors:?}")
            }
        }
    }
}
