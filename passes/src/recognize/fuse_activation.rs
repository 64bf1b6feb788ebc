//! `fuse-activation`.

mod gelu;
mod gelu_doubled;
mod gelu_tanh;
mod parts;
mod silu;
mod silu_tanh;
mod swiglu;

use crate::recognize::rewrite::Fusion;

/// Activations spelled out become composites: `silu`, `swiglu`, and `gelu` in both forms.
///
/// ```text
/// %s = logistic %g
/// %a = multiply %g, %s      =>    %y = swiglu %g, %u
/// %y = multiply %a, %u
/// ```
///
/// `maximum(x, 0)` is left alone: it has another gradient at 0 than `relu`.
pub(crate) fn pass() -> Fusion {
    let rules =
        vec![silu::rule(), silu_tanh::rule(), swiglu::rule(), gelu::rule(), gelu_tanh::rule(), gelu_doubled::rule()];
    Fusion::new("fuse-activation", "recognize silu, swiglu and gelu", 16, rules)
}
