//! Formulas written with plain loops.

use halite_tensor::HostTensor;

/// Softmax of one row.
pub(crate) fn softmax(row: &[f64]) -> Vec<f64> {
    let total: f64 = row.iter().map(|x| x.exp()).sum();
    row.iter().map(|x| x.exp() / total).collect()
}

/// The normal distribution function, from the series of erf, which converges fast for the small numbers of the tests.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    0.5 + sum / std::f64::consts::PI.sqrt()
}

/// Rotary embedding of `[batch, seq, heads, dim]` by the frequency of each pair.
pub(crate) fn rope(x: &[f64], [batch, seq, heads, dim]: [usize; 4], frequency: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut y = x.to_vec();
    for row in 0..batch * seq * heads {
        let position = (row / heads % seq) as f64;
        for i in 0..dim / 2 {
            let angle = position * frequency(i);
            let (first, second) = (x[row * dim + i], x[row * dim + i + dim / 2]);
            y[row * dim + i] = first * angle.cos() - second * angle.sin();
            y[row * dim + i + dim / 2] = second * angle.cos() + first * angle.sin();
        }
    }
    y
}

/// Causal attention; a scale of 0 stands for `1/sqrt(dim)`. A position sees `window` positions, itself included, and of these
/// the ones of its own segment.
pub(crate) fn causal_attention([q, k, v]: [&HostTensor; 3], segments: &[i128], scale: f64, window: usize) -> Vec<f64> {
    let &[batch, seq, heads, dim] = &q.shape()[..] else { panic!("queries have four dimensions") };
    let kv_heads = k.shape()[2];
    let scale = if scale == 0.0 { 1.0 / (dim as f64).sqrt() } else { scale };
    let (q, k, v) = (q.f64s(), k.f64s(), v.f64s());
    let mut y = Vec::new();
    for n in 0..batch {
        for i in 0..seq {
            let segment = |j: usize| segments[n * seq + j];
            let seen: Vec<usize> = ((i + 1).saturating_sub(window)..=i).filter(|&j| segment(j) == segment(i)).collect();
            for head in 0..heads {
                let query = &q[((n * seq + i) * heads + head) * dim..][..dim];
                let at = |j: usize| ((n * seq + j) * kv_heads + head / (heads / kv_heads)) * dim;
                let score = |&j: &usize| scale * (0..dim).map(|c| query[c] * k[at(j) + c]).sum::<f64>();
                let p = softmax(&seen.iter().map(score).collect::<Vec<_>>());
                y.extend((0..dim).map(|c| seen.iter().zip(&p).map(|(&j, p)| p * v[at(j) + c]).sum::<f64>()));
            }
        }
    }
    y
}
