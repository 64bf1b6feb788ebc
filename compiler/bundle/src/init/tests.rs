//! Tests of the initial values of states.

mod parts;

use super::*;
use crate::fixtures::{apart, packed, small};
use halite_tensor::{StateSpec, rounding};

fn samples(dtype: DType, std: f64, seed: u64, count: usize, threads: usize) -> HostTensor {
    samples_of(Init::Normal { std }, dtype, seed, count, threads)
}

fn samples_of(init: Init, dtype: DType, seed: u64, count: usize, threads: usize) -> HostTensor {
    Filling { init, dtype, through: DType::F64, seed, threads }
        .part("w", &[("w".to_owned(), [count].into())], &Cut::whole(&[count]))
        .unwrap()
}

#[test]
fn samples_are_normal() {
    let count = 300_001;
    let values = samples(DType::F64, 0.5, 7, count, 2).f64s();
    let moment = |power: i32| values.iter().map(|value| (value / 0.5).powi(power)).sum::<f64>() / count as f64;
    let neighbors = values.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / count as f64 / 0.25;
    for (found, expected) in [(moment(1), 0.0), (moment(2), 1.0), (moment(3), 0.0), (neighbors, 0.0)] {
        assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
    }
    assert!((moment(4) - 3.0).abs() < 0.05, "{}", moment(4));
}

/// Means and deviations are within six of the deviations that they have themselves over so many samples.
#[test]
fn other_samples_have_their_moments_and_ends() {
    let count = 200_000;
    for (init, low, high) in
        [(Init::Uniform { low: -0.5, high: 1.5 }, -0.5, 1.5), (Init::TruncatedNormal { std: 0.25 }, -0.5, 0.5)]
    {
        let values = samples_of(init, DType::F64, 11, count, 2).f64s();
        let (mean, std) = init.moments(&[count]).unwrap();
        let found = values.iter().sum::<f64>() / count as f64;
        let variance = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / count as f64;
        let bound = 6.0 * std / (count as f64).sqrt();
        assert!((found - mean).abs() < bound && (variance.sqrt() - std).abs() < bound, "{init:?}: {found} {variance}");
        let near = |end: f64| values.iter().any(|value| (value - end).abs() < 1e-3);
        assert!(values.iter().all(|&value| low <= value && value <= high) && near(low) && near(high), "{init:?}");
        assert_eq!(samples_of(init, DType::F32, 3, 70_003, 3), samples_of(init, DType::F32, 3, 70_003, 1));
    }
}

#[test]
fn threads_and_order_change_nothing() {
    for dtype in [DType::F32, DType::Bf16] {
        assert_eq!(samples(dtype, 1.0, 3, 200_003, 5), samples(dtype, 1.0, 3, 200_003, 1));
    }
    let mut bundle = small();
    let state = initial_state(&bundle, 3).unwrap();
    bundle.manifest.buffers.reverse();
    let reversed = initial_state(&bundle, 3).unwrap();
    assert!(state.iter().all(|(name, tensor)| reversed[name] == *tensor));
    assert_ne!(initial_state(&bundle, 4).unwrap()["w"], state["w"]);
}

/// About one sample in 2^17 lies so near the middle of two `bf16` values that rounding it at once gives another weight.
#[test]
fn a_weight_is_its_master_rounded() {
    let mut bundle = small();
    let weight = &mut bundle.manifest.buffers[1];
    (weight.dtype, weight.shape) = (DType::Bf16, vec![1 << 20]);
    let master = Buffer {
        name: "master.w".into(),
        dtype: DType::F32,
        role: BufferRole::State(StateSpec::new("master").of("w").init(Init::Weight)),
        ..weight.clone()
    };
    bundle.manifest.buffers.push(master);
    let state = initial_state(&bundle, 5).unwrap();
    let rounded = state["master.w"].f64s().into_iter().map(|value| rounding::round_to(DType::Bf16, value));
    assert_eq!(state["w"].f64s(), rounded.collect::<Vec<_>>());
}

/// A mean that is wider than the master decides, one that is narrower than the weight is the weight rounded.
#[test]
fn all_that_starts_as_a_weight_agrees() {
    let mut bundle = small();
    let weight = bundle.manifest.buffers[1].clone();
    for (kind, dtype) in [("narrow", DType::Bf16), ("wide", DType::F64), ("same", DType::F32)] {
        let spec = StateSpec::new(kind).of("w").init(Init::Weight);
        let name = spec.param_name().to_string();
        bundle.manifest.buffers.push(Buffer { name, dtype, role: BufferRole::State(spec), ..weight.clone() });
    }
    let state = initial_state(&bundle, 5).unwrap();
    let rounded = |dtype| -> Vec<f64> {
        state["wide.w"].f64s().into_iter().map(|value| rounding::round_to(dtype, value)).collect()
    };
    assert!(state["wide.w"].f64s() != rounded(DType::F32));
    for (name, dtype) in [("w", DType::F32), ("same.w", DType::F32), ("narrow.w", DType::Bf16)] {
        assert_eq!(state[name].f64s(), rounded(dtype), "{name}");
    }
}

