//! `fuse-softmax`.

mod logarithm;
mod parts;
mod scaled;
mod softmax;

use crate::framework::example::golden;
use crate::recognize::rewrite::Fusion;

/// Softmax and its logarithm spelled out become the composites, whose gradients need only their results.
///
/// ```text
/// %peak = reduce %x {kind = max, dims = [1], ..}
/// %p = broadcast_in_dim %peak ..
/// %c = subtract %x, %p
/// %e = exponential %c                                =>    %y = softmax %x {dim = 1}
/// %sum = reduce %e {kind = sum, dims = [1], ..}
/// %s = broadcast_in_dim %sum ..
/// %y = divide %e, %s
/// ```
///
/// Without the maximum only where the operand is known to lie within bounds in which neither a power nor the sum leaves
/// the range of the element type: elsewhere the composite is a number where the program gives NaN. Masks and scales
/// before the maximum stay in the operand.
///
/// Results agree within 16 units of roundoff of the largest one. Where a program adds the maximum back to a logarithm, its
/// own result is off by a unit of roundoff of that maximum, and the composite's is not.
pub(crate) fn pass() -> Fusion {
    let rules = softmax::rules().into_iter().chain([scaled::rule()]).chain(logarithm::rules()).collect();
    Fusion::new("fuse-softmax", "recognize softmax and its logarithm", 16, rules)
        .example(golden!("fuse_softmax/spellings" @ "divides"))
}
