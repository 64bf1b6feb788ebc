//! The model's names of the dimensions of its weights.

use halite_support::Name;
use std::sync::Arc;

/// The factors of the size of a dimension, major first: `heads * head_dim` is two factors. A size that is no product is one factor.
pub type DimName = Arc<[SizeFactor]>;

/// A factor of the size of a dimension.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SizeFactor {
    /// The key of the model's configuration, or the `let` of the model, that it is; `None` where it is neither.
    pub name: Option<Name>,
    /// Its size.
    pub size: usize,
}

impl SizeFactor {
    /// A factor that has a name in the model.
    pub fn named(name: impl Into<Name>, size: usize) -> Self {
        Self { name: Some(name.into()), size }
    }

    /// One without a name.
    pub fn unnamed(size: usize) -> Self {
        Self { name: None, size }
    }
}

/// The product of factors; `None` where it is beyond all sizes.
pub fn product_of(dim: &[SizeFactor]) -> Option<usize> {
    dim.iter().try_fold(1usize, |product, factor| product.checked_mul(factor.size))
}
