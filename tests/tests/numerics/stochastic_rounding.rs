//! The dither composites against their reference meaning, in the interpreter and on CPU XLA, bit for bit.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use halite_ir::attr::AttrSlot;
use halite_ir::{Attr, Builder, Interpreter, LowerOptions, Module, ParamRole, Registry, TensorType, Value};
use halite_support::Result;
use halite_tensor::rounding::{random_bits, stochastic, stream_key};
use halite_tensor::{DType, HostTensor, Indices};
use halite_test_kit::xla;

const NARROW: [DType; 2] = [DType::Bf16, DType::F16];

/// A function of parameters of these types that returns what `body` makes of them.
fn program(types: &[TensorType], body: impl FnOnce(&mut Builder<'_>, &[Value]) -> Result<Vec<Value>>) -> Module {
    let registry = Registry::builtin();
    let mut module = Module::new("dither");
    let mut b = Builder::new(&mut module, &registry, "main");
    let param = |(at, ty): (usize, &TensorType)| b.param(format!("x{at}"), ty.clone(), ParamRole::Argument);
    let params: Vec<_> = types.iter().enumerate().map(param).collect();
    for result in body(&mut b, &params).unwrap() {
        b.result(result);
    }
    b.finish();
    module
}

/// The results on the interpreter and on CPU XLA, in this order.
fn run(module: &Module, inputs: &[HostTensor]) -> [Vec<HostTensor>; 2] {
    let registry = Registry::builtin();
    let interpreted = Interpreter::of(module, &registry).run(module.entry().unwrap(), inputs.to_vec()).unwrap();
    let compiled = xla::run(module, &registry, LowerOptions::default(), &[inputs.to_vec()]).unwrap().swap_remove(0);
    [interpreted, compiled]
}

fn words(words: &[u32]) -> HostTensor {
    HostTensor::from_ints(DType::U32, [words.len()], words.iter().map(|&word| i128::from(word)))
}

/// Numbers from their patterns, so that payloads of NaN stay.
fn floats(patterns: &[u32]) -> HostTensor {
    let bytes = patterns.iter().flat_map(|pattern| pattern.to_le_bytes()).collect();
    HostTensor::from_bytes(DType::F32, [patterns.len()].into(), bytes).unwrap()
}

fn scalar(dtype: DType, value: u32) -> HostTensor {
    HostTensor::from_bytes(dtype, [].into(), value.to_le_bytes().to_vec()).unwrap()
}

/// `count` words from a stream of the test's own.
fn random(name: &str, count: u64) -> Vec<u32> {
    (0..count).map(|at| stream_key(at, name)).collect()
}

fn convert(dtype: DType, count: usize) -> Module {
    let types = [TensorType::new(DType::F32, [count]), TensorType::new(DType::U32, [count])];
    program(&types, |b, args| Ok(b.composite("stochastic_convert", &[("dtype", dtype.get())], args)?.to_vec()))
}

/// Bits of shape `shape` at `offset` under the key and step that are the parameters.
fn bits(b: &mut Builder<'_>, args: &[Value], shape: &[usize], offset: &[usize]) -> Result<Value> {
    let keys = b.reshape(args[0], [1])?;
    let words = b.composite("stream_words", &[], &[keys, args[1]])?[0];
    let word = b.reshape(words, [])?;
    bits_of(b, word, args[1], shape, offset)
}

/// Bits of shape `shape` at `offset` under the word of a stream.
fn bits_of(b: &mut Builder<'_>, word: Value, step: Value, shape: &[usize], offset: &[usize]) -> Result<Value> {
    let mut args = vec![word];
    for (dim, &size) in shape.iter().enumerate() {
        let offset = offset.get(dim).copied().unwrap_or(0);
        let attrs = [("dim", dim), ("size", size), ("offset", offset)];
        let attrs = attrs.map(|(name, value)| (name, Attr::Int(value as i64)));
        args.push(b.composite("coordinate_words", &attrs, &[step])?[0]);
    }
    Ok(b.composite("random_bits", &[], &args)?[0])
}

fn key_and_step() -> [TensorType; 2] {
    [TensorType::scalar(DType::U32), TensorType::scalar(DType::S32)]
}

/// Rounds every number with every word beside it and compares with the reference. Any NaN equals any other, as
/// `convert` may change a payload.
#[track_caller]
fn assert_rounds_as_reference(dtype: DType, patterns: &[u32], random: &[u32]) {
    let inputs = [floats(patterns), words(random)];
    for (place, found) in ["interpreter", "XLA"].iter().zip(run(&convert(dtype, patterns.len()), &inputs)) {
        let bytes = found[0].bytes().as_chunks::<2>().0;
        let wrong = patterns.iter().zip(random).zip(bytes).find_map(|((&pattern, &word), &bytes)| {
            let x = f32::from_bits(pattern);
            let expected = HostTensor::scalar(dtype, f64::from(stochastic(x, word, dtype)));
            let found = HostTensor::from_bytes(dtype, [].into(), bytes.to_vec()).unwrap();
            let same = if x.is_nan() { found.f64s()[0].is_nan() } else { found == expected };
            (!same).then(|| format!("{x:e} ({pattern:#x}) by {word:#x}: {found:?}, expected {expected:?}"))
        });
        assert_eq!(wrong, None, "{place}, {dtype}");
    }
}

#[test]
fn random_patterns_round_as_the_reference() {
    for dtype in NARROW {
        // Every kind of number is among uniform patterns; the second list stays near the range of f16.
        let near = random("near", 20_000).into_iter().map(|word| word & 0x8fff_ffff | 0x3000_0000);
        let patterns: Vec<u32> = random("patterns", 20_000).into_iter().chain(near).collect();
        assert_rounds_as_reference(dtype, &patterns, &random("bits", 40_000));
    }
}

#[test]
fn special_values_round_as_the_reference() {
    let special = [
        0.0f32.to_bits(),
        1, // the least subnormal
        0x0000_ffff,
        0x0001_0000,
        0x007f_ffff,
        f32::MIN_POSITIVE.to_bits(),
        0x0080_0001,
        0x7f7f_0000, // the largest bf16
        0x7f7f_0001,
        f32::MAX.to_bits(),
        f32::INFINITY.to_bits(),
        0x7f80_0001, // NaN whose payload is in the lower half only
        0x7fbf_ffff,
        f32::NAN.to_bits(),
        0x7fff_ffff, // NaN that a carry would turn into zero
        0x477f_e000, // the largest f16
        0x477f_e001,
        0x477f_ffff,
        65536f32.to_bits(),
        0x387f_ffff, // below the least normal f16
        0x3880_0000,
        0x3300_0000, // half of the least subnormal f16
        0x3380_0000,
        0x3380_0001,
    ];
    let signed: Vec<u32> = special.into_iter().flat_map(|pattern| [pattern, pattern | 1 << 31]).collect();
    let random = [0, 1, 0x1ff, 0x200, 0xffff, 0x1_0000, 0x8000_0000, 0x7fff_ffff, 0xffff_fe00, u32::MAX];
    let patterns: Vec<u32> = signed.iter().flat_map(|&pattern| random.map(|_| pattern)).collect();
    let random: Vec<u32> = signed.iter().flat_map(|_| random).collect();
    for dtype in NARROW {
        assert_rounds_as_reference(dtype, &patterns, &random);
    }
}

#[test]
fn every_narrow_value_stays() {
    for dtype in NARROW {
        let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let all = HostTensor::from_bytes(dtype, [1 << 16].into(), all).unwrap();
        let wide = HostTensor::from_f64s(DType::F32, [1 << 16], all.f64s());
        for word in [0, 0x8000_0000, u32::MAX] {
            for found in run(&convert(dtype, 1 << 16), &[wide.clone(), words(&vec![word; 1 << 16])]) {
                let moved =
                    found[0].f64s().into_iter().zip(all.f64s()).find(|(found, value)| {
                        found.to_bits() != value.to_bits() && !(found.is_nan() && value.is_nan())
                    });
                assert_eq!(moved, None, "{dtype} by {word:#x}");
            }
        }
    }
}

#[test]
fn means_lie_within_four_standard_errors() {
    const COUNT: usize = 100_000;
    // A normal value of each type, one that crosses a power of two, and subnormals; with the gap between neighbours.
    let cases = [
        (DType::Bf16, 1.003f32, 2f64.powi(-7)),
        (DType::Bf16, -1.999, 2f64.powi(-7)),
        (DType::Bf16, 3.0e-39, 2f64.powi(-133)),
        (DType::F16, 1.0003, 2f64.powi(-10)),
        (DType::F16, -2047.9, 1.0),
        (DType::F16, 3.3e-5, 2f64.powi(-24)),
        (DType::F16, -1e-8, 2f64.powi(-24)),
    ];
    for (key, (dtype, x, gap)) in (100..).zip(cases) {
        let module = program(&key_and_step(), |b, args| {
            let x = b.splat(DType::F32, [COUNT], f64::from(x))?;
            let bits = bits(b, args, &[COUNT], &[])?;
            Ok(b.composite("stochastic_convert", &[("dtype", dtype.get())], &[x, bits])?.to_vec())
        });
        let x = f64::from(x);
        let share = (x.abs() / gap).fract();
        let allowed = 4.0 * gap * (share * (1.0 - share) / COUNT as f64).sqrt();
        let [interpreted, compiled] = run(&module, &[scalar(DType::U32, key), scalar(DType::S32, 1)]);
        assert_eq!(interpreted, compiled, "{x:e} in {dtype}");
        let mean = compiled[0].f64s().iter().sum::<f64>() / COUNT as f64;
        assert!((mean - x).abs() <= allowed, "{x:e} in {dtype}: mean {mean:e}, allowed {allowed:e}");
    }
}

/// Adds 0.5 to 1024 in f16, 2,048 times. Neighbours there are 1 apart, so to nearest even every term is lost.
#[test]
fn small_terms_reach_a_sum() {
    const TERMS: u32 = 2048;
    let f16 = TensorType::scalar(DType::F16);
    let types = [vec![f16], key_and_step().to_vec()].concat();
    let module = program(&types, |b, args| {
        let sum = b.convert(args[0], DType::F32)?;
        let sum = b.add_scalar(sum, 0.5)?;
        let bits = bits(b, &args[1..], &[], &[])?;
        let dithered = b.composite("stochastic_convert", &[("dtype", DType::F16.get())], &[sum, bits])?[0];
        Ok(vec![dithered, b.convert(sum, DType::F16)?])
    });
    let registry = Registry::builtin();
    let executable = xla::compile(&xla::hlo(&module, &registry, LowerOptions::default()).unwrap(), 1).unwrap();
    let start = || HostTensor::scalar(DType::F16, 1024.0);
    let (mut dithered, mut nearest) = (start(), start());
    for step in 0..TERMS {
        let args = |sum: &HostTensor| [sum.clone(), scalar(DType::U32, 5), scalar(DType::S32, step)];
        let interpreted = Interpreter::of(&module, &registry).run(module.entry().unwrap(), args(&dithered).to_vec());
        let compiled = halite_runtime::evaluate(xla::client(), executable.as_ref(), &args(&dithered)).unwrap();
        assert_eq!(compiled[0], interpreted.unwrap()[0]);
        dithered = compiled[0].clone();
        nearest = halite_runtime::evaluate(xla::client(), executable.as_ref(), &args(&nearest)).unwrap()[1].clone();
    }
    assert_eq!(nearest.f64s(), [1024.0]);
    let sum = dithered.f64s()[0];
    assert!((sum - 2048.0).abs() <= 0.05 * 2048.0, "{sum}");
}

/// The interpreter's bits, after comparing them with XLA's and the reference.
fn checked_bits(key: u32, step: u32, shape: &[usize], offset: &[usize]) -> Vec<i128> {
    let module = program(&key_and_step(), |b, args| Ok(vec![bits(b, args, shape, offset)?]));
    let [interpreted, compiled] = run(&module, &[scalar(DType::U32, key), scalar(DType::S32, step)]);
    assert_eq!(interpreted, compiled, "{shape:?} at {offset:?}");
    let coordinate = |(at, index): (usize, &usize)| (index + offset.get(at).unwrap_or(&0)) as u32;
    let reference = Indices::new(&shape.into()).map(|index| {
        let coordinates: Vec<u32> = index.iter().enumerate().map(coordinate).collect();
        i128::from(random_bits(key, step, &coordinates))
    });
    let found = interpreted[0].ints();
    assert_eq!(found, reference.collect::<Vec<_>>(), "{shape:?} at {offset:?}");
    found
}

#[test]
fn bits_are_those_of_the_reference() {
    let last = (1 << 24) - 3; // room for three
    for (key, step) in [(0, 0), (u32::MAX, 1), (0x1234_5678, i32::MIN as u32), (7, u32::MAX)] {
        checked_bits(key, step, &[], &[]);
        checked_bits(key, step, &[50], &[]);
        checked_bits(key, step, &[3, 50], &[last, 4]);
        checked_bits(key, step, &[4, 2, 3], &[0, 1, last]);
        checked_bits(key, step, &[2, 2, 2, 3], &[]);
        checked_bits(key, step, &[0, 3], &[]);
    }
}

#[test]
fn parts_have_the_bits_of_the_whole() {
    let whole = [4, 6, 2];
    for dim in 0..whole.len() {
        let mut half = whole;
        half[dim] /= 2;
        let module = program(&key_and_step(), |b, args| {
            let mut offset = [0; 3];
            let first = bits(b, args, &half, &offset)?;
            offset[dim] = half[dim];
            let second = bits(b, args, &half, &offset)?;
            Ok(vec![b.concatenate(&[first, second], dim)?, bits(b, args, &whole, &[])?])
        });
        for found in run(&module, &[scalar(DType::U32, 3), scalar(DType::S32, 4)]) {
            assert_eq!(found[0], found[1], "split along {dim}");
        }
    }
}

/// Two tensors that become one, each at its offset, round with the bits of the one; the other way round they do not.
#[test]
fn merged_tensors_keep_their_coordinates() {
    let (queries, keys) = ([5, 4], [3, 4]);
    let module = program(&key_and_step(), |b, args| {
        let merged = bits(b, args, &[8, 4], &[])?;
        let first = bits(b, args, &queries, &[0, 0])?;
        let second = bits(b, args, &keys, &[5, 0])?;
        let swapped = bits(b, args, &keys, &[0, 0])?;
        let rows = b.slice(merged, &[5, 0], &[8, 4])?;
        Ok(vec![merged, b.concatenate(&[first, second], 0)?, rows, swapped])
    });
    for found in run(&module, &[scalar(DType::U32, 9), scalar(DType::S32, 4)]) {
        assert_eq!(found[0], found[1]);
        assert!(found[2].ints().iter().zip(found[3].ints()).all(|(here, swapped)| *here != swapped));
    }
}

/// The word of a stream does not depend on its place among the others.
#[test]
fn streams_keep_their_words_in_any_order() {
    let names = ["a.weight", "b.weight", "c.weight", "d.weight"];
    let keys = |order: &[usize]| words(&order.iter().map(|&at| stream_key(3, names[at])).collect::<Vec<_>>());
    let step = TensorType::scalar(DType::S32);
    let bits_of_last = |order: &[usize]| {
        let types = [TensorType::new(DType::U32, [order.len()]), step.clone()];
        let module = program(&types, |b, args| {
            let words = b.composite("stream_words", &[], args)?[0];
            let last = b.slice_dim(words, 0, order.len() - 1, order.len())?;
            let word = b.reshape(last, [])?;
            Ok(vec![bits_of(b, word, args[1], &[3, 4], &[])?])
        });
        let [interpreted, compiled] = run(&module, &[keys(order), scalar(DType::S32, 7)]);
        assert_eq!(interpreted, compiled);
        interpreted[0].ints()
    };
    let alone = bits_of_last(&[3]);
    assert_eq!(alone, bits_of_last(&[0, 1, 2, 3]));
    assert_eq!(alone, bits_of_last(&[2, 0, 3]));
    assert_ne!(alone, bits_of_last(&[3, 2]));
}

#[test]
fn keys_steps_and_seeds_change_the_bits() {
    let name = "model.layers.0.mlp.up_proj.weight";
    let different = [
        (stream_key(0, name), 0),
        (stream_key(1, name), 0),
        (stream_key(0, "model.layers.1.mlp.up_proj.weight"), 0),
        (stream_key(0, name), 1),
        (stream_key(0, name), 1 << 31),
    ];
    let runs = different.map(|(key, step)| checked_bits(key, step, &[16, 16], &[]));
    for (at, first) in runs.iter().enumerate() {
        for second in &runs[at + 1..] {
            let equal = first.iter().zip(second).filter(|(x, y)| x == y).count();
            assert_eq!(equal, 0, "of 256 words, {equal} agree");
        }
    }
}
