//! Muon. The momentum is corrected for its bias, as in Optax.

use super::moments::correction;
use super::norm::{norm, reference};
use crate::kinds::M;
use crate::rule::{BoundRule, Kind, RefWeight, Step, Terms, UpdateRule, Weight, average, scaled, spread};
use halite_ir::{Builder, Value, Values};
use halite_recipe::schema::Kind as Takes;
use halite_recipe::{Rule, Section, table};
use halite_support::{Diagnostic, Result};
use halite_tensor::Shape;
use smallvec::smallvec;

/// The coefficients `a`, `b` and `c` of an iteration, which maps a singular value `s` to `a s + b s^3 + c s^5`.
const COEFFICIENTS: [f64; 3] = [3.4445, -4.7750, 2.0315];

/// The range of the number of iterations.
const STEPS: Takes = Takes::Whole(1, 32);

table! {
    /// Settings of `muon`.
    #[derive(Clone, PartialEq, Debug)]
    struct Settings {
        /// Decay rate of the momentum.
        momentum: f64 as Takes::DECAY = 0.95,
        /// Whether the gradient is added to the momentum again.
        nesterov: bool = true,
        /// Newton-Schulz iterations.
        steps: u32 as STEPS = 5,
        /// Added to the norm by which a matrix is divided before the first iteration.
        eps: f64 as Takes::POSITIVE = 1e-8,
    }
}

static SECTION: Section = Section {
    name: "muon",
    about: "Muon (Jordan et al. 2024) for matrices: momentum, orthogonalized by a few Newton-Schulz iterations, with decoupled weight decay.",
    keys: Settings::KEYS,
    check: |recipe| recipe.optimizer.check_settings(SECTION.name, |_, _: &Settings| None),
};

#[derive(Debug)]
pub(super) struct Muon;

impl UpdateRule for Muon {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn is_elementwise(&self) -> bool {
        false
    }

    fn asks_for_output(&self) -> bool {
        true
    }

    fn fits(&self, shape: &Shape) -> std::result::Result<(), String> {
        match shape.len() {
            2 => Ok(()),
            rank => Err(format!("it has rank {rank}, expected a matrix")),
        }
    }

    fn read(&self, settings: &Rule) -> Result<Box<dyn BoundRule>> {
        Ok(Box::new(Bound { settings: settings.settings()? }))
    }
}

#[derive(Debug)]
struct Bound {
    settings: Settings,
}

impl BoundRule for Bound {
    fn kinds(&self) -> &[Kind] {
        &[M]
    }

    fn decay_rate(&self, kind: &str) -> Option<(&'static str, f64)> {
        (kind == M).then_some(("momentum", self.settings.momentum))
    }

    /// The factors of the new momentum and of the gradient before they are added; without `nesterov`, that of the momentum alone.
    fn shared(&self, b: &mut Builder<'_>, terms: &Terms) -> Result<Values> {
        let (beta, time) = (self.settings.momentum, terms.time.real);
        let now = correction(b, time, beta)?;
        if !self.settings.nesterov {
            let one = b.splat_like(now, 1.0)?;
            return Ok(smallvec![b.divide(one, now)?]);
        }
        let next = b.add_scalar(time, 1.0)?;
        let next = correction(b, next, beta)?;
        let (kept, new) = (b.splat_like(next, beta)?, b.splat_like(now, 1.0 - beta)?);
        Ok(smallvec![b.divide(kept, next)?, b.divide(new, now)?])
    }

    /// `rate * sqrt(max(1, out / in)) * orthogonalized`.
    fn step(&self, b: &mut Builder<'_>, terms: &Terms, shared: &[Value], weight: &Weight) -> Result<Step> {
        let ([rows, columns], &[m]) = (matrix(b.shape(weight.value))?, &weight.state[..]) else {
            return Err(Diagnostic::bug("Muon without its momentum"));
        };
        let gradient = scaled(b, weight.gradient, terms.factor)?;
        let m = average(b, m, gradient, self.settings.momentum)?;
        let mut x = scaled(b, m, shared[0])?;
        if let Some(&new) = shared.get(1) {
            let new = scaled(b, gradient, new)?;
            x = b.add(x, new)?;
        }
        let x = self.orthogonalized(b, x, rows > columns)?;
        let x = b.multiply_scalar(x, spectral([rows, columns], weight.output))?;
        Ok(Step { minus: scaled(b, x, terms.rate)?, state: smallvec![m] })
    }

