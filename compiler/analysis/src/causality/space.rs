//! The index space of one instruction: the factors of its [`FactorMap`], to which the digits of operands lead and from
//! which those of results come.

use super::affine::{Affine, Digit};
use halite_ir::dims::{DimFactors, FactorId, FactorKind, FactorMap};

/// The index space of one instruction. A digit of it counts along a factor: its `dim` is the number of the factor.
pub(super) struct Space {
    map: FactorMap,
}

impl Space {
    pub(super) fn new(map: FactorMap) -> Self {
        Self { map }
    }

    /// Where a digit of an operand leads; `None` when it cuts across factors.
    pub(super) fn lift(&self, operand: usize, digit: Digit) -> Option<Affine> {
        self.along(self.map.operands.get(operand)?.get(digit.dim)?, digit)
    }

    /// The digit of a dimension in terms of the factors of that dimension.
    fn along(&self, factors: &DimFactors, digit: Digit) -> Option<Affine> {
        let (mut start, mut all, mut covered) = (1, Affine::from(0), 1);
        for &factor in factors.iter().rev() {
            let end = start * self.map.factors[factor.index()].size;
            let (low, high) = (start.max(digit.stride), end.min(digit.end()));
            if low < high {
                let divides = |by: usize, number: usize| by != 0 && number.is_multiple_of(by);
                let fits = divides(start, low) && divides(digit.stride, low) && divides(low, high);
                if !(fits && divides(high, end) && divides(high, digit.end())) {
                    return None;
                }
                let part = Digit { dim: factor.index(), stride: low / start, size: high / low };
                all = all.plus(&Affine::from(part).scaled((low / digit.stride) as i64)?);
                covered *= part.size;
            }
            start = end;
        }
        (covered == digit.size).then_some(all)
    }

    /// Where a digit of the space stands in a result; `None` when that lacks the factor.
    pub(super) fn lower(&self, result: usize, digit: Digit) -> Option<Affine> {
        let factor = FactorId::new(digit.dim);
        for (dim, factors) in self.map.results[result].iter().enumerate() {
            let mut start = 1;
            for &own in factors.iter().rev() {
                if own == factor {
                    return Some(Digit { dim, stride: start * digit.stride, size: digit.size }.into());
                }
                start *= self.map.factors[own.index()].size;
            }
        }
        None
    }

    /// Whether a result lacks the factor of a digit.
    pub(super) fn lacks(&self, result: usize, digit: Digit) -> bool {
        let factor = FactorId::new(digit.dim);
        !self.map.results[result].iter().any(|factors| factors.contains(&factor))
    }

    /// The number of positions along a factor.
    pub(super) fn size(&self, factor: usize) -> usize {
        self.map.factors[factor].size
    }

    /// The kind of the factor of a digit.
    pub(super) fn kind(&self, digit: Digit) -> FactorKind {
        self.map.factors[digit.dim].kind
    }

    /// The factors that are summed or reduced over, as whole digits.
    pub(super) fn contracted(&self) -> impl Iterator<Item = Digit> {
        let contracted =
            |(_, factor): &(usize, &halite_ir::dims::Factor)| matches!(factor.kind, FactorKind::Contracted(_));
        let whole = |(dim, factor): (usize, &halite_ir::dims::Factor)| Digit::whole(dim, factor.size);
        self.map.factors.iter().enumerate().filter(contracted).map(whole)
    }

    /// The factor along a dimension of an operand, as a whole digit; `None` when there are several or none.
    pub(super) fn factor(&self, operand: usize, dim: usize) -> Option<Digit> {
        let factors = self.map.operands.get(operand)?.get(dim)?;
        let [factor] = factors.as_slice() else { return None };
        Some(Digit::whole(factor.index(), self.map.factors[factor.index()].size))
    }
}
