//! How far results of training may be apart.

use halite_tensor::HostTensor;
use halite_tensor::compare::difference;

/// How far a result of training is from what is expected, as a share of its largest element; of one that is zero but for rounding by itself. With
/// the bias of keys all scores of a query change alike, of which softmax takes the differences.
pub fn apart(name: &str, found: &HostTensor, expected: &HostTensor) -> f64 {
    let apart = difference(found, expected);
    if name.contains("self.key.bias") { apart.max_abs } else { apart.relative() }
}
