//! Whole numbers that a model computes from its inputs before it takes them for positions, such as labels of which a mask leaves some out.

use crate::tensors::Tensors;
use halite_tensor::{DType, HostTensor, Shape};
use serde::{Deserialize, Serialize};

/// The most elements that a step may have: as many as 16 sequences of 2^20 tokens. A manifest is another's.
const MOST_ELEMENTS: usize = 1 << 24;

/// The most elements that all steps may have together.
const MOST_IN_ALL: usize = 1 << 26;

/// A computation from inputs, step by step, each from results of earlier ones, by their places; the last result is that of the whole.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Computed {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step of [`Computed`]. All numbers are whole; truth is 0 or 1.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// An input, of this shape.
    Input {
        /// Its name.
        name: String,
        /// Its sizes. A batch of several of these, one after another along the first dimension, is looked at one by one.
        shape: Vec<usize>,
    },
    /// A number, a scalar.
    Number(i64),
    /// The position along a dimension.
    Iota {
        /// The dimension.
        dim: usize,
        /// The sizes of the result.
        shape: Vec<usize>,
    },
    /// The elements of a result in other places: element `i` is that at `offset + sum(i * strides)` of its elements in row-major order.
    View {
        /// The place of the result that it reads.
        of: usize,
        /// The sizes of this.
        shape: Vec<usize>,
        /// The position of element 0.
        offset: i64,
        /// The distance between neighbours along each dimension.
        strides: Vec<i64>,
    },
    /// Results one after another.
    Concatenate {
        /// The places of the results.
        of: Vec<usize>,
        /// The dimension along which they are joined.
        dim: usize,
    },
    /// An operation on elements that stand at the same place, its result wrapped to a type.
    Map {
        /// The operation.
        op: MapOp,
        /// Its operands.
        of: Vec<usize>,
        /// The type.
        dtype: DType,
    },
}

/// An operation on whole numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "they are what their names say")]
pub enum MapOp {
    Add,
    Subtract,
    Multiply,
    Negate,
    Minimum,
    Maximum,
    Clamp,
    And,
    Or,
    Xor,
    Not,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Select,
    Convert,
}

impl MapOp {
    /// The result for its operands at one place; `None` where there are not as many as it takes.
    fn of(self, operands: &[i128]) -> Option<i128> {
        Some(match (self, operands) {
            (Self::Convert, &[x]) => x,
            (Self::Negate, &[x]) => x.wrapping_neg(),
            (Self::Not, &[x]) => i128::from(x == 0),
            (Self::Add, &[x, y]) => x.wrapping_add(y),
            (Self::Subtract, &[x, y]) => x.wrapping_sub(y),
            (Self::Multiply, &[x, y]) => x.wrapping_mul(y),
            (Self::Minimum, &[x, y]) => x.min(y),
            (Self::Maximum, &[x, y]) => x.max(y),
            (Self::And, &[x, y]) => x & y,
            (Self::Or, &[x, y]) => x | y,
            (Self::Xor, &[x, y]) => x ^ y,
            (Self::Equal, &[x, y]) => i128::from(x == y),
            (Self::NotEqual, &[x, y]) => i128::from(x != y),
            (Self::Less, &[x, y]) => i128::from(x < y),
            (Self::LessOrEqual, &[x, y]) => i128::from(x <= y),
            (Self::Greater, &[x, y]) => i128::from(x > y),
            (Self::GreaterOrEqual, &[x, y]) => i128::from(x >= y),
            (Self::Clamp, &[least, x, most]) => x.max(least).min(most),
            (Self::Select, &[condition, yes, no]) => {
                if condition != 0 {
                    yes
                } else {
                    no
                }
            }
            _ => return None,
        })
    }
}

impl Computed {
    /// The names of the inputs, as often as they are read.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| if let Step::Input { name, .. } = step { Some(&**name) } else { None })
    }

    /// The results of the computation from these inputs, one for each batch among those that stand one after another; `None` where an
    /// input is missing or of another shape, and where the steps are none.
    pub fn of(&self, tensors: &Tensors) -> Option<Vec<HostTensor>> {
        let batches = |step: &Step| {
            let Step::Input { name, shape } = step else { return None };
            Some(tensors.get(name).and_then(|tensor| repeats(tensor.shape(), shape)))
        };
        let mut counts = self.steps.iter().filter_map(batches);
        let count = counts.next()??;
        if counts.any(|other| other != Some(count)) {
            return None;
        }
        (0..count).map(|batch| self.of_batch(tensors, batch)).collect()
    }

    fn of_batch(&self, tensors: &Tensors, batch: usize) -> Option<HostTensor> {
        let mut results: Vec<HostTensor> = Vec::with_capacity(self.steps.len());
        let mut in_all = 0;
        for step in &self.steps {
            let result = step.result(&results, tensors, batch)?;
            in_all += result.len();
            if in_all > MOST_IN_ALL {
                return None;
            }
            results.push(result);
        }
        results.pop()
    }
}

