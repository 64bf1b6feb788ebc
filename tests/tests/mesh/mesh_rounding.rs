//! Stochastic rounding on meshes: copies of a weight stay one, and shards draw the bits of the whole.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite::compile::CompileOptions;
use halite_tensor::{DType, HostTensor};
use halite_tests::xla;
use halite_train::TrainStep;

/// Sequences and positions of a batch.
const BATCH: [usize; 2] = [8, 9];
const VOCAB: usize = 32;
const UPDATES: usize = 100;
/// After how many updates weights are compared. Later, roundings that fell otherwise have changed most of them.
const LOOKS: [usize; 4] = [1, 2, 4, UPDATES];
/// So many elements may always differ. Sums in another order are some 4 units of `f32` off, which makes a rounding to `bf16` fall otherwise once
/// in 2^14: of 4,944 elements 1.2 are expected to within 4 updates, and more than 8 less than once in 100,000 runs.
const FEW: usize = 8;

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

/// The sequences of an update, which start at another one where they are `moved`.
fn tokens(update: usize, moved: usize) -> HostTensor {
    let [rows, columns] = BATCH;
    let token = |at: usize| {
        let (row, column) = ((at / columns + moved) % rows, at % columns);
        ((update * 131 + row * 37 + column * column * (row + 3)) % VOCAB) as i128
    };
    HostTensor::from_ints(DType::S32, BATCH, (0..rows * columns).map(token))
}

/// The weights after so many updates as are looked at, with those after all last. Where several ranks hold the same, they do to the bit.
fn trained(mut step: TrainStep, moved: usize) -> Vec<Vec<HostTensor>> {
    step.init_state(7).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut all = Vec::new();
    for update in 1..=UPDATES {
        step.step(&tokens(update, moved)).unwrap_or_else(|errors| panic!("{errors:?}"));
        if LOOKS.contains(&update) {
            step.check_replicas().unwrap_or_else(|errors| panic!("after update {update}: {errors:?}"));
            all.push(weights(&step));
        }
    }
    all
}

/// The weights of the model, whatever a layout stores together.
fn weights(step: &TrainStep) -> Vec<HostTensor> {
    let weights = step.weights().unwrap_or_else(|errors| panic!("{errors:?}"));
    weights.into_iter().map(|(_, weight)| weight).collect()
}

/// How many elements differ, at each look.
fn differing(x: &[Vec<HostTensor>], y: &[Vec<HostTensor>]) -> Vec<usize> {
    let of = |(x, y): (&HostTensor, &HostTensor)| x.f64s().iter().zip(y.f64s()).filter(|(x, y)| **x != *y).count();
    x.iter().zip(y).map(|(x, y)| x.iter().zip(y).map(of).sum()).collect()
}

/// Ranks add up a gradient in another order than one device does, and so does one device whose batch is in another order.
#[test]
fn ranks_round_as_one_device_does() {
    let one = trained(step(8, &[]), 0);
    let reordered = differing(&one, &trained(step(8, &[]), 3));
    println!(
        "of {} elements, {reordered:?} differ where the batch is reordered",
        one[0].iter().map(|weight| weight.shape().num_elements()).sum::<usize>()
    );
    let layouts: [(usize, &[&str]); 3] = [
        (2, &["parallel.data=4", "parallel.tensor=2"]),
        (2, &["parallel.data=4", "parallel.tensor=2", "parallel.sequence=true", "parallel.zero=1"]),
        (4, &["parallel.data=2", "parallel.tensor=4", "parallel.zero=1"]),
    ];
    for (batch, layout) in layouts {
        let found = differing(&one, &trained(step(batch, layout), 0));
        println!("{layout:?}: {found:?} elements differ");
        let near = |(found, reordered): (&usize, &usize)| *found <= (2 * reordered).max(FEW);
        assert!(
            found.iter().zip(&reordered).all(near),
            "{layout:?}: {found:?} elements differ, {reordered:?} where the batch is reordered"
        );
    }
}
