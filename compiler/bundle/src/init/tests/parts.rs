//! Parts are those of the whole.

use super::*;
use crate::convert::to_stored;
use halite_tensor::Part;

const SEED: u64 = 11;

/// The elements of a tensor in ranges of its dimensions, one by one.
fn sliced(tensor: &HostTensor, ranges: &[Range<usize>]) -> Vec<u8> {
    let (shape, size) = (tensor.shape(), tensor.dtype().size());
    let is_within = |element: usize| {
        let strides = (0..shape.len()).map(|dim| shape[dim + 1..].iter().product::<usize>());
        strides.zip(&shape[..]).zip(ranges).all(|((stride, size), range)| range.contains(&(element / stride % size)))
    };
    let elements = tensor.bytes().chunks(size).enumerate().filter(|(element, _)| is_within(*element));
    elements.flat_map(|(_, bytes)| bytes).copied().collect()
}

/// All of it, nothing of it, and random parts.
fn ranges(shape: &[usize], random: &mut impl FnMut(usize) -> usize) -> Vec<Vec<Range<usize>>> {
    let mut cases = vec![shape.iter().map(|&size| 0..size).collect(), shape.iter().map(|&size| size..size).collect()];
    for _ in 0..12 {
        let mut range = |&size: &usize| match random(3) {
            0 => 0..size,
            _ => {
                let start = random(size + 1);
                start..start + random(size + 1 - start)
            }
        };
        cases.push(shape.iter().map(&mut range).collect());
    }
    cases
}

/// The packed fixture with rows of zeros where ranks do not divide the rows of its tensors, of which one is transposed.
fn padded() -> Bundle {
    let part = |name: &str, shape: &[usize], transposed, copies, padding| Part {
        name: name.into(),
        shape: shape.into(),
        transposed,
        copies,
        padding,
    };
    let parts = vec![
        part("q", &[7, 8], false, 1, 1),
        part("k", &[2, 8], false, 2, 0),
        part("v", &[8, 3], true, 1, 1),
        part("o", &[1, 8], false, 2, 1),
    ];
    let mut bundle = packed();
    for buffer in &mut bundle.manifest.buffers {
        if let Some(packing) = &mut buffer.packing {
            (packing.ranks, packing.parts) = (4, parts.clone());
            buffer.shape = packing.shape().unwrap().to_vec();
        }
    }
    bundle
}

#[test]
fn parts_are_those_of_the_whole() {
    let mut state = 3u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let inits = [Init::Zeros, Init::Ones, Init::Constant(0.1), Init::Normal { std: 0.7 }];
    let floats = DType::ALL.into_iter().filter(|dtype| dtype.is_float());
    let kinds: Vec<_> = floats.flat_map(|dtype| inits.map(|init| (dtype, init))).collect();
    let mut compared = 0;
    for bundle in [small, packed, apart, padded] {
        for &(dtype, init) in &kinds {
            let mut manifest = bundle().manifest;
            for buffer in manifest.buffers.iter_mut().filter(|buffer| buffer.is_weight()) {
                (buffer.dtype, buffer.role) = (dtype, BufferRole::Weight(init));
            }
            let whole = to_stored(&manifest, initial_state_of(&manifest, SEED).unwrap()).unwrap();
            let initial = Initial::new(&manifest, SEED).unwrap();
            for (name, whole) in &whole {
                for ranges in ranges(whole.shape(), &mut random) {
                    let part = initial.part(name, &ranges).unwrap();
                    assert!(part.shape().iter().copied().eq(ranges.iter().map(Range::len)));
                    assert_eq!(part.dtype(), whole.dtype());
                    assert!(part.bytes() == sliced(whole, &ranges), "{name} {dtype} {init:?} {ranges:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 4000, "{compared}");
}

/// Parts that several threads fill, which begin in the middle of a pair of samples.
#[test]
fn large_parts_are_those_of_the_whole() {
    let mut manifest = small().manifest;
    manifest
        .buffers
        .iter_mut()
        .filter(|buffer| buffer.name.ends_with('w'))
        .for_each(|buffer| buffer.shape = vec![601, 501]);
    let whole = &initial_state_of(&manifest, SEED).unwrap()["w"];
    for ranges in [[0..601, 1..501], [3..601, 0..501], [0..601, 7..8]] {
        let part = Initial::new(&manifest, SEED).unwrap().part("w", &ranges).unwrap();
        assert!(part.bytes() == sliced(whole, &ranges), "{ranges:?}");
    }
}

/// A part of transient state has the values of the whole.
#[test]
fn transient_state_has_parts() {
    let mut bundle = padded();
    let spec = StateSpec::new("sum").of("qkv").init(Init::Ones).transient();
    let role = BufferRole::State(spec.clone());
    let m = bundle.manifest.buffers.iter().find(|buffer| buffer.name == "m.qkv").unwrap().clone();
    bundle.manifest.buffers.push(Buffer { name: spec.param_name().to_string(), role, ..m });
    let whole = &transient_state(&bundle.manifest).unwrap()["sum.qkv"];
    let ranges = [1..4, 1..3, 2..8];
    let part = Initial::new(&bundle.manifest, SEED).unwrap().part("sum.qkv", &ranges).unwrap();
    assert_eq!(part.bytes(), sliced(whole, &ranges));
    assert!(whole.f64s().contains(&0.0) && whole.f64s().contains(&1.0));
}

#[test]
fn a_part_that_is_none_is_refused() {
    let manifest = small().manifest;
    let refused = |name: &str, ranges: &[Range<usize>]| {
        let error = Initial::new(&manifest, SEED).unwrap().part(name, ranges).unwrap_err();
        format!("{}; {}", error.message(), error.help_text().unwrap_or_default())
    };
    let whole = 0..300;
    assert_eq!(refused("w", std::slice::from_ref(&whole)), "`w` has 2 dimensions, and 1 ranges are given; ");
    assert_eq!(refused("w", &[whole, 49..51]), "49..51 is no range of dimension 1 of `w`, which has 50 elements; ");
    #[expect(clippy::reversed_empty_ranges, reason = "it is what is refused")]
    let backwards = 3..2;
    assert_eq!(refused("b", &[backwards]), "3..2 is no range of dimension 0 of `b`, which has 5 elements; ");
    assert_eq!(refused("m.v", &[]), "the bundle has no buffer `m.v`; did you mean `m.w`?");
    assert_eq!(refused("tokens", &[]), "`tokens` is fed by the host and starts with nothing; ");
    assert_eq!(Initial::new(&manifest, SEED).unwrap().part("step", &[]).unwrap().f64s(), [0.0]);
}
