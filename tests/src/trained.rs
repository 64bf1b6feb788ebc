//! Differences of results of training.

use halite_tensor::HostTensor;
use halite_tensor::compare::difference;

/// The distance of a result of training from the expected one, relative to its largest element; absolute for one that is zero but for
/// rounding. The bias of keys changes all scores of a query alike, and softmax takes their differences.
pub fn apart(name: &str, found: &HostTensor, expected: &HostTensor) -> f64 {
    let apart = difference(found, expected);
    if name.contains("self.key.bias") { apart.max_abs } else { apart.relative() }
}
