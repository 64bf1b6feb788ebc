//! Seeded operands for functions.

use halite_ir::ops::Add;
use halite_ir::{Function, ParamRole, Sample, SampleArg, SampleValues, TensorType, sample_inputs};
use halite_tensor::{ATTEMPTS, HostTensor, STEP};

/// The kind of operands that a function is tried on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputKind {
    /// Floats between -2 and 2, integers from 0 to 3.
    Plain,
    /// Zeros of both signs, infinities, NaN, the largest and smallest numbers.
    Special,
    /// The same: elements count through them from a number, and each operand is so many of them ahead of the one before. Operands are equal
    /// where that is none; over all numbers each value meets each.
    Pairs {
        /// The number of values that an operand is ahead of the one before.
        ahead: usize,
        /// The position, among the special values, of the first element of the first operand.
        from: usize,
    },
}

/// The number of special values.
pub(crate) const SPECIALS: usize = 10;

/// Operands of a function, the same for the same seed. What is declared of them holds.
pub fn seeded_inputs(function: &Function, kind: InputKind, seed: u64) -> Vec<HostTensor> {
    let arg = |(position, ty): (usize, TensorType)| {
        let mut values = values(&ty, kind, position);
        if let (SampleValues::Listed(list), true) = (&mut values, counts(&function.params[position].role)) {
            list.retain(|&value| value >= 0.0);
        }
        SampleArg { values, ty }
    };
    let args = function.param_types().into_iter().enumerate().map(arg);
    let mut inputs = sample_inputs(&Sample::new("operands", Add, args), seed).swap_remove(0);
    for (input, param) in inputs.iter_mut().zip(&function.params) {
        if let ParamRole::Known(content) = &param.role {
            *input = content.tensor(input.shape(), 0);
        }
    }
    inputs
}

/// Whether a parameter counts updates, so that it is never below 0.
fn counts(role: &ParamRole) -> bool {
    matches!(role, ParamRole::State(spec) if [STEP, ATTEMPTS].contains(&&*spec.kind))
}

fn values(ty: &TensorType, kind: InputKind, position: usize) -> SampleValues {
    let dtype = ty.dtype();
    if kind == InputKind::Plain {
        let greatest = dtype.int_range().map_or(0, |(_, greatest)| greatest.min(3) as i64);
        return if dtype.is_float() { SampleValues::Uniform(-2.0, 2.0) } else { SampleValues::Whole(0, greatest) };
    }
    let mut list: Vec<f64> = match (dtype.max_finite(), dtype.int_range()) {
        (Some(max), _) => vec![-0.0, f64::NAN, 1.0, f64::INFINITY, 0.0, -max, f64::NEG_INFINITY, max, 1e-40, -1.5],
        (None, range) => {
            let (lowest, highest) = range.unwrap_or_default();
            vec![lowest as f64, 1.0, highest as f64, 0.0, -1.0]
        }
    };
    // Operands meet each other's values in other pairs.
    let by = match kind {
        InputKind::Pairs { ahead, from } => from + position * ahead,
        InputKind::Plain | InputKind::Special => position * 3,
    };
    let by = by % list.len();
    list.rotate_left(by);
    SampleValues::Listed(list)
}
