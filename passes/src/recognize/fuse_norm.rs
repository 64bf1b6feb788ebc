//! `fuse-norm`.

mod layer_norm;
mod parts;
mod rms_norm;

use crate::framework::example::golden;
use crate::recognize::rewrite::Fusion;

/// Normalization along the last dimension spelled out becomes `rms_norm` or `layer_norm`. A layer norm without a bias
/// becomes the `rms_norm` of what is centered.
///
/// ```text
/// %s = multiply %x, %x
/// %sum = reduce %s {kind = sum, dims = [1], ..}
/// %mean = divide %sum, %count
/// %g = add %mean, %eps                               =>    %y = rms_norm %x, %w {eps = 1e-5}
/// %r = rsqrt %g
/// %i = broadcast_in_dim %r ..
/// %u = multiply %x, %i
/// %y = multiply %u, %weight
/// ```
///
/// A variance as `mean(x^2) - mean(x)^2` is recognized where it is held at 0 or above, as Flax does: it cancels where the mean is large,
/// and the composite does not. Elsewhere it is left alone, since the program may give NaN.
pub(crate) fn pass() -> Fusion {
    let rules = rms_norm::rules().into_iter().chain(layer_norm::rules()).collect();
    Fusion::new("fuse-norm", "recognize rms_norm and layer_norm", 32, rules)
        .example(golden!("fuse_norm/rms_norm" @ "plain"))
}
