//! Size factors: named numbers that whole numbers are products of.

use halite_ir::{DimName, SizeFactor, TensorType};
use halite_support::Name;
use std::iter::once;
use std::sync::Arc;

/// A product of more factors than this has no names.
const MAX_FACTORS: usize = 8;

/// The factors of a whole number, if one of them has a name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Factors(Option<DimName>);

/// The factors of each dimension of a tensor.
pub(crate) type Sizes = Arc<[Factors]>;

impl Factors {
    /// A product of these sizes.
    pub(crate) fn new(factors: impl IntoIterator<Item = SizeFactor>) -> Self {
        let factors: Vec<SizeFactor> = factors.into_iter().take(MAX_FACTORS + 1).collect();
        let is_named = factors.len() <= MAX_FACTORS && factors.iter().any(|factor| factor.name.is_some());
        Self(is_named.then(|| factors.into()))
    }

    /// The factors, if one has a name.
    pub(super) fn named(&self) -> Option<&DimName> {
        self.0.as_ref()
    }

    /// The same; those of a size that has no names yet are one of this name.
    pub(super) fn or_named(self, value: i64, name: &Name) -> Self {
        match &self.0 {
            Some(_) => self,
            None => Self::new(size(value).map(|size| SizeFactor::named(name.clone(), size))),
        }
    }

    /// The factors of a number, which is its own if it has no names; none where it is no size.
    fn of(&self, value: i64) -> impl Iterator<Item = SizeFactor> {
        let whole = size(value).filter(|_| self.0.is_none()).map(SizeFactor::unnamed);
        self.0.iter().flat_map(|factors| factors.iter().cloned()).chain(whole)
    }

    /// Those of the product of two numbers.
    pub(super) fn product([x, y]: [i64; 2], [left, right]: [&Self; 2]) -> Self {
        if size(x).is_none() || size(y).is_none() {
            return Self::default();
        }
        Self::new(left.of(x).chain(right.of(y)))
    }

    /// Those of the dimension of a weight.
    fn of_dim(&self, size: usize) -> DimName {
        self.0.clone().unwrap_or_else(|| once(SizeFactor::unnamed(size)).collect())
    }
}

/// A number as the size of a dimension.
fn size(value: i64) -> Option<usize> {
    usize::try_from(value).ok().filter(|&size| size > 0)
}

/// The names of the dimensions of a weight of this type, if there are any.
pub(super) fn dim_names(ty: &TensorType, sizes: &[Factors]) -> Option<Arc<[DimName]>> {
    let is_named = sizes.iter().any(|factors| factors.0.is_some());
    is_named.then(|| ty.shape().iter().zip(sizes).map(|(&size, factors)| factors.of_dim(size)).collect())
}