    fn reference(&self, weight: &mut RefWeight, rate: f64, time: f64, decay: f64) {
        let &Settings { momentum, nesterov, steps, eps } = &self.settings;
        let (rows, columns) = (weight.shape[0], weight.shape[1]);
        let corrected = |time: f64| 1.0 - momentum.powf(time);
        let mut x = Vec::new();
        for (m, gradient) in weight.state[0].iter_mut().zip(&weight.gradient) {
            *m = momentum * *m + (1.0 - momentum) * gradient;
            let ahead = || momentum * *m / corrected(time + 1.0) + (1.0 - momentum) * gradient / corrected(time);
            x.push(if nesterov { ahead() } else { *m / corrected(time) });
        }
        let length = reference(&x) + eps;
        x.iter_mut().for_each(|x| *x /= length);
        let [a, b, c] = COEFFICIENTS;
        for _ in 0..steps {
            let gram = product(&x, &transposed(&x, rows), rows, columns);
            let square = product(&gram, &gram, rows, rows);
            let sum: Vec<f64> = gram.iter().zip(&square).map(|(gram, square)| b * gram + c * square).collect();
            let more = product(&sum, &x, rows, rows);
            x.iter_mut().zip(more).for_each(|(x, more)| *x = a * *x + more);
        }
        for (value, x) in weight.value.iter_mut().zip(x) {
            *value -= rate * (spectral([rows, columns], weight.output) * x + decay * *value);
        }
    }
}

impl Bound {
    /// The matrix with singular values near 1. A tall one is worked on transposed, where the products are smaller.
    fn orthogonalized(&self, b: &mut Builder<'_>, x: Value, is_tall: bool) -> Result<Value> {
        let length = norm(b, x)?;
        let length = b.add_scalar(length, self.settings.eps)?;
        let length = spread(b, length, x)?;
        let mut x = b.divide(x, length)?;
        if is_tall {
            x = b.transpose(x, &[1, 0])?;
        }
        for _ in 0..self.settings.steps {
            x = iterate(b, x)?;
        }
        if is_tall { b.transpose(x, &[1, 0]) } else { Ok(x) }
    }
}

/// `a x + (b g + c g g) x` with `g = x x^T`.
fn iterate(b: &mut Builder<'_>, x: Value) -> Result<Value> {
    let [first, third, fifth] = COEFFICIENTS;
    let gram = matmul(b, x, x, (1, 1))?;
    let square = matmul(b, gram, gram, (1, 0))?;
    let (gram, square) = (b.multiply_scalar(gram, third)?, b.multiply_scalar(square, fifth)?);
    let sum = b.add(gram, square)?;
    let more = matmul(b, sum, x, (1, 0))?;
    let kept = b.multiply_scalar(x, first)?;
    b.add(kept, more)
}

/// The sum over dimension `over.0` of `x` and `over.1` of `y`, in the type of `x`.
fn matmul(b: &mut Builder<'_>, x: Value, y: Value, over: (usize, usize)) -> Result<Value> {
    let product = b.dot_general(x, y, (&[], &[]), (&[over.0], &[over.1]))?;
    b.convert(product, b.dtype(x))
}

/// The rows and columns of what [`UpdateRule::fits`] lets through.
fn matrix(shape: &Shape) -> Result<[usize; 2]> {
    <[usize; 2]>::try_from(&shape[..]).map_err(|_| Diagnostic::bug("Muon of what is no matrix"))
}

/// Has steps of every shape be equally large in the spectral norm, by which they are measured relative to `sqrt(out / in)`.
fn spectral(sizes: [usize; 2], output: usize) -> f64 {
    (sizes[output] as f64 / sizes[1 - output] as f64).max(1.0).sqrt()
}

/// `x y` of a matrix with so many rows and columns and one with as many rows as that has columns.
fn product(x: &[f64], y: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let width = y.len() / columns;
    let at = |i: usize, j: usize| (0..columns).map(|k| x[i * columns + k] * y[k * width + j]).sum();
    (0..rows).flat_map(|i| (0..width).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect()
}

/// A matrix with so many rows, transposed.
fn transposed(x: &[f64], rows: usize) -> Vec<f64> {
    let columns = x.len() / rows;
    (0..columns).flat_map(|j| (0..rows).map(move |i| x[i * columns + j])).collect()
}