/// The number of times that a shape stands in a larger one, one after another along the first dimension.
fn repeats(whole: &Shape, shape: &[usize]) -> Option<usize> {
    match (&whole[..], shape) {
        (whole, shape) if whole == shape => Some(1),
        ([size, rest @ ..], [each, others @ ..]) if rest == others && *each > 0 && size % each == 0 => {
            Some(size / each)
        }
        _ => None,
    }
}

/// The number of elements of a shape, if it is one that may be.
fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size)).filter(|&count| count <= MOST_ELEMENTS)
}

impl Step {
    /// The result of the step; `None` where it is no step: operands that are not there, or do not fit together.
    fn result(&self, earlier: &[HostTensor], tensors: &Tensors, batch: usize) -> Option<HostTensor> {
        let whole = |shape: &[usize], values: Vec<i128>| HostTensor::try_from_ints(DType::S64, shape, values).ok();
        match self {
            Self::Input { name, shape } => {
                let count = elements(shape)?;
                let values = tensors.get(name).filter(|tensor| !tensor.dtype().is_float())?.ints();
                whole(shape, values.get(batch * count..(batch + 1) * count)?.to_vec())
            }
            Self::Number(value) => whole(&[], vec![i128::from(*value)]),
            Self::Iota { dim, shape } => {
                let (size, inner) = (*shape.get(*dim)?, elements(shape.get(dim + 1..)?)?);
                whole(shape, (0..elements(shape)?).map(|at| (at / inner.max(1) % size.max(1)) as i128).collect())
            }
            Self::View { of, shape, offset, strides } => {
                let values = earlier.get(*of)?.ints();
                whole(shape, places(shape, *offset, strides)?.map(|at| values.get(at).copied()).collect::<Option<_>>()?)
            }
            Self::Concatenate { of, dim } => {
                let parts = of.iter().map(|&at| earlier.get(at)).collect::<Option<Vec<_>>>()?;
                let mut shape = parts.first()?.shape().to_vec();
                let outer = elements(shape.get(..*dim)?)?;
                let rows = parts.iter().map(|part| elements(part.shape().get(*dim..)?)).collect::<Option<Vec<_>>>()?;
                let sizes = parts.iter().map(|part| part.shape().get(*dim).copied()).collect::<Option<Vec<_>>>()?;
                *shape.get_mut(*dim)? = sizes.iter().sum();
                elements(&shape)?;
                let parts: Vec<_> = parts.iter().map(|part| part.ints()).collect();
                let mut values = Vec::new();
                for row in 0..outer {
                    for (part, &size) in parts.iter().zip(&rows) {
                        values.extend(part.get(row * size..(row + 1) * size)?);
                    }
                }
                whole(&shape, values)
            }
            Self::Map { op, of, dtype } => {
                let operands = of.iter().map(|&at| earlier.get(at)).collect::<Option<Vec<_>>>()?;
                let shape = operands.first()?.shape().clone();
                let values: Vec<_> =
                    operands.iter().filter(|own| *own.shape() == shape).map(|own| own.ints()).collect();
                let at = |place: usize| values.iter().map(|own| own[place]).collect::<Vec<_>>();
                let mapped: Option<Vec<i128>> = (0..shape.num_elements()).map(|place| op.of(&at(place))).collect();
                let wrapped = HostTensor::try_from_ints(*dtype, shape.clone(), mapped?).ok()?;
                whole(&shape, wrapped.ints())
            }
        }
    }
}

/// The places of all elements of a view, in order.
fn places(shape: &[usize], offset: i64, strides: &[i64]) -> Option<impl Iterator<Item = usize>> {
    elements(shape).filter(|_| strides.len() == shape.len())?;
    let (shape, strides) = (Shape::from(shape), strides.to_vec());
    let place = move |index: halite_tensor::Dims| {
        let along = index.iter().zip(&strides).map(|(&at, &stride)| (at as i64).saturating_mul(stride));
        usize::try_from(along.fold(offset, i64::saturating_add)).unwrap_or(usize::MAX)
    };
    Some(halite_tensor::Indices::new(&shape).map(place))
}
