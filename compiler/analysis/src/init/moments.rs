//! Mean and variance of the elements of a tensor, and what elementwise functions make of them.

use halite_tensor::HostTensor;
use std::hash::{Hash, Hasher};

/// Mean and variance over the elements of a tensor, and over the random numbers that weights start from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) var: f64,
}

impl Moments {
    fn bits(self) -> [u64; 2] {
        [self.mean.to_bits(), self.var.to_bits()]
    }
}

/// By bits: what is remembered of equal moments is not found again.
impl PartialEq for Moments {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Moments {}

impl Hash for Moments {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

/// Points of the quadrature in each dimension; odd, so that the mean is one.
const POINTS: usize = 41;

/// How many standard deviations it covers to each side.
const REACH: f64 = 6.0;

impl Moments {
    /// From the first two moments; `None` when they are no finite numbers.
    pub(super) fn from_second(mean: f64, second: f64) -> Option<Self> {
        let var = (second - mean * mean).max(0.0);
        (mean.is_finite() && var.is_finite()).then_some(Self { mean, var })
    }

    /// Those of listed elements.
    pub(super) fn of(tensor: &HostTensor) -> Option<Self> {
        let values = tensor.f64s();
        let count = values.len().max(1) as f64;
        Self::from_second(values.iter().sum::<f64>() / count, values.iter().map(|x| x * x).sum::<f64>() / count)
    }

    /// Those of 0, 1, 2, .. below `count`.
    pub(super) fn of_range(count: usize) -> Self {
        let count = count.max(1) as f64;
        Self { mean: (count - 1.0) / 2.0, var: (count * count - 1.0) / 12.0 }
    }

    /// The mean of the square.
    pub(super) fn second(self) -> f64 {
        self.var + self.mean * self.mean
    }

    /// `x + sign * y` of independent `x` and `y`.
    pub(super) fn plus(self, sign: f64, other: Self) -> Self {
        Self { mean: self.mean + sign * other.mean, var: self.var + other.var }
    }

    /// `x y` of independent `x` and `y`.
    pub(super) fn times(self, other: Self) -> Self {
        let mean = self.mean * other.mean;
        Self { mean, var: (self.second() * other.second() - mean * mean).max(0.0) }
    }

    /// The sum of so many independent ones.
    pub(super) fn sum_of(self, count: usize) -> Self {
        Self { mean: self.mean * count as f64, var: self.var * count as f64 }
    }

    /// Those of so many elements of each; `None` where one of several elements is not known.
    pub(super) fn mixed(parts: impl Iterator<Item = (Option<Self>, usize)>) -> Option<Self> {
        let (mut all, mut mean, mut second) = (0.0, 0.0, 0.0);
        for (part, count) in parts.filter(|(_, count)| *count > 0) {
            let (part, count) = (part?, count as f64);
            all += count;
            mean += count * part.mean;
            second += count * part.second();
        }
        Self::from_second(mean / all, second / all)
    }

    /// Points of a normal distribution with these moments, with their weights, which add up to one.
    fn points(self) -> Vec<(f64, f64)> {
        if self.var == 0.0 {
            return vec![(self.mean, 1.0)];
        }
        let at = |index: usize| REACH * (2.0 * index as f64 / (POINTS - 1) as f64 - 1.0);
        let density = |z: f64| (-z * z / 2.0).exp();
        let total: f64 = (0..POINTS).map(|index| density(at(index))).sum();
        (0..POINTS).map(|index| (self.mean + at(index) * self.var.sqrt(), density(at(index)) / total)).collect()
    }
}

/// The points at which a function of independent normal operands is evaluated, and the weight of each.
pub(super) struct Grid {
    /// The operands at every point.
    pub(super) operands: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl Grid {
    /// All combinations of the points of the operands.
    pub(super) fn new(operands: &[Moments]) -> Self {
        let mut grid = Self { operands: Vec::new(), weights: vec![1.0] };
        for moments in operands {
            let points = moments.points();
            let repeat = |values: &[f64]| values.iter().flat_map(|&x| std::iter::repeat_n(x, points.len())).collect();
            grid.operands = grid.operands.iter().map(|values| repeat(values)).collect();
            grid.operands.push(grid.weights.iter().flat_map(|_| points.iter().map(|(x, _)| *x)).collect());
            grid.weights = grid.weights.iter().flat_map(|w| points.iter().map(move |(_, own)| w * own)).collect();
        }
        grid
    }

    /// The moments of a function with these values at the points.
    pub(super) fn moments(&self, values: &[f64]) -> Option<Moments> {
        let sum = |power: i32| values.iter().zip(&self.weights).map(|(y, w)| w * y.powi(power)).sum::<f64>();
        Moments::from_second(sum(1), sum(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quadrature_is_exact_on_polynomials() {
        let (x, y) = (Moments { mean: 0.5, var: 4.0 }, Moments { mean: -1.0, var: 0.25 });
        let grid = Grid::new(&[x, y]);
        let product: Vec<f64> = grid.operands[0].iter().zip(&grid.operands[1]).map(|(x, y)| x * y).collect();
        let (found, expected) = (grid.moments(&product).unwrap(), x.times(y));
        assert!((found.mean - expected.mean).abs() < 1e-6 && (found.var - expected.var).abs() < 1e-4, "{found:?}");
        let relu: Vec<f64> =
            Grid::new(&[Moments { mean: 0.0, var: 1.0 }]).operands[0].iter().map(|x| x.max(0.0)).collect();
        let found = Grid::new(&[Moments { mean: 0.0, var: 1.0 }]).moments(&relu).unwrap();
        assert!((found.second() - 0.5).abs() < 1e-6, "half of the square of a normal number is above 0");
    }
}
