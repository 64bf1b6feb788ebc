//! Inputs that make every part of a step matter.

use halite::compile::Ranges;
use halite::source::Source;
use halite_bundle::{Stream, part_names};
use halite_ir::{Function, NamedParams, Param, ParamRole, TensorType};
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Init, Shape, StateSpec};

/// The label that a loss leaves out.
const IGNORED: i128 = -100;

/// The kind of state that may be negative: first moments, which go with those of any other kind.
const SIGNED: &str = "m";

/// One tensor for each parameter of an entry, a function of the seed and the name in the model: one that stores several
/// tensors gets what these would. Reals are representable in `f32`, so that programs of different precision start from the
/// same numbers.
///
/// State that starts from a constant has it. Matrices are spread so that activations keep their size: initial values are so small that
/// attention would be nearly uniform and the gradients of queries and keys lost beside the rest. Vectors lie around their initial
/// values, moments are not zero, and the update is the one with the highest learning rate, so that a wrong term anywhere shows in some
/// result.
///
/// Whole numbers of a batch are ids of what they index; of labels some do not count. Those that index nothing are the numbers
/// of documents that are packed into rows.
///
/// # Errors
/// A bug when tensors do not fit into the parameter that stores them.
pub(super) fn inputs(entry: &Function, source: &Source, ranges: &Ranges, seed: u64) -> Result<Vec<HostTensor>> {
    let named = NamedParams::of(entry);
    let input = |param: &Param| {
        let ty = entry.ty(param.value);
        if ty.dtype().is_float() {
            return reals(&named, param, entry.ty(param.value), seed);
        }
        let stream = Stream::new(seed, &param.name);
        if let ParamRole::Known(content) = &param.role {
            return Ok(content.tensor(ty.shape(), 0));
        }
        if let ParamRole::State(_) = &param.role {
            let steps = [i128::from(source.recipe.schedule.warmup)];
            return Ok(HostTensor::from_ints(DType::S32, ty.shape().clone(), steps));
        }
        let row = ty.shape().last().copied().unwrap_or(1);
        let number = |index: usize| match below(ranges, &param.name) {
            Some(_) if index % (2 * row) == row - 1 && are_labels(ranges, &param.name) => IGNORED,
            Some(below) => i128::from(stream.below(index as u64, below)),
            None => document(stream, index / row, index % row, row),
        };
        Ok(HostTensor::from_ints(ty.dtype(), ty.shape().clone(), (0..ty.shape().num_elements()).map(number)))
    };
    entry.params.iter().map(input).collect()
}

/// Returns the exclusive upper bound of the integers of a batch input: the smallest number of positions among all that they index.
/// `None` if they index nothing.
pub(super) fn below(ranges: &Ranges, input: &str) -> Option<u64> {
    ranges.get(input)?.iter().map(|range| range.below).min()
}

/// Whether some of the whole numbers of a batch input are labels, which need not count.
fn are_labels(ranges: &Ranges, input: &str) -> bool {
    ranges.get(input).is_some_and(|ranges| ranges.iter().any(|range| range.except.is_some()))
}

/// The number of the document at a position of a row: documents of one length, from 1, then perhaps padding, which is 0.
fn document(stream: Stream, row: usize, position: usize, length: usize) -> i128 {
    let drawn = |of: usize, below: usize| stream.below((2 * row + of) as u64, below as u64) as usize;
    let each = 2 + drawn(0, length);
    let padding = drawn(1, length / 4 + 1);
    if position < length - padding { (1 + position / each) as i128 } else { 0 }
}

/// The tensor of a parameter of reals.
fn reals(named: &NamedParams<'_>, param: &Param, ty: &TensorType, seed: u64) -> Result<HostTensor> {
    let Param { name, role, .. } = starts_as(named, param).unwrap_or(param);
    let tensor = |name: &str, shape: &[usize]| {
        let (shape, stream) = (Shape::from(shape), Stream::new(seed, name));
        let row = shape.last().copied().unwrap_or(1);
        let values = (0..shape.num_elements()).map(|index| f64::from(real(role, row, stream, index as u64) as f32));
        HostTensor::from_f64s(ty.dtype(), shape.clone(), values)
    };
    let Some(packing) = named.packing(param) else { return Ok(tensor(name, ty.shape())) };
    let names = part_names(packing, name, role.weight_of());
    let parts: Vec<_> = names.iter().zip(&packing.parts).map(|(name, part)| tensor(name, &part.shape)).collect();
    packing.pack(&parts.iter().collect::<Vec<_>>()).map_err(|error| error.into_bug("inputs of verification"))
}

/// The weight that state starts as; both start from one value.
fn starts_as<'a>(named: &NamedParams<'a>, param: &Param) -> Option<&'a Param> {
    match &param.role {
        ParamRole::State(StateSpec { of, init: Init::Weight, .. }) => of.as_deref().and_then(|of| named.get(of)),
        _ => None,
    }
}

fn real(role: &ParamRole, row: usize, stream: Stream, index: u64) -> f64 {
    let normal = stream.normal_pair(index)[0];
    match role {
        ParamRole::Weight(info) => match info.init.constant() {
            Some(value) => value + 0.1 * normal,
            None => normal / (row as f64).sqrt(),
        },
        ParamRole::State(StateSpec { init: Init::Constant(value), .. }) => *value,
        ParamRole::State(spec) if spec.kind == SIGNED => 1e-2 * normal,
        ParamRole::State(_) => 1e-4 * normal * normal + 1e-6,
        ParamRole::Argument | ParamRole::Batch | ParamRole::Known(_) => normal,
    }
}
