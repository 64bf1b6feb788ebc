//! Size factors of the dimensions of tensors.

use super::{Factors, Sizes, Value};
use halite_ir::dims::{FactorId, FactorKind, FactorMap};
use halite_ir::{Function, Inst, Registry, SizeFactor, TensorType, Value as Tensor, product_of};
use rustc_hash::FxHashMap;
use std::iter::once;

/// The factors of the dimensions of tensors of the function being written, where they are known.
#[derive(Debug, Default)]
pub(crate) struct KnownSizes(FxHashMap<Tensor, Sizes>);

impl KnownSizes {
    /// Those of a tensor; none where nothing is known.
    pub(crate) fn of(&self, tensor: Tensor) -> Sizes {
        self.0.get(&tensor).cloned().unwrap_or_default()
    }

    /// Those of a dimension of it.
    pub(super) fn dim(&self, tensor: Tensor, dim: usize) -> Factors {
        self.0.get(&tensor).and_then(|sizes| sizes.get(dim)).cloned().unwrap_or_default()
    }

    /// Notes those of the tensors in values, in order.
    pub(crate) fn know_all(&mut self, values: &[Value], sizes: &[Sizes]) {
        let mut tensors = Vec::new();
        values.iter().for_each(|value| value.tensors(&mut tensors));
        tensors.into_iter().zip(sizes).for_each(|(tensor, sizes)| self.know(tensor, sizes));
    }

    /// Notes those of a tensor. Where a dimension has no names, it keeps those that are known.
    pub(crate) fn know(&mut self, tensor: Tensor, sizes: &[Factors]) {
        let known = |dim: usize| self.dim(tensor, dim);
        let factors = |(dim, own): (usize, &Factors)| if own.named().is_some() { own.clone() } else { known(dim) };
        let sizes: Sizes = sizes.iter().enumerate().map(factors).collect();
        if sizes.iter().any(|factors| factors.named().is_some()) {
            self.0.insert(tensor, sizes);
        }
    }

    /// Notes those of the results of an instruction, as far as its dimensions are those of operands.
    pub(super) fn follow(&mut self, registry: &Registry, function: &Function, inst: &Inst) {
        if !inst.args.iter().any(|arg| self.0.contains_key(arg)) {
            return;
        }
        let map = dimension_map(registry, function, inst);
        for (&result, dims) in inst.results.iter().zip(&map.results) {
            let shape = function.ty(result).shape();
            let sizes = dims.iter().zip(shape.iter()).map(|(dim, &size)| self.joined(dim, size, &map, inst));
            self.know(result, &sizes.collect::<Vec<_>>());
        }
    }

    /// Those of a dimension of this size that runs over whole dimensions of operands.
    fn joined(&self, dim: &[FactorId], size: usize, map: &FactorMap, inst: &Inst) -> Factors {
        let factors = dim.iter().flat_map(|&factor| {
            let known = inst.args.iter().zip(&map.operands).find_map(|(&arg, dims)| {
                let at = dims.iter().position(|own| own[..] == [factor])?;
                self.dim(arg, at).named().cloned()
            });
            known.unwrap_or_else(|| once(SizeFactor::unnamed(map.factors[factor.index()].size)).collect()).to_vec()
        });
        let joined = Factors::new(factors);
        let is_whole = joined.named().is_some_and(|factors| product_of(factors) == Some(size));
        if is_whole { joined } else { Factors::default() }
    }
}

/// The correspondence of the dimensions of an instruction. A composite that states none but keeps the shape of its first operand is
/// taken to keep its dimensions.
fn dimension_map(registry: &Registry, function: &Function, inst: &Inst) -> FactorMap {
    let types = |values: &[Tensor]| values.iter().map(|&value| function.ty(value)).collect::<Vec<_>>();
    let (args, results) = (types(&inst.args), types(&inst.results));
    let results: Vec<TensorType> = results.into_iter().cloned().collect();
    registry.dims(&inst.op, &args, &results).unwrap_or_else(|| {
        let mut map = FactorMap::new(&args, &results);
        if let (Some(first), Some(result)) = (args.first(), results.first())
            && first.shape() == result.shape()
        {
            for (dim, &size) in result.shape().iter().enumerate() {
                map.link(size, FactorKind::Parallel, &[(0, dim)], Some(dim));
            }
        }
        map
    })
}
