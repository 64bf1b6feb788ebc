//! The state that training starts from: that of a seed, or that of given weights.

mod weights;

#[cfg(feature = "files")]
pub use weights::state_from_checkpoint;
pub use weights::state_from_weights;

use crate::bundle::{Bundle, check_buffers, contradiction};
use crate::random::Stream;
use crate::tensors::Tensors;
use crate::{Buffer, BufferRole, Manifest};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{DType, HostTensor, Init, Shape, rounding};
use indexmap::IndexMap;
use std::num::NonZero;

/// Elements that one thread fills at a time; even, because normal samples come in pairs.
const CHUNK: usize = 1 << 16;

/// The initial state of a bundle, as it is saved: the tensors of the model in every buffer that is neither fed by the host nor
/// transient, in the order of the manifest. What modules take is made of them by
/// [`to_stored`](crate::convert::to_stored).
///
/// Normal samples are a function of the seed, the weight's name and the element's position alone, so neither the number
/// of threads nor the order of the buffers nor what is stored together changes a bit. They are computed in f64 and rounded once; where state starts as a
/// weight, both are the wider of the two rounded to nearest, so that they never disagree.
///
/// # Errors
/// When the manifest contradicts itself, which one that was read or compiled does not, or there is no memory for a tensor.
pub fn initial_state(bundle: &Bundle, seed: u64) -> std::result::Result<Tensors, Diagnostics> {
    initial_state_of(&bundle.manifest, seed)
}

/// As [`initial_state`], for what a manifest describes.
///
/// # Errors
/// As [`initial_state`].
pub fn initial_state_of(manifest: &Manifest, seed: u64) -> std::result::Result<Tensors, Diagnostics> {
    Ok(initial_tensors(manifest, seed)?.collect::<Result<Tensors>>()?)
}

/// As [`initial_state_of`], one tensor after another as they are asked for, so that a large state can be handed on, or given up, before
/// it is whole.
///
/// # Errors
/// When the manifest contradicts itself; of a tensor, when there is no memory for it.
pub fn initial_tensors(
    manifest: &Manifest,
    seed: u64,
) -> std::result::Result<impl Iterator<Item = Result<(String, HostTensor)>>, Diagnostics> {
    check(manifest)?;
    let starts = Starts::of(manifest);
    let named = |buffer: &'_ Buffer| {
        let keys = keys(buffer).into_iter().zip(buffer.tensor_shapes());
        buffer.tensor_names().into_iter().zip(keys).collect::<Vec<_>>()
    };
    let all = manifest.saved().flat_map(move |buffer| named(buffer).into_iter().map(move |tensor| (buffer, tensor)));
    Ok(all.map(move |(buffer, (name, (key, shape)))| Ok((name, starts.filling(buffer, seed)?.tensor(&key, shape)?))))
}

/// What transient state holds between updates, which is what a saved state leaves out, as the bundle stores it.
///
/// # Errors
/// As [`initial_state`].
pub fn transient_state(manifest: &Manifest) -> std::result::Result<Tensors, Diagnostics> {
    check(manifest)?;
    let starts = Starts::of(manifest);
    let start = |buffer: &Buffer| {
        let shape = Shape::from(buffer.shape.as_slice());
        Ok((buffer.name.clone(), starts.filling(buffer, 0)?.tensor(&buffer.name, shape)?))
    };
    let transient = manifest.buffers.iter().filter(|buffer| !buffer.is_batch() && !buffer.is_saved());
    transient.map(start).collect::<Result<Tensors>>().map_err(Diagnostics::from)
}

/// What is built on: that buffers go together.
fn check(manifest: &Manifest) -> std::result::Result<(), Diagnostics> {
    Ok(check_buffers(&manifest.buffers).map_err(|reason| contradiction(&reason))?)
}

/// What the tensors of a buffer start by: the name of the weight that each starts as, or else its own.
fn keys(buffer: &Buffer) -> Vec<String> {
    match (buffer.starts_as(), &buffer.packing) {
        (None, _) => buffer.tensor_names(),
        (Some(weight), None) => vec![weight.to_owned()],
        (Some(_), Some(packing)) => packing.parts.iter().map(|part| part.name.clone()).collect(),
    }
}

/// How weights start, for all that starts as they do.
struct Starts<'m> {
    weights: IndexMap<&'m str, (Init, DType)>,
    threads: usize,
}

impl<'m> Starts<'m> {
    fn of(manifest: &'m Manifest) -> Self {
        let inits = manifest.buffers.iter().filter_map(|buffer| match buffer.role {
            BufferRole::Weight(init) => Some((buffer.name.as_str(), init)),
            _ => None,
        });
        let (inits, widest) = (inits.collect::<IndexMap<_, _>>(), widest(manifest));
        let weights = widest.into_iter().filter_map(|(name, widest)| Some((name, (*inits.get(name)?, widest))));
        Self { weights: weights.collect(), threads: threads() }
    }

    /// The type that what a buffer starts with is rounded to before its own.
    fn through(&self, buffer: &Buffer) -> DType {
        let weight = buffer.starts_as().and_then(|weight| self.weights.get(weight));
        weight.map_or(buffer.dtype, |(_, widest)| *widest)
    }

    /// How a buffer is filled that the host does not feed.
    fn filling(&self, buffer: &Buffer, seed: u64) -> Result<Filling> {
        let of_weight = buffer.starts_as().and_then(|weight| self.weights.get(weight)).map(|(init, _)| *init);
        let no_state = || Diagnostic::bug(format!("`{}` is no state", buffer.name));
        let init = of_weight.or(buffer.init()).ok_or_else(no_state)?;
        Ok(Filling { init, dtype: buffer.dtype, through: self.through(buffer), seed, threads: self.threads })
    }
}

