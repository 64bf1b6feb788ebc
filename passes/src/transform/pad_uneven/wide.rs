//! Values that are computed for padding too.

use halite_ir::Value;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A value that is computed for padding too.
#[derive(Clone)]
pub(super) struct Wide {
    /// The dimension along which the padding lies.
    pub(super) dim: usize,
    pub(super) padding: usize,
    /// The weights that it is computed from, by their place in the plan.
    pub(super) weights: SmallVec<[usize; 2]>,
}

/// Values that are computed for padding too.
pub(super) type Wides = FxHashMap<Value, Wide>;
