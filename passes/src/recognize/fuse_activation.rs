//! `fuse-activation`.

mod gelu;
mod parts;
mod silu;

use crate::framework::example::golden;
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
    let rules = silu::rules().into_iter().chain(gelu::rules()).collect();
    Fusion::new("fuse-activation", "recognize silu, swiglu and gelu", 16, rules)
        .example(golden!("fuse_activation/silu" @ "silu"))
}