/// The widest element type of each weight and of the state that starts as it, that of the weight where two are equally wide.
fn widest(manifest: &Manifest) -> IndexMap<&str, DType> {
    let rank = |buffer: &Buffer| (buffer.dtype.size(), buffer.is_weight());
    let mut widest: IndexMap<&str, &Buffer> = IndexMap::new();
    for buffer in &manifest.buffers {
        let Some(weight) = buffer.starts_as() else { continue };
        let known = widest.entry(weight).or_insert(buffer);
        if rank(buffer) > rank(known) {
            *known = buffer;
        }
    }
    widest.into_iter().map(|(weight, buffer)| (weight, buffer.dtype)).collect()
}

/// How many threads fill a tensor.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// How a buffer is filled.
#[derive(Clone, Copy)]
struct Filling {
    init: Init,
    dtype: DType,
    /// The type that samples are rounded to before `dtype`.
    through: DType,
    seed: u64,
    threads: usize,
}

impl Filling {
    /// A tensor with the samples of the name `key`.
    fn tensor(self, key: &str, shape: Shape) -> Result<HostTensor> {
        let Self { init, dtype, through, seed, threads } = self;
        let mut bytes = zeros(key, shape.num_elements(), dtype.size())?;
        let mut splat = |value: f64| {
            let value = HostTensor::scalar(dtype, value);
            bytes.chunks_mut(dtype.size()).for_each(|element| element.copy_from_slice(value.bytes()));
        };
        match init {
            Init::Zeros => {}
            Init::Ones => splat(1.0),
            Init::Constant(value) => splat(value),
            Init::Weight => return Err(Diagnostic::bug(format!("`{key}` starts as no weight"))),
            Init::Normal { std } => {
                let samples = Samples { stream: Stream::new(seed, key), std, through, dtype };
                samples.fill(&mut bytes, threads);
            }
        }
        HostTensor::from_bytes(dtype, shape, bytes).map_err(|_| Diagnostic::bug("a state of another size"))
    }
}

/// The bytes of the tensor `name`, unless there is no memory for them.
fn zeros(name: &str, elements: usize, size: usize) -> Result<Vec<u8>> {
    let (length, mut bytes) = (elements.saturating_mul(size), Vec::new());
    bytes.try_reserve_exact(length).map_err(|_| {
        Diagnostic::error(
            codes::RUNTIME_EXECUTE,
            format!("there is no memory for `{name}`, which takes {length} bytes"),
        )
    })?;
    bytes.resize(length, 0);
    Ok(bytes)
}

/// Normal samples of one buffer.
#[derive(Clone, Copy)]
struct Samples {
    stream: Stream,
    std: f64,
    /// The type that samples are rounded to before `dtype`.
    through: DType,
    dtype: DType,
}

impl Samples {
    /// Thread t takes chunks t, t + threads, and so on.
    fn fill(self, bytes: &mut [u8], threads: usize) {
        let mut shares: Vec<Vec<(usize, &mut [u8])>> = (0..threads.max(1)).map(|_| Vec::new()).collect();
        for (index, chunk) in bytes.chunks_mut(CHUNK * self.dtype.size()).enumerate() {
            shares[index % threads.max(1)].push((index, chunk));
        }
        std::thread::scope(|scope| {
            for share in shares.into_iter().filter(|share| !share.is_empty()) {
                scope.spawn(move || {
                    for (index, chunk) in share {
                        self.fill_chunk(index * CHUNK, chunk);
                    }
                });
            }
        });
    }

    fn fill_chunk(self, start: usize, bytes: &mut [u8]) {
        for (pair, elements) in bytes.chunks_mut(2 * self.dtype.size()).enumerate() {
            let samples = self.stream.normal_pair((start / 2 + pair) as u64);
            for (element, sample) in elements.chunks_mut(self.dtype.size()).zip(samples) {
                self.write(element, rounding::round_to(self.through, self.std * sample));
            }
        }
    }

    fn write(self, element: &mut [u8], value: f64) {
        match self.dtype {
            DType::Bf16 => element.copy_from_slice(&rounding::to_bf16(value).to_le_bytes()),
            DType::F16 => element.copy_from_slice(&rounding::to_f16(value).to_le_bytes()),
            DType::F32 => element.copy_from_slice(&(value as f32).to_le_bytes()),
            DType::F64 => element.copy_from_slice(&value.to_le_bytes()),
            _ => element.copy_from_slice(&(value as i64).to_le_bytes()[..element.len()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{apart, packed, small};
    use halite_tensor::StateSpec;

    fn samples(dtype: DType, std: f64, seed: u64, count: usize, threads: usize) -> HostTensor {
        Filling { init: Init::Normal { std }, dtype, through: DType::F64, seed, threads }
            .tensor("w", Shape::from([count]))
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
        for init in [Init::Zeros, Init::Ones, Init::Normal { std: 1.0 }] {
            let filling = Filling { init, dtype: DType::F32, through: DType::F64, seed: 0, threads: 1 };
            let error = filling.tensor("w", Shape::from([1 << 30, 1 << 31])).unwrap_err();
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
                "`qkv` starts from samples of the deviation NaN",
            ),
            (
                |buffer| buffer.role = BufferRole::Weight(Init::Normal { std: f64::INFINITY }),
                "samples of the deviation inf",
            ),
            (|buffer| buffer.role = BufferRole::Weight(Init::Normal { std: -0.5 }), "samples of the deviation -0.5"),
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
            (
                |buffer| buffer.packing.as_mut().unwrap().parts[0].shape.clear(),
                "part `q` of shape [] has no rows to pack",
            ),
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
}
