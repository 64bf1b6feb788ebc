//! Lists of actions: calls in their order, each for its piece of the batch.

use super::*;
use halite_bundle::tensors::Tensors;
use halite_tensor::Content;

/// The bundle whose step reads the number of the micro-batch in the place of tokens.
fn numbered(actions: &str) -> Bundle {
    let mut bundle = bundle();
    let manifest = &mut bundle.manifest;
    (manifest.buffers[0].role, manifest.buffers[0].shape) = (BufferRole::Batch(Some(Content::MicroBatch)), Vec::new());
    let ModuleEntry { mut inputs, outputs, .. } = manifest.modules.swap_remove(0);
    inputs[0].shape.clear();
    manifest.modules.clear();
    manifest.schedule = vec![actions.split(", ").map(|action| action.parse().unwrap()).collect()];
    add(&mut bundle, ModuleRole::TRAIN_STEP, inputs, outputs);
    bundle
}

#[test]
fn each_call_gets_the_number_of_its_piece() {
    for (actions, numbers) in [
        ("run train_step 0", &[0.0][..]),
        ("run train_step 0..3", &[0.0, 1.0, 2.0]),
        ("run train_step 2, run train_step 0..2", &[2.0, 0.0, 1.0]),
    ] {
        let mut step = TrainStep::load(HAND.shared(), &numbered(actions)).unwrap();
        step.init_state(1).unwrap();
        let mut weight = 1.0;
        for _ in 0..2 {
            step.step(&Tensors::new()).unwrap();
            weight = numbers.iter().fold(weight, |weight, number| f64::from((0.9 * weight + 0.001 * number) as f32));
        }
        assert_eq!(step.state().unwrap()["w"].f64s(), [weight], "{actions}");
    }
}
