//! Every tolerance of these tests that is not one of the kit (`halite_test_kit::tolerances`), an op's own (`Sample::ulps`) or a
//! directive of a golden file.
//! `halite verify` has its rule in `verify/src/verdict.rs`, because users see it.

/// The tolerance that the rounding of an objective in `f64`, divided by the step of a central difference, adds to `GRADIENT` of the
/// kit, relative to the objective. It is all of the tolerance where a gradient is zero.
pub const DIFFERENCE_NOISE: f64 = 1e-10;

/// The same for random modules, whose objectives are sums of more terms.
pub const RANDOM_DIFFERENCE_NOISE: f64 = 1e-9;

/// The tolerance between the interpreter and CPU XLA on a small model, norm-wise, in units of roundoff of the result: their sums have
/// different orders.
pub const SUMS: f64 = 16.0;

/// The tolerance of a model with merged projections against one without, norm-wise, in `f64`: outputs, gradients, state and its
/// changes.
pub const MERGED: f64 = 1e-12;

/// The most error against `f64` of an optimized program in mixed precision, relative to that of the unoptimized one.
pub const MIXED_RATIO: f64 = 1.5;

/// The tolerance beside that, norm-wise, in units of roundoff of the result.
pub const MIXED_ROUNDINGS: f64 = 2.0;

/// Parity with JAX in `f64`: loss, gradients, updates, logits.
pub const JAX_F64: Parity = Parity { loss: 1e-12, gradient: 1e-9, update: 1e-8, logits: 1e-12, zero: 1e-14 };

/// Parity of an `f32` program with JAX in `f64`; updates and logits are compared in `f64` only.
pub const JAX_F32: Parity = Parity { loss: 1e-5, gradient: 1e-4, update: f64::NAN, logits: f64::NAN, zero: 1e-6 };

/// The tolerance of logits of order 1 against Hugging Face's Transformers, both in `f32`.
pub const HUGGING_FACE_LOGITS: f64 = 1e-5;

/// The tolerances of Halite against JAX.
#[derive(Clone, Copy, Debug)]
pub struct Parity {
    /// Relative error of the loss.
    pub loss: f64,
    /// Error of a gradient, relative to its largest element or [`GRADIENT_FLOOR`] times the model's largest.
    pub gradient: f64,
    /// Relative error of weights and metrics after each update.
    pub update: f64,
    /// Relative error of the logits.
    pub logits: f64,
    /// Size of a gradient that is zero in theory, relative to the model's largest.
    pub zero: f64,
}

/// The scale of gradients that are small beside the others, relative to the model's largest.
pub const GRADIENT_FLOOR: f64 = 1e-3;
