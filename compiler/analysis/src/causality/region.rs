//! Sets of indices: conjunctions of half-spaces, and unions of them.

use super::affine::Affine;
use smallvec::{SmallVec, smallvec};

/// How many parts a union keeps.
const MAX_PARTS: usize = 6;

/// The indices where all of some affine functions are at least 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Region(SmallVec<[Affine; 2]>);

impl Region {
    /// Where all of these are at least 0, without what holds everywhere; `None` when they are known to exclude each
    /// other.
    pub(super) fn new(spaces: impl IntoIterator<Item = Affine>) -> Option<Self> {
        let mut kept: SmallVec<[Affine; 2]> = SmallVec::new();
        for space in spaces.into_iter().map(Affine::reduced) {
            if space.high() < 0 || kept.iter().any(|other| other.plus(&space).high() < 0) {
                return None;
            }
            if space.low() >= 0 || kept.iter().any(|other| follows(&space, other)) {
                continue;
            }
            kept.retain(|other| !follows(other, &space));
            kept.push(space);
        }
        kept.sort_unstable();
        Some(Self(kept))
    }

    /// Its half-spaces.
    pub(super) fn spaces(&self) -> &[Affine] {
        &self.0
    }

    /// Whether it has every index.
    pub(super) fn is_everywhere(&self) -> bool {
        self.0.is_empty()
    }

    /// The indices of both; `None` when there are known to be none.
    pub(super) fn and(&self, other: &Region) -> Option<Region> {
        if other.is_everywhere() || self == other {
            return Some(self.clone());
        }
        if self.is_everywhere() {
            return Some(other.clone());
        }
        Region::new(self.0.iter().chain(&other.0).cloned())
    }

    /// A bound that `form` does not exceed here.
    pub(super) fn max_of(&self, form: &Affine) -> i64 {
        let mut least = form.high();
        for (at, space) in self.0.iter().enumerate() {
            let sum = form.plus(space);
            least = least.min(sum.high());
            for other in &self.0[at + 1..] {
                least = least.min(sum.plus(other).high());
            }
        }
        least
    }

    /// Whether all of it lies where `space` is at least 0.
    pub(super) fn implies(&self, space: &Affine) -> bool {
        self.max_of(&space.negated()) <= 0
    }

    /// Whether all of it lies in `other`.
    pub(super) fn within(&self, other: &Region) -> bool {
        other.0.iter().all(|space| self.implies(space))
    }
}

/// Whether `space` is at least 0 wherever `other` is, because it is never less than a multiple of that.
fn follows(space: &Affine, other: &Affine) -> bool {
    let is_above = |other: &Affine| space.minus(other).low() >= 0;
    let Some(&(digit, by)) = other.terms().first() else { return false };
    let multiple = space.without(digit).0 / by;
    is_above(other) || (multiple > 1 && other.scaled(multiple).is_some_and(|other| is_above(&other)))
}

/// A union of regions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Area(SmallVec<[Region; 1]>);

impl From<Region> for Area {
    fn from(region: Region) -> Self {
        Self(smallvec![region])
    }
}

impl Area {
    /// Every index.
    pub(super) fn everywhere() -> Self {
        Region::default().into()
    }

    pub(super) fn regions(&self) -> &[Region] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_everywhere(&self) -> bool {
        self.0.iter().any(Region::is_everywhere)
    }

    /// The union; false when it was too complex and parts were left out.
    pub(super) fn add(&mut self, region: Region) -> bool {
        if self.0.iter().any(|own| region.within(own)) {
            return true;
        }
        self.0.retain(|own| !own.within(&region));
        if self.0.len() == MAX_PARTS {
            return false;
        }
        self.0.push(region);
        self.0.sort_unstable();
        if self.0.len() > 1 && self.complement().0.is_empty() {
            *self = Self::everywhere();
        }
        true
    }

    /// The union with another area.
    pub(super) fn add_all(&mut self, other: &Area) -> bool {
        let mut complete = true;
        for region in &other.0 {
            complete &= self.add(region.clone());
        }
        complete
    }

    /// The indices of both; false when parts were left out.
    pub(super) fn and(&self, other: &Area) -> (Area, bool) {
        let (mut both, mut complete) = (Area::default(), true);
        for region in &self.0 {
            for other in &other.0 {
                complete &= region.and(other).is_none_or(|region| both.add(region));
            }
        }
        (both, complete)
    }

    /// All other indices as regions that do not overlap, and whether these are exactly the others or more.
    pub(super) fn complement(&self) -> (SmallVec<[Region; 2]>, bool) {
        let mut rest: SmallVec<[Region; 2]> = smallvec![Region::default()];
        let mut exact = true;
        for region in &self.0 {
            let mut next: SmallVec<[Region; 2]> = SmallVec::new();
            for own in &rest {
                next.extend(outside(own, region));
            }
            if next.len() > MAX_PARTS {
                exact = false;
            } else {
                rest = next;
            }
        }
        (rest, exact)
    }

    /// Whether it has every index.
    pub(super) fn covers_all(&self) -> bool {
        self.is_everywhere() || self.complement().0.is_empty()
    }
}

/// The part of `of` outside `region`: outside its first half-space, or inside that and outside the second, and so on.
fn outside(of: &Region, region: &Region) -> SmallVec<[Region; 2]> {
    let mut parts = SmallVec::new();
    let mut inside = Some(of.clone());
    for space in region.spaces() {
        let Some(within) = inside else { break };
        let beyond = space.negated().plus_constant(-1);
        parts.extend(Region::new([beyond]).and_then(|beyond| within.and(&beyond)));
        inside = Region::new([space.clone()]).and_then(|space| within.and(&space));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::affine::Digit;
    use super::*;

    fn index(dim: usize) -> Affine {
        Affine::from(Digit::whole(dim, 8))
    }

    /// Query minus key plus `more`, at least 0.
    fn seen(more: i64) -> Region {
        Region::new([index(0).minus(&index(1)).plus_constant(more)]).unwrap()
    }

    #[test]
    fn half_spaces_that_hold_everywhere_or_nowhere_are_found() {
        assert!(seen(7).is_everywhere());
        assert!(Region::new([index(0).plus_constant(-8)]).is_none());
        assert!(seen(-1).and(&Region::new([index(1).minus(&index(0))]).unwrap()).is_none());
        assert!(seen(0).within(&seen(1)) && !seen(1).within(&seen(0)));
    }

    #[test]
    fn complements_are_exact() {
        let causal = Area::from(seen(0));
        let (outside, exact) = causal.complement();
        assert!(exact && outside.len() == 1);
        let mut all = causal.clone();
        assert!(all.add(outside[0].clone()) && all.covers_all());
        let window = Region::new([index(0).minus(&index(1)), index(1).minus(&index(0)).plus_constant(2)]).unwrap();
        assert_eq!(Area::from(window).complement().0.len(), 2);
    }
}
