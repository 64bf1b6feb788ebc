//! Factor maps: how the dimensions of an op's operands and results correspond.
//!
//! An op is described by a set of factors, each an index that runs over `size` positions. A dimension of an operand or
//! result is indexed by a product of factors, major first; a dimension of size 1 or one without structure by none.
//! This is the sharding-rule view of Shardy, used first by the causality analysis and later by placements.

use crate::reduction::Reduction;
use crate::ty::TensorType;
use halite_support::entity;
use smallvec::SmallVec;

entity!(
    /// A factor of a [`FactorMap`].
    FactorId,
    "f"
);

/// The dependence of result positions on operand positions along a factor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FactorKind {
    /// Position i of the result depends on position i of the operands alone.
    Parallel,
    /// Reduced over: present in operands, absent from results. What parts of it give combines by the reduction; by none, where
    /// it takes more than that.
    Contracted(Option<Reduction>),
    /// Named by an operand of whole numbers: of an operand's positions a result element reads one, or of a result's positions an operand
    /// element reaches one.
    Indexed,
    /// Any position of the result may depend on any position of the operands.
    Mixed,
}

/// One index of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Factor {
    /// Number of positions.
    pub size: usize,
    /// The dependence of positions along it.
    pub kind: FactorKind,
}

/// The factors that index one dimension, major first.
pub type DimFactors = SmallVec<[FactorId; 2]>;

/// The correspondence of dimensions for one application of an op.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FactorMap {
    /// The factors of all dimensions; a [`FactorId`] is a position here.
    pub factors: Vec<Factor>,
    /// For each operand, for each dimension, its factors.
    pub operands: Vec<Vec<DimFactors>>,
    /// For each result, for each dimension, its factors.
    pub results: Vec<Vec<DimFactors>>,
}

impl FactorMap {
    /// A map without factors for operands and results of these ranks.
    pub fn new(args: &[&TensorType], results: &[TensorType]) -> Self {
        let empty = |ty: &TensorType| vec![DimFactors::new(); ty.rank()];
        Self {
            factors: Vec::new(),
            operands: args.iter().map(|ty| empty(ty)).collect(),
            results: results.iter().map(empty).collect(),
        }
    }

    /// Adds a factor.
    pub fn factor(&mut self, size: usize, kind: FactorKind) -> FactorId {
        self.factors.push(Factor { size, kind });
        FactorId::new(self.factors.len() - 1)
    }

    /// Adds a factor that indexes dimension `dim` of each listed operand and dimension `result_dim` of result 0.
    pub fn link(&mut self, size: usize, kind: FactorKind, operands: &[(usize, usize)], result_dim: Option<usize>) {
        let factor = self.factor(size, kind);
        for &(operand, dim) in operands {
            self.operands[operand][dim].push(factor);
        }
        if let Some(dim) = result_dim {
            self.results[0][dim].push(factor);
        }
    }

    /// Every result dimension corresponds to the same dimension of every operand of the same rank; scalars have none.
    pub fn elementwise(args: &[&TensorType], results: &[TensorType]) -> Self {
        let mut map = Self::new(args, results);
        let Some(result) = results.first() else { return map };
        for (dim, &size) in result.shape().iter().enumerate() {
            let factor = map.factor(size, FactorKind::Parallel);
            for operand in map.operands.iter_mut().chain(&mut map.results) {
                if let Some(factors) = operand.get_mut(dim) {
                    factors.push(factor);
                }
            }
        }
        map
    }

    /// No dimension corresponds to any other: every result element may depend on every operand element.
    pub fn opaque(args: &[&TensorType], results: &[TensorType]) -> Self {
        let mut map = Self::new(args, results);
        for (operand, ty) in args.iter().enumerate() {
            for (dim, &size) in ty.shape().iter().enumerate() {
                let factor = map.factor(size, FactorKind::Mixed);
                map.operands[operand][dim].push(factor);
            }
        }
        for (result, ty) in results.iter().enumerate() {
            for (dim, &size) in ty.shape().iter().enumerate() {
                let factor = map.factor(size, FactorKind::Mixed);
                map.results[result][dim].push(factor);
            }
        }
        map
    }
}
