//! The structure of literal tensors: lines, steps, triangles and bands, found in one pass over the elements.

use super::affine::{Affine, Digit};
use super::levels::{Level, Levels};
use super::region::Region;
use super::state::State;
use super::structure::runs;
use halite_tensor::HostTensor;

/// The state of a literal, from the structure of its elements.
pub(super) fn literal(tensor: &HostTensor) -> State {
    let varying: Vec<usize> = (0..tensor.shape().rank()).filter(|&dim| varies(tensor, dim)).collect();
    let known = match *varying.as_slice() {
        [dim] => line(tensor, dim).or_else(|| square_line(tensor, dim)),
        [row, column] => plane_of(tensor, row, column),
        _ => None,
    };
    let state = known.unwrap_or_default();
    let is_unknown = state.levels.is_empty() && state.number.is_none();
    State { unsure: is_unknown && masks(tensor), ..state }
}

/// Whether elements could be those of a mask.
fn masks(tensor: &HostTensor) -> bool {
    tensor.f64s().iter().any(|&value| value == 0.0 || Level::constant(value).is_fill())
}

/// Whether elements differ along a dimension.
fn varies(tensor: &HostTensor, dim: usize) -> bool {
    let (size, stride) = (tensor.dtype().size(), tensor.shape().strides()[dim]);
    let (step, period) = (stride * size, stride * size * tensor.shape()[dim]);
    if period == 0 {
        return false;
    }
    tensor.bytes().chunks_exact(period).any(|block| block[step..] != block[..period - step])
}

/// The elements along a dimension where all other indices are 0.
fn along(values: &[f64], tensor: &HostTensor, dim: usize) -> Vec<f64> {
    let stride = tensor.shape().strides()[dim];
    (0..tensor.shape()[dim]).map(|at| values[at * stride]).collect()
}

fn index(tensor: &HostTensor, dim: usize) -> Affine {
    Digit::whole(dim, tensor.shape()[dim]).into()
}

fn line(tensor: &HostTensor, dim: usize) -> Option<State> {
    let values = along(&tensor.f64s(), tensor, dim);
    let at = index(tensor, dim);
    if let Some(number) = progression(&values) {
        return Some(State { number: Some(at.scaled(number.1)?.plus_constant(number.0)), ..State::default() });
    }
    Some(State { levels: runs(&values, &at, 0)?, ..State::default() })
}

/// First element and step of whole numbers in equal steps.
fn progression(values: &[f64]) -> Option<(i64, i64)> {
    let (first, step) = (*values.first()?, values.get(1)? - values.first()?);
    let whole = |value: f64| value.fract() == 0.0 && value.abs() < (1u64 << 40) as f64;
    let even = values.windows(2).all(|pair| pair[1] - pair[0] == step);
    (whole(first) && whole(step) && even).then_some((first as i64, step as i64))
}

/// The elements of a literal that differ along two dimensions only.
struct Matrix {
    values: Vec<f64>,
    rows: usize,
    columns: usize,
    strides: (usize, usize),
}

impl Matrix {
    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.strides.0 + column * self.strides.1]
    }

    fn all(&self, mut holds: impl FnMut(usize, usize, f64) -> bool) -> bool {
        (0..self.rows).all(|row| (0..self.columns).all(|column| holds(row, column, self.at(row, column))))
    }

    /// The values by column minus row, from the lower left corner to the upper right one, when they depend on that only.
    fn diagonals(&self) -> Option<Vec<f64>> {
        let left = (0..self.rows).rev().map(|row| self.at(row, 0));
        let diagonals: Vec<f64> = left.chain((1..self.columns).map(|column| self.at(0, column))).collect();
        self.all(|row, column, value| value == diagonals[column + self.rows - 1 - row]).then_some(diagonals)
    }

    /// The least and the largest column minus row of elements other than `value`.
    fn others(&self, value: f64) -> (i64, i64) {
        let mut range = (i64::MAX, i64::MIN);
        self.all(|row, column, found| {
            if found != value {
                let offset = column as i64 - row as i64;
                range = (range.0.min(offset), range.1.max(offset));
            }
            true
        });
        range
    }
}

