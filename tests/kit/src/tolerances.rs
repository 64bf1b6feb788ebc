//! Tolerances of golden tests that are not an op's own (`Sample::ulps`) or a directive of a file.

/// The tolerance of a gradient against the central difference in `f64`, relative to the largest element (in `grad` goldens: to the
/// derivative along a direction, or 1).
pub const GRADIENT: f64 = 1e-6;

/// The tolerance of a result of `n` roundings, norm-wise: this many units of roundoff times the root of `n`.
pub const ROUNDINGS: f64 = 2.0;