/// A kind that nothing here knows starts as it says; what is transient is no part of a saved state.
#[test]
fn state_of_any_kind_starts_as_it_says() {
    let mut bundle = small();
    let mut add = |spec: StateSpec| {
        let (name, role) = (spec.param_name().to_string(), BufferRole::State(spec));
        bundle.manifest.buffers.push(Buffer { name, role, ..bundle.manifest.buffers[3].clone() });
    };
    add(StateSpec::new("zeta").of("w").init(Init::Constant(3.0)));
    add(StateSpec::new("sum").of("w").init(Init::Ones).transient());
    let state = initial_state(&bundle, 0).unwrap();
    assert_eq!(state.keys().collect::<Vec<_>>(), ["w", "b", "m.w", "step", "zeta.w"]);
    assert!(state["zeta.w"].f64s().iter().all(|value| *value == 3.0));
    let transient = transient_state(&bundle.manifest).unwrap();
    assert_eq!(transient.keys().collect::<Vec<_>>(), ["sum.w"]);
    assert!(transient["sum.w"].f64s().iter().all(|value| *value == 1.0));
}

/// Weight, master and moment of three tensors stored as one start as those of a bundle that stores each on its own.
#[test]
fn what_is_stored_together_changes_no_bit() {
    let (apart, together) = (initial_state(&apart(), 7).unwrap(), initial_state(&packed(), 7).unwrap());
    assert_ne!(apart["q"].f64s(), vec![0.0; 32]);
    assert_eq!(together, apart);
}

#[test]
fn state_is_everything_but_the_batch() {
    let state = initial_state(&small(), 0).unwrap();
    assert_eq!(state.keys().collect::<Vec<_>>(), ["w", "b", "m.w", "step"]);
    assert_eq!(state["b"].f64s(), [1.0; 5]);
    assert!(state["m.w"].f64s().iter().all(|value| *value == 0.0));
}

#[test]
fn a_tensor_that_memory_cannot_hold_is_refused() {
    let random = [Init::TruncatedNormal { std: 1.0 }, Init::Uniform { low: 0.0, high: 1.0 }];
    for init in [Init::Zeros, Init::Ones, Init::Normal { std: 1.0 }].into_iter().chain(random) {
        let filling = Filling { init, dtype: DType::F32, through: DType::F64, seed: 0, threads: 1 };
        let error = filling.part("w", &[], &Cut::whole(&[1 << 30, 1 << 31])).unwrap_err();
        assert_eq!(error.message(), "there is no memory for `w`, which takes 9223372036854775808 bytes");
    }
}

#[test]
fn a_manifest_that_contradicts_itself_is_refused() {
    type Change = fn(&mut Buffer);
    let message = |change: Change| {
        let mut bundle = packed();
        bundle.manifest.buffers.iter_mut().filter(|buffer| buffer.packing.is_some()).for_each(change);
        initial_state(&bundle, 0).unwrap_err().remove(0).message().to_owned()
    };
    let tampered: [(Change, &str); 17] = [
        (
            |buffer| {
                if buffer.name == "m.qkv" {
                    buffer.packing = None;
                }
            },
            "the buffer `m.qkv` is stored otherwise than `qkv`",
        ),
        (
            |buffer| {
                if buffer.name == "m.qkv" {
                    buffer.shape = vec![2, 5];
                }
            },
            "the buffer `m.qkv` has another shape than its packing",
        ),
        (|buffer| buffer.dtype = DType::S32, "the buffer `qkv` is `s32`, which is not a type of floats"),
        (
            |buffer| buffer.role = BufferRole::Weight(Init::Normal { std: f64::NAN }),
            "`qkv` starts from NaN, expected a standard deviation",
        ),
        (
            |buffer| buffer.role = BufferRole::Weight(Init::Normal { std: f64::INFINITY }),
            "starts from inf, expected a standard deviation",
        ),
        (
            |buffer| buffer.role = BufferRole::Weight(Init::Normal { std: -0.5 }),
            "starts from -0.5, expected a standard deviation",
        ),
        (
            |buffer| buffer.packing.as_mut().unwrap().ranks = 1 << 40,
            "`qkv` is packed for 1099511627776 ranks, at most 65536 can be",
        ),
        (
            |buffer| buffer.packing.as_mut().unwrap().parts[0].shape = vec![0, 8],
            "`qkv` packs `q`, which has no elements",
        ),
        (|buffer| buffer.shape[1] = 6, "the buffer `qkv` has another shape than its packing"),
        (|buffer| buffer.shape = vec![usize::MAX, 2], "the buffer `qkv` is too large"),
        (|buffer| buffer.packing.as_mut().unwrap().parts[0].shape.clear(), "part `q` of shape [] has no rows to pack"),
        (|buffer| buffer.role = BufferRole::Weight(Init::Weight), "the weight `qkv` starts as a weight"),
        (
            |buffer| buffer.role = BufferRole::Weight(Init::Constant(1e39)),
            "`qkv` starts at 1000000000000000000000000000000000000000, which is no number of `bf16`",
        ),
        (
            |buffer| buffer.role = BufferRole::State(StateSpec::new("weight")),
            "the buffer `qkv`: state cannot be of the kind `weight`",
        ),
        (
            |buffer| buffer.role = BufferRole::State(StateSpec::new("ema").init(Init::Weight)),
            "the buffer `qkv`: state of the kind `ema` starts as a weight and belongs to none",
        ),
        (
            |buffer| buffer.role = BufferRole::State(StateSpec::new("ema").of("b").init(Init::Weight)),
            "the buffer `qkv` starts as `b`, which is no weight of its shape",
        ),
        (|buffer| buffer.name = "w".into(), "the buffer `w` is listed twice"),
    ];
    for (change, expected) in tampered {
        let found = message(change);
        assert!(found.starts_with("the manifest contradicts itself: ") && found.contains(expected), "{found}");
    }
}