/// The elements along two dimensions.
fn plane_of(tensor: &HostTensor, row: usize, column: usize) -> Option<State> {
    let (shape, strides) = (tensor.shape(), tensor.shape().strides());
    let (rows, columns, strides) = (shape[row], shape[column], (strides[row], strides[column]));
    let matrix = Matrix { values: tensor.f64s(), rows, columns, strides };
    matrix_of(&matrix, index(tensor, row), index(tensor, column))
}

/// The elements along one dimension, as many as a square has.
fn square_line(tensor: &HostTensor, dim: usize) -> Option<State> {
    let (length, stride) = (tensor.shape()[dim], tensor.shape().strides()[dim]);
    let side = length.isqrt();
    if side * side != length {
        return None;
    }
    let matrix = Matrix { values: tensor.f64s(), rows: side, columns: side, strides: (side * stride, stride) };
    let digit = |stride: usize| Affine::from(Digit { dim, stride, size: side });
    matrix_of(&matrix, digit(side), digit(1))
}

fn matrix_of(matrix: &Matrix, row: Affine, column: Affine) -> Option<State> {
    let offset = column.minus(&row);
    if let Some(diagonals) = matrix.diagonals()
        && let Some(levels) = runs(&diagonals, &offset, 1 - matrix.rows as i64)
    {
        return Some(State { levels, ..State::default() });
    }
    if let Some(number) = plane(matrix, &row, &column) {
        return Some(State { number: Some(number), ..State::default() });
    }
    Some(State { levels: corners(matrix, &offset), ..State::default() })
}

/// The matrix as a function of row and column, when it is one.
fn plane(matrix: &Matrix, row: &Affine, column: &Affine) -> Option<Affine> {
    let first_row: Vec<f64> = (0..matrix.columns).map(|column| matrix.at(0, column)).collect();
    let first_column: Vec<f64> = (0..matrix.rows).map(|row| matrix.at(row, 0)).collect();
    let ((first, by_column), (_, by_row)) = (progression(&first_row)?, progression(&first_column)?);
    let value = |row: usize, column: usize| first + row as i64 * by_row + column as i64 * by_column;
    let holds = matrix.all(|row, column, found| found == value(row, column) as f64);
    holds.then(|| Some(row.scaled(by_row)?.plus(&column.scaled(by_column)?).plus_constant(first)))?
}

/// The levels of the upper right and the lower left corner: the value of each beyond the last diagonal that holds another value.
fn corners(matrix: &Matrix, offset: &Affine) -> Levels {
    let mut levels = Levels::default();
    let (upper, lower) = (matrix.at(0, matrix.columns - 1), matrix.at(matrix.rows - 1, 0));
    let mut add = |value: f64, space: Affine| {
        if let Some(region) = Region::new([space]) {
            levels.add(Level::constant(value), &region.into());
        }
    };
    add(upper, offset.clone().plus_constant(-1 - matrix.others(upper).1));
    add(lower, offset.negated().plus_constant(matrix.others(lower).0 - 1));
    levels
}

#[cfg(test)]
mod tests {
    use super::super::region::Area;
    use super::*;
    use halite_tensor::DType;

    fn square(value: impl Fn(usize, usize) -> f64) -> State {
        let values: Vec<f64> = (0..16).map(|at| value(at / 4, at % 4)).collect();
        literal(&HostTensor::from_f64s(DType::F32, [1, 4, 4], values))
    }

    #[test]
    fn triangles_and_bands_are_found() {
        let triangle = square(|row, column| f64::from(u8::from(column <= row)));
        let seen = triangle.levels.area_of(1.0).unwrap();
        let query_minus_key = index_of(1).minus(&index_of(2));
        assert_eq!(seen, &Area::from(Region::new([query_minus_key]).unwrap()));
        assert!(triangle.levels.cover_all() && !triangle.unsure);
        let band = square(|row, column| f64::from(u8::from(column <= row && column + 2 > row)));
        assert!(band.levels.cover_all());
    }

    #[test]
    fn numbers_and_irregular_corners_are_found() {
        assert!(square(|row, column| (10 * row + column) as f64).number.is_some());
        let ragged = square(|row, column| if column > row { 0.0 } else { (row * column + 1) as f64 });
        assert!(!ragged.unsure && ragged.levels.area_of(0.0).is_some());
    }

    fn index_of(dim: usize) -> Affine {
        Digit::whole(dim, 4).into()
    }
}
