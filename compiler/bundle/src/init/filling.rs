//! The initial elements of state.

use super::cut::{Cut, Run};
use super::orthogonal::orthogonal;
use crate::random::Stream;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor, Init, Shape, TRUNCATED_AT, rounding};

/// Elements that one thread fills at a time.
const CHUNK: usize = 1 << 16;

/// The filling of a buffer with initial values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    pub(super) init: Init,
    pub(super) dtype: DType,
    /// The type that samples are rounded to before `dtype`.
    pub(super) through: DType,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

/// The values of the elements.
enum Values {
    /// The bytes of each.
    Equal(Vec<u8>),
    /// Samples of a distribution, with a stream for each tensor.
    Sampled(Distribution, Vec<Stream>),
    /// Those of each tensor as a whole: no element is known without the others.
    Whole(Vec<Vec<f64>>),
    /// The first number and the step to the next, with the last size of each tensor.
    Ranged([f64; 2], Vec<usize>),
}

/// A distribution that samples are drawn from.
#[derive(Clone, Copy)]
enum Distribution {
    Normal { std: f64 },
    TruncatedNormal { std: f64 },
    Uniform { low: f64, high: f64 },
}

impl Filling {
    /// A part of the buffer `name`, whose tensors have these shapes and the samples of these names.
    pub(super) fn part(self, name: &str, tensors: &[(String, Shape)], cut: &Cut<'_>) -> Result<HostTensor> {
        let Self { init, dtype, .. } = self;
        let shape = cut.shape();
        let mut bytes = zeros(name, shape.num_elements(), dtype.size())?;
        let equal = |value: f64| Some(Values::Equal(HostTensor::scalar(dtype, value).bytes().to_vec()));
        let streams = || tensors.iter().map(|(key, _)| Stream::new(self.seed, key));
        let sampled = |distribution| Some(Values::Sampled(distribution, streams().collect()));
        let values = match init {
            Init::Zeros => None,
            Init::Ones => equal(1.0),
            Init::Constant(value) => equal(value),
            Init::Weight => return Err(Diagnostic::bug(format!("`{name}` starts as no weight"))),
            Init::Normal { std } => sampled(Distribution::Normal { std }),
            Init::TruncatedNormal { std } => sampled(Distribution::TruncatedNormal { std }),
            Init::Uniform { low, high } => sampled(Distribution::Uniform { low, high }),
            Init::Orthogonal { gain } => {
                let shapes = tensors.iter().map(|(_, shape)| shape);
                Some(Values::Whole(
                    streams().zip(shapes).map(|(stream, shape)| orthogonal(stream, shape, gain)).collect(),
                ))
            }
            Init::Range { start, step } => {
                let last = |(_, shape): &(String, Shape)| shape.last().copied().unwrap_or(1).max(1);
                Some(Values::Ranged([start, step], tensors.iter().map(last).collect()))
            }
        };
        if let Some(values) = values {
            self.fill(&values, cut, &mut bytes);
        }
        HostTensor::from_bytes(dtype, shape, bytes).map_err(|_| Diagnostic::bug("a state of another size"))
    }

    /// Fills in parallel: thread t takes chunks t, t + threads, and so on.
    fn fill(self, values: &Values, cut: &Cut<'_>, bytes: &mut [u8]) {
        let mut shares: Vec<Vec<(usize, &mut [u8])>> = (0..self.threads.max(1)).map(|_| Vec::new()).collect();
        for (index, chunk) in bytes.chunks_mut(CHUNK * self.dtype.size()).enumerate() {
            shares[index % self.threads.max(1)].push((index * CHUNK, chunk));
        }
        std::thread::scope(|scope| {
            for share in shares.into_iter().filter(|share| !share.is_empty()) {
                scope.spawn(move || {
                    for (start, chunk) in share {
                        self.fill_chunk(values, cut, start, chunk);
                    }
                });
            }
        });
    }

    /// Fills the elements from number `at` of the part on.
    fn fill_chunk(self, values: &Values, cut: &Cut<'_>, mut at: usize, mut bytes: &mut [u8]) {
        let size = self.dtype.size();
        while !bytes.is_empty() {
            let run = cut.run(at);
            let count = run.count.min(bytes.len() / size);
            let (now, later) = bytes.split_at_mut(count * size);
            self.fill_run(values, run, now);
            (at, bytes) = (at + count, later);
        }
    }

    fn fill_run(self, values: &Values, run: Run, bytes: &mut [u8]) {
        let elements = bytes.chunks_exact_mut(self.dtype.size());
        match (run.tensor, values) {
            (None, _) => {}
            (Some(_), Values::Equal(value)) => elements.for_each(|element| element.copy_from_slice(value)),
            (Some(tensor), Values::Sampled(distribution, streams)) => {
                let mut samples = Samples::new(*distribution, streams[tensor]);
                for (index, element) in elements.enumerate() {
                    self.write(element, samples.at(run.first + index * run.step));
                }
            }
            (Some(tensor), Values::Whole(whole)) => {
                for (index, element) in elements.enumerate() {
                    self.write(element, whole[tensor][run.first + index * run.step]);
                }
            }
            (Some(tensor), Values::Ranged([start, step], last)) => {
                for (index, element) in elements.enumerate() {
                    self.write(element, start + step * ((run.first + index * run.step) % last[tensor]) as f64);
                }
            }
        }
    }

    fn write(self, element: &mut [u8], value: f64) {
        write(self.dtype, element, rounding::round_to(self.through, value));
    }
}

/// Samples of one tensor by the position of the element.
struct Samples {
    distribution: Distribution,
    stream: Stream,
    /// The last pair of normal samples, with its number: they come in pairs, and elements mostly in order.
    known: (usize, [f64; 2]),
}

impl Samples {
    fn new(distribution: Distribution, stream: Stream) -> Self {
        Self { distribution, stream, known: (usize::MAX, [0.0; 2]) }
    }

    fn at(&mut self, position: usize) -> f64 {
        match self.distribution {
            Distribution::Normal { std } => std * self.normal(position),
            Distribution::TruncatedNormal { std } => std * self.truncated(position),
            Distribution::Uniform { low, high } => low + (high - low) * self.stream.unit(position as u64),
        }
    }

    fn normal(&mut self, position: usize) -> f64 {
        if self.known.0 != position / 2 {
            self.known = (position / 2, self.stream.normal_pair(position as u64 / 2));
        }
        self.known.1[position % 2]
    }

    /// Draws again what lies beyond: 4.6% of samples, so that as many draws as this all fail for none of 2^64 elements.
    fn truncated(&mut self, position: usize) -> f64 {
        let first = self.normal(position);
        let again = (1..64u64).map(|draw| self.stream.normal_pair((position as u64 / 2) | draw << 56)[position % 2]);
        std::iter::once(first).chain(again).find(|sample| sample.abs() <= TRUNCATED_AT).unwrap_or_default()
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

fn write(dtype: DType, element: &mut [u8], value: f64) {
    match dtype {
        DType::Bf16 => element.copy_from_slice(&rounding::to_bf16(value).to_le_bytes()),
        DType::F16 => element.copy_from_slice(&rounding::to_f16(value).to_le_bytes()),
        DType::F32 => element.copy_from_slice(&(value as f32).to_le_bytes()),
        DType::F64 => element.copy_from_slice(&value.to_le_bytes()),
        _ => element.copy_from_slice(&(value as i64).to_le_bytes()[..element.len()]),
    }
}
