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
/// A variance as `mean(x^2) - mean(x)^2` is left alone: it cancels where the mean is large.
pub(crate) fn pass() -> Fusion {
    let rules = vec![rms_norm::rule(), layer_norm::rule()];
    Fusion::new("fuse-norm", "recognize rms_norm and layer_norm", 32, rules)
        .example(golden!("fuse_norm/rms_norm" @ "plain"))
}
