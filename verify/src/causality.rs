//! Whether later tokens change earlier values, found by changing them.
//!
//! This asks the program that runs and nothing else: no part of the static analysis is used.

use super::inputs::below;
use super::program::Program;
use halite::source::Source;
use halite_bundle::Stream;
use halite_ir::{Function, ParamRole, ResultRole};
use halite_recipe::ConfigValue;
use halite_support::Diagnostics;
use halite_tensor::{DType, HostTensor, Shape};
use serde::Serialize;

/// The most positions after which tokens are changed; a small model has no more.
const MOST: usize = 32;

/// The outcome of changing later tokens.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Causality {
    /// The results that were compared, each `[batch, position, ..]`.
    pub results: Vec<String>,
    /// After how many positions the rest of the tokens was changed.
    pub positions: usize,
    /// The first value that was not the same bit for bit.
    pub leak: Option<Leak>,
}

/// A value that a later token changes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Leak {
    /// The result it stands in.
    pub result: String,
    /// Its sequence in the batch.
    pub sequence: usize,
    /// The position that it stands at.
    pub position: usize,
    /// The position from which on tokens were changed.
    pub changed_from: usize,
}

impl Causality {
    /// Whether no value changed.
    pub fn holds(&self) -> bool {
        self.leak.is_none()
    }
}

/// The inputs and results of a forward program that positions are told apart in, by their numbers.
pub(super) struct Positions {
    /// The sequence length.
    seq: usize,
    tokens: Vec<usize>,
    values: Vec<usize>,
}

impl Positions {
    /// Those of a program. `None` when it shows no values by position or takes no tokens, or when its model reads in both directions.
    pub(super) fn of(program: &Program, source: &Source) -> Option<Self> {
        let seq = source.with_sizes(&program.config).recipe.seq?;
        let (tokens, values) = (tokens(&program.entry, seq), values(&program.entry, seq));
        let is_asked = !tokens.is_empty() && !values.is_empty() && !program.bidirectional;
        is_asked.then_some(Self { seq, tokens, values })
    }
}

/// Runs a forward program with the tokens after each of some positions changed. `run` gives its results for its inputs.
///
/// # Errors
/// When XLA fails.
pub(super) fn confirm(
    Positions { seq, tokens, values }: Positions,
    (program, source): (&Program, &Source),
    seed: u64,
    mut run: impl FnMut(&[HostTensor]) -> Result<Vec<HostTensor>, Diagnostics>,
) -> Result<Causality, Diagnostics> {
    let vocab = match program.config.get("vocab") {
        Some(&ConfigValue::Int(vocab)) => i128::from(vocab.max(2)),
        _ => 2,
    };
    let inputs = program.inputs(source, seed)?;
    let before = run(&inputs)?;
    let name = |&result: &usize| program.entry.results[result].name.to_string();
    let mut causality = Causality { results: values.iter().map(name).collect(), positions: 0, leak: None };
    for position in (0..seq).step_by(seq.div_ceil(MOST)) {
        let mut changed = inputs.clone();
        for &input in &tokens {
            let limit = below(&program.ranges, &program.entry.params[input].name).map_or(vocab, i128::from);
            changed[input] = change_after(&inputs[input], position, limit, Stream::new(seed, "later tokens"));
        }
        let after = run(&changed)?;
        causality.positions += 1;
        let leak = values.iter().find_map(|&result| {
            let (sequence, at) = first_difference(&before[result], &after[result], position)?;
            Some(Leak { result: name(&result), sequence, position: at, changed_from: position + 1 })
        });
        if leak.is_some() {
            return Ok(Causality { leak, ..causality });
        }
    }
    Ok(causality)
}

/// The parameters of `[batch, position, ..]` that are fed at each step.
fn tokens(entry: &Function, seq: usize) -> Vec<usize> {
    let by_position = |shape: &Shape| shape.rank() > 1 && (shape[1] == seq || shape[1] == seq + 1);
    let params = entry.params.iter().enumerate().filter(|(_, param)| param.role == ParamRole::Batch);
    params.filter(|(_, param)| by_position(entry.ty(param.value).shape())).map(|(position, _)| position).collect()
}

/// The results of `[batch, position, ..]` that the model shows.
fn values(entry: &Function, seq: usize) -> Vec<usize> {
    let by_position = |shape: &Shape| shape.rank() > 1 && shape[1] == seq;
    let results = entry.results.iter().enumerate().filter(|(_, result)| result.role == ResultRole::Probe);
    results.filter(|(_, result)| by_position(entry.ty(result.value).shape())).map(|(position, _)| position).collect()
}

/// A tensor `[batch, position, ..]` with every element after a position changed: tokens to others of the vocabulary.
fn change_after(tensor: &HostTensor, position: usize, vocab: i128, stream: Stream) -> HostTensor {
    let (width, behind) = (tensor.shape()[1], tensor.shape()[2..].iter().product::<usize>());
    let is_later = |index: usize| index / behind.max(1) % width > position;
    let shape = tensor.shape().clone();
    if tensor.dtype().is_float() {
        let values = tensor.f64s().into_iter().enumerate();
        return HostTensor::from_f64s(
            tensor.dtype(),
            shape,
            values.map(|(i, x)| if is_later(i) { x + 1.0 } else { x }),
        );
    }
    let vocab = if tensor.dtype() == DType::Pred { 2 } else { vocab };
    let other = |index: usize, token: i128| {
        (token.max(0) + 1 + i128::from(stream.below(index as u64, u64::try_from(vocab - 1).unwrap_or(1)))) % vocab
    };
    let tokens = tensor.ints().into_iter().enumerate();
    let tokens = tokens.map(|(index, token)| if is_later(index) { other(index, token) } else { token });
    HostTensor::from_ints(tensor.dtype(), shape, tokens)
}

/// Sequence and position of the first element up to a position that is not the same bit for bit.
fn first_difference(before: &HostTensor, after: &HostTensor, position: usize) -> Option<(usize, usize)> {
    let (batch, width) = (before.shape()[0], before.shape()[1]);
    let size = before.bytes().len() / (batch * width).max(1);
    let row = |tensor: &HostTensor, index: usize| tensor.bytes()[index * size..][..size].to_vec();
    let mut earlier = (0..batch).flat_map(|sequence| (0..=position.min(width - 1)).map(move |at| (sequence, at)));
    earlier.find(|&(sequence, at)| row(before, sequence * width + at) != row(after, sequence * width + at))
}
