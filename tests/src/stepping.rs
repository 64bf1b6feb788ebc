//! Inputs of training steps, and the way from one step to the next.

use halite_ir::{Function, Param, ParamRole, ResultRole};
use halite_tensor::{HostTensor, Init};
use halite_test_kit::numeric::uniform;

/// Inputs for the first run of an entry: tokens below `vocab`, two types of them, documents of several tokens with padding behind
/// them, weights that are away from where they would start, empty slots, what is declared.
pub fn first_inputs(entry: &Function, vocab: usize) -> Vec<HostTensor> {
    let input = |(at, param): (usize, &Param)| {
        let ty = entry.ty(param.value);
        let (dtype, shape) = (ty.dtype(), ty.shape().clone());
        match &param.role {
            ParamRole::Weight(info) => {
                let around = f64::from(u8::from(info.init == Init::Ones));
                uniform(dtype, shape, around - 0.1, around + 0.1, at as u64)
            }
            ParamRole::State(_) => HostTensor::zeros(dtype, shape),
            ParamRole::Known(content) => content.tensor(&shape, 0),
            _ => {
                let row = shape.last().copied().unwrap_or(1);
                let number = |at: usize| match &*param.name {
                    "segments" => document(at / row, at % row, row),
                    "position_ids" => at % row % DOCUMENT,
                    "attention_mask" => document(at / row, at % row, row).min(1),
                    "token_type_ids" => at / DOCUMENT % 2,
                    _ => at * 37 % vocab,
                };
                HostTensor::from_ints(dtype, shape.clone(), (0..shape.num_elements()).map(|at| number(at) as i128))
            }
        }
    };
    entry.params.iter().enumerate().map(input).collect()
}

/// The number of tokens of a document, but for the first of a row.
const DOCUMENT: usize = 3;

/// The number of the document of a position, in rows that begin in the middle of one and then end in padding.
fn document(row: usize, position: usize, length: usize) -> usize {
    let at = position + row % DOCUMENT;
    if at < length { 1 + at / DOCUMENT } else { 0 }
}

/// Puts the replacements of state among the results of an entry in the place of what they replace.
///
/// # Panics
/// When what is replaced is no parameter.
pub fn advance(entry: &Function, inputs: &mut [HostTensor], results: Vec<HostTensor>) {
    for (result, tensor) in entry.results.iter().zip(results) {
        if let ResultRole::State(name) = &result.role {
            let at = entry.params.iter().position(|param| param.name == *name).expect("a step replaces its state");
            inputs[at] = tensor;
        }
    }
}
