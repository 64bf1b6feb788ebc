//! Stochastic rounding on meshes: copies of a weight stay one, and shards draw the bits of the whole.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::tensors::Tensors;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_train::TrainStep;
use std::collections::BTreeMap;

/// Sequences and positions of a batch.
const BATCH: [usize; 2] = [8, 9];
const VOCAB: usize = 32;
const UPDATES: usize = 100;
/// Each so many updates, one update is made from the state of one device.
const APART: usize = 5;
/// Of all roundings of a weight, so many may fall otherwise than on one device. With bits of another stream a third do: `2 p (1 - p)`,
/// where the place `p` between two numbers is any. Sums in another order are some 4 units of `f32` off, which changes a rounding to
/// `bf16` once in 2^14, and all of a row where that was one of an activation: 0.3% were seen in all.
const FEW: f64 = 0.05;

const SIZES: [&str; 8] =
    ["precision=bf16-sr", "layers=2", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=32", "seq=8"];

fn step(batch: usize, layout: &[&str]) -> TrainStep {
    let mut session = Session::new();
    let settings: Vec<String> = SIZES.iter().chain(layout).map(|&setting| setting.to_owned()).collect();
    let settings = [settings, vec![format!("batch={batch}")]].concat();
    let source = session.load("tiny", &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    let compiled = session.compile(&source, &CompileOptions::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    TrainStep::load(xla::executor(), &compiled.bundle).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The sequences of an update.
fn tokens(update: usize) -> HostTensor {
    let [rows, columns] = BATCH;
    let token = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        ((update * 131 + row * 37 + column * column * (row + 3)) % VOCAB) as i128
    };
    HostTensor::from_ints(DType::S32, BATCH, (0..rows * columns).map(token))
}

fn updated(step: &mut TrainStep, update: usize) {
    step.step(&tokens(update)).unwrap_or_else(|errors| panic!("update {update}: {errors:?}"));
}

fn state(step: &TrainStep) -> Tensors {
    step.state().unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// One device's state before each update that is looked at, with that after it.
fn looks() -> Vec<(usize, Tensors, Tensors)> {
    let mut step = step(BATCH[0], &[]);
    step.init_state(7).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut looks = Vec::new();
    for update in 0..UPDATES {
        let before = (update % APART == 0).then(|| state(&step));
        updated(&mut step, update);
        looks.extend(before.map(|before| (update, before, state(&step))));
    }
    looks
}

/// The number of elements that differ.
fn differing(found: &HostTensor, expected: &HostTensor) -> usize {
    found.f64s().iter().zip(expected.f64s()).filter(|(found, expected)| **found != *expected).count()
}

/// Ranks add up a gradient in another order than one device does. Over many updates one rounding that falls otherwise changes most weights,
/// so each update that is compared begins with the state of one device.
#[test]
fn ranks_round_as_one_device_does() {
    let looks = looks();
    let layouts: [(usize, &[&str]); 3] = [
        (2, &["parallel.data=4", "parallel.tensor=2"]),
        (2, &["parallel.data=4", "parallel.tensor=2", "parallel.sequence=true", "parallel.zero=1"]),
        (4, &["parallel.data=2", "parallel.tensor=4", "parallel.zero=1"]),
    ];
    for (batch, layout) in layouts {
        let mut ranks = step(batch, layout);
        let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (update, before, expected) in &looks {
            ranks.set_state(before.clone()).unwrap_or_else(|errors| panic!("{errors:?}"));
            updated(&mut ranks, *update);
            // Where several ranks hold the same, they do to the bit.
            ranks.check_replicas().unwrap_or_else(|errors| panic!("after update {update}: {errors:?}"));
            let found = state(&ranks);
            assert!(found.keys().eq(expected.keys()));
            for (name, expected) in expected.iter().filter(|(_, expected)| expected.dtype() == DType::Bf16) {
                let (differ, of) = counts.entry(name.clone()).or_default();
                *differ += differing(&found[name], expected);
                *of += expected.shape().num_elements();
            }
        }
        let sum = |each: fn(&(usize, usize)) -> usize| counts.values().map(each).sum::<usize>();
        println!("{layout:?}: {} of {} roundings fall otherwise", sum(|own| own.0), sum(|own| own.1));
        assert!(counts.len() > 10, "{counts:?}");
        for (name, (differ, of)) in counts {
            assert!((differ as f64) < FEW * of as f64, "{layout:?}: of `{name}`, {differ} of {of} roundings");
        }
    }
}
