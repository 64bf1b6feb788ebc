//! Orthogonal matrices that follow from a stream of random numbers.

use crate::random::Stream;
use halite_tensor::matrix;

/// The elements of a tensor that is, as a matrix of its first size by all others, orthogonal but for the factor `gain`: its rows are of
/// that length and orthogonal to one another, or its columns where there are fewer of these.
///
/// Normal samples are orthogonalized one after another (Gram and Schmidt), twice each, so that rounding leaves nothing of the others in
/// them. The lengths that the samples have there are positive: no direction is more likely than another (Mezzadri 2007).
pub(super) fn orthogonal(stream: Stream, shape: &[usize], gain: f64) -> Vec<f64> {
    let [rows, columns] = matrix(shape);
    let (count, length) = (rows.min(columns), rows.max(columns));
    let sample = |at: usize| stream.normal_pair(at as u64 / 2)[at % 2];
    let mut vectors: Vec<Vec<f64>> = Vec::with_capacity(count);
    for number in 0..count {
        let mut vector: Vec<f64> = (0..length).map(|at| sample(number * length + at)).collect();
        for _ in 0..2 {
            for other in &vectors {
                let share = dot(&vector, other);
                vector.iter_mut().zip(other).for_each(|(own, other)| *own -= share * other);
            }
        }
        let norm = dot(&vector, &vector).sqrt();
        vector.iter_mut().for_each(|own| *own /= norm);
        vectors.push(vector);
    }
    let is_wide = rows <= columns;
    let at = |row: usize, column: usize| if is_wide { vectors[row][column] } else { vectors[column][row] };
    (0..rows * columns).map(|index| gain * at(index / columns, index % columns)).collect()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_or_columns_are_orthogonal_and_of_one_length() {
        for shape in [&[3, 5][..], &[5, 3], &[4, 4], &[2, 3, 2], &[7], &[1, 1]] {
            let [rows, columns] = matrix(shape);
            let found = orthogonal(Stream::new(1, "w"), shape, 2.0);
            let row = |at: usize| found[at * columns..][..columns].to_vec();
            let column = |at: usize| found.iter().skip(at).step_by(columns).copied().collect::<Vec<f64>>();
            let vectors: Vec<_> = match rows <= columns {
                true => (0..rows).map(row).collect(),
                false => (0..columns).map(column).collect(),
            };
            for (at, one) in vectors.iter().enumerate() {
                for (other, two) in vectors.iter().enumerate() {
                    let expected = if at == other { 4.0 } else { 0.0 };
                    assert!((dot(one, two) - expected).abs() < 1e-12, "{shape:?}");
                }
            }
            assert_ne!(found, orthogonal(Stream::new(2, "w"), shape, 2.0));
        }
    }

    /// Of 4,000 rotations of the plane, as many turn by each quarter: within six deviations of a binomial distribution.
    #[test]
    fn no_direction_is_likelier() {
        let mut counts = [0; 4];
        for seed in 0..4000 {
            let found = orthogonal(Stream::new(seed, "w"), &[2, 2], 1.0);
            counts[usize::from(found[0] > 0.0) * 2 + usize::from(found[3] > 0.0)] += 1;
        }
        assert!(counts.iter().all(|count| (836..1164).contains(count)), "{counts:?}");
    }
}
