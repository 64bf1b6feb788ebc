//! Placements of the parameters of a step before anything is propagated.

use super::fact::{Placement, SubAxes, block};
use crate::framework::pattern::matches_pattern;
use halite_ir::{DimName, Function, Param, ParamRole, SizeFactor, TensorType, WeightInfo};
use halite_recipe::{Divides, Parallel, SHARDS_STATE, SHARDS_SUMS, SHARDS_WEIGHTS, sub_axes_that_divide};
use halite_support::{Diagnostic, Name, Result};
use halite_tensor::{DimShard, Mesh, Sharding, SubAxisId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Sizes by the names that the model has for them, and in how many parts ranks hold them.
pub(super) type Uneven = IndexMap<Name, (usize, usize), FxBuildHasher>;

/// The placements of parameters that a recipe states.
pub(super) struct Seeds<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) parallel: &'a Parallel,
    /// Those of the module, of which one takes the micro-batches where there are several.
    pub(super) functions: &'a [Function],
    /// The last of them.
    pub(super) entry: &'a Function,
    /// The sub-axes of `tensor` in the order in which dimensions take them.
    pub(super) order: SubAxes,
}

/// The sub-axes of `tensor` in the order in which dimensions take them. Where fewer ranks can share something than there are, such as
/// key heads, it lies on ranks that follow one another, so that copies of it are as far apart as can be: on Trainium 1, [0, 8, 16, 24]
/// work together.
fn order(mesh: &Mesh, parallel: &Parallel, entry: &Function) -> SubAxes {
    let sub_axes: SubAxes = sub_axes_that_divide(mesh, Divides::Weights).collect();
    let sizes = entry.params.iter().flat_map(|param| match &param.role {
        ParamRole::Weight(info) => info.dims.as_deref().unwrap_or_default(),
        _ => &[],
    });
    let named = sizes.flat_map(|dim| dim.iter()).filter(|factor| parallel.shard.names(factor.name.as_deref()));
    let shared = |factor: &SizeFactor| {
        let mut left = factor.size;
        let divides = |&&sub_axis: &&SubAxisId| {
            let size = mesh.sub_axes()[sub_axis].size;
            let divides = left.is_multiple_of(size);
            left /= size;
            divides
        };
        sub_axes.iter().rev().take_while(divides).count()
    };
    let least = named.map(shared).min().unwrap_or(sub_axes.len());
    let (apart, first) = sub_axes.split_at(sub_axes.len() - least);
    first.iter().chain(apart).copied().collect()
}

impl<'a> Seeds<'a> {
    /// Those of a module, whose entry is its last function.
    ///
    /// # Errors
    /// When it has none, which is a bug.
    pub(super) fn new(mesh: &'a Mesh, parallel: &'a Parallel, functions: &'a [Function]) -> Result<Self> {
        let entry = functions.last().ok_or_else(|| Diagnostic::bug("a module without an entry"))?;
        Ok(Self { mesh, parallel, functions, entry, order: order(mesh, parallel, entry) })
    }

    /// The first sharding of a parameter of the entry: the batch is sharded along `data`, a weight by what its sizes are made of.
    ///
    /// # Errors
    /// When the recipe states another number of dimensions.
    pub(super) fn of(&self, param: &Param) -> Result<Sharding> {
        let shape = self.entry.ty(param.value).shape();
        let none = Sharding::replicated(shape.rank());
        Ok(match &param.role {
            ParamRole::Batch => self.batch(none, shape, &param.name),
            ParamRole::Weight(info) => match self.parallel.placed(&param.name, shape.rank(), matches_pattern)? {
                Some(axes) => self.placed(none, shape, axes),
                None if info.place.is_some() => self.placed(none, shape, info.place.as_deref().unwrap_or_default()),
                None if info.packing.is_some() => spread(self.mesh, none, shape, 0, self.order.iter().copied()),
                None => self.named(none, info.dims.as_deref().unwrap_or_default()),
            },
            _ => none,
        })
    }

    /// The first shardings of the parameters of the entry.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(super) fn weights(&self) -> Result<Vec<Sharding>> {
        self.entry.params.iter().map(|param| self.of(param)).collect()
    }

    /// Whether the recipe places a parameter by its name.
    pub(super) fn is_placed(&self, param: &Param) -> bool {
        self.parallel.place.keys().any(|pattern| matches_pattern(pattern, &param.name))
    }

    /// Sizes that the recipe names and that fewer ranks of `tensor` share than could.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(super) fn uneven(&self) -> Result<Uneven> {
        let ranks: usize = sub_axes_that_divide(self.mesh, Divides::Weights)
            .map(|sub_axis| self.mesh.sub_axes()[sub_axis].size)
            .product();
        let mut uneven = Uneven::default();
        for param in self.entry.params.iter().filter(|param| !self.is_placed(param)) {
            let ParamRole::Weight(WeightInfo { dims: Some(dims), .. }) = &param.role else { continue };
            let sharding = self.of(param)?;
            for (factors, digits) in dims.iter().zip(&sharding.0) {
                let named = factors.iter().find(|factor| self.parallel.shard.names(factor.name.as_deref()));
                let Some(SizeFactor { name: Some(name), size }) = named else { continue };
                let sharing: usize = digits.iter().map(|digit| digit.size).product();
                if sharing < ranks.min(*size) {
                    uneven.insert(name.clone(), (*size, sharing));
                }
            }
        }
        Ok(uneven)
    }

    /// Each data rank has its part of each micro-batch.
    fn batch(&self, none: Sharding, shape: &[usize], name: &str) -> Sharding {
        let micro_batch = self.functions.iter().find_map(|function| {
            let param = function.params.iter().find(|param| param.role == ParamRole::Batch && *param.name == *name)?;
            function.ty(param.value).shape().first().copied()
        });
        let Some(mut left) = micro_batch.filter(|_| !shape.is_empty()) else { return none };
        let mut sharding = none;
        for sub_axis in sub_axes_that_divide(self.mesh, Divides::Batch) {
            let size = self.mesh.sub_axes()[sub_axis].size;
            if !left.is_multiple_of(size) {
                break;
            }
            left /= size;
            sharding = sharding.with(0, DimShard { sub_axis, size, stride: left });
        }
        sharding
    }

    /// The sharding in which a weight is stored, given that in which it is computed with.
    pub(super) fn stored(&self, weight: &Sharding, ty: &TensorType) -> Sharding {
        if self.is_small(weight, ty) {
            return weight.clone();
        }
        along(self.mesh, weight, ty.shape(), self.sub_axes_of_zero(SHARDS_WEIGHTS), |_| 0..ty.rank())
    }

    /// The weights of the entry, given the sharding in which each is computed with, that fewer ranks store parts of than could, as they divide
    /// no dimension of them.
    pub(super) fn undivided(&self, weights: &[Sharding]) -> Vec<&'a Name> {
        let is_undivided = |(param, weight): &(&Param, &Sharding)| {
            let ty = self.entry.ty(param.value);
            let stored = self.stored(weight, ty);
            let is_free = |sub_axis: SubAxisId| stored.find(sub_axis).is_none();
            let is_weight = matches!(param.role, ParamRole::Weight(_));
            is_weight && !self.is_small(weight, ty) && self.sub_axes_of_zero(SHARDS_WEIGHTS).any(is_free)
        };
        self.entry.params.iter().zip(weights).filter(is_undivided).map(|(param, _)| &param.name).collect()
    }

    /// Whether a weight with this sharding has too few bytes on a rank to be stored in parts.
    fn is_small(&self, weight: &Sharding, ty: &TensorType) -> bool {
        let bytes = weight.local_shape(ty.shape()).num_elements().saturating_mul(ty.dtype().size());
        bytes < self.parallel.fsdp_min_bytes as usize
    }

    /// The placement of a weight that is stored so, or of state of it: that of the weight, and where the recipe shards state along other axes
    /// too. Sums of gradients are partial, of what each rank has computed, until all micro-batches are in.
    pub(super) fn state(&self, role: &ParamRole, weight: &Sharding, shape: &[usize]) -> Placement {
        match role {
            ParamRole::State(spec) if spec.sum => {
                let sharding = self.extended(weight, shape, SHARDS_SUMS);
                Placement { partial: self.terms(&sharding), sharding }
            }
            ParamRole::State(spec) if spec.of.is_some() => Placement::of(self.extended(weight, shape, SHARDS_STATE)),
            _ => Placement::of(weight.clone()),
        }
    }

    /// A sharding, extended along the axes of this stage of ZeRO. Dimensions that nothing shards come first.
    fn extended(&self, weight: &Sharding, shape: &[usize], stage: u32) -> Sharding {
        along(self.mesh, weight, shape, self.sub_axes_of_zero(stage), |sharding: &Sharding| {
            let free: Vec<usize> = (0..shape.len()).filter(|&dim| sharding.0[dim].is_empty()).collect();
            let rest = (0..shape.len()).filter(|&dim| !sharding.0[dim].is_empty());
            free.into_iter().chain(rest).collect::<Vec<_>>()
        })
    }

    fn sub_axes_of_zero(&self, stage: u32) -> impl Iterator<Item = SubAxisId> {
        self.parallel.axes_of_zero(stage).flat_map(|axis| self.mesh.sub_axes_of(axis.name()))
    }

    /// The sub-axes along which ranks compute terms of the gradient by a weight with this sharding: those whose ranks have other
    /// sequences, and those whose ranks have other positions of them.
    fn terms(&self, weight: &Sharding) -> SubAxes {
        let positions = self.parallel.sequence && !weight.0.is_empty();
        let tensor = sub_axes_that_divide(self.mesh, Divides::Weights).filter(|_| positions);
        let all = sub_axes_that_divide(self.mesh, Divides::Batch).chain(tensor);
        let mut sub_axes: SubAxes = all.filter(|&sub_axis| weight.find(sub_axis).is_none()).collect();
        sub_axes.sort_unstable();
        sub_axes
    }

    /// The sharding of a parameter whose dimensions these axes shard, as far as their ranks divide them.
    pub(super) fn placed(&self, none: Sharding, shape: &[usize], axes: &[impl AsRef<str>]) -> Sharding {
        let named = axes.iter().zip(0..shape.len()).filter(|(axis, _)| !axis.as_ref().is_empty());
        named.fold(none, |sharding, (axis, dim)| {
            spread(self.mesh, sharding, shape, dim, self.mesh.sub_axes_of(axis.as_ref()))
        })
    }

    /// Shards the first factor of each dimension that the recipe names, as far as the ranks divide it.
    fn named(&self, none: Sharding, dims: &[DimName]) -> Sharding {
        let mut sharding = none;
        for (dim, factors) in dims.iter().enumerate() {
            let named = |factor: &SizeFactor| self.parallel.shard.names(factor.name.as_deref());
            let Some(at) = factors.iter().position(named) else { continue };
            let mut left = factors[at].size;
            let below: usize = factors[at + 1..].iter().map(|factor| factor.size).product();
            for &sub_axis in &self.order {
                let size = self.mesh.sub_axes()[sub_axis].size;
                if !left.is_multiple_of(size) || sharding.find(sub_axis).is_some() {
                    break;
                }
                left /= size;
                sharding = sharding.with(dim, DimShard { sub_axis, size, stride: left * below });
            }
        }
        sharding
    }
}

/// Blocks of a dimension along as many of the sub-axes as divide it.
fn spread(
    mesh: &Mesh,
    none: Sharding,
    shape: &[usize],
    dim: usize,
    sub_axes: impl Iterator<Item = SubAxisId>,
) -> Sharding {
    let mut sharding = none;
    for sub_axis in sub_axes {
        let Some(digit) = block(mesh, &sharding, shape[dim], dim, sub_axis) else { break };
        sharding = sharding.with(dim, digit);
    }
    sharding
}

/// A sharding, extended by blocks along these sub-axes, each of the first dimension that it divides in the order that `dims` gives.
fn along<D: IntoIterator<Item = usize>>(
    mesh: &Mesh,
    sharding: &Sharding,
    shape: &[usize],
    sub_axes: impl Iterator<Item = SubAxisId>,
    dims: impl Fn(&Sharding) -> D,
) -> Sharding {
    sub_axes.fold(sharding.clone(), |sharding, sub_axis| {
        let block = |dim| Some((dim, block(mesh, &sharding, shape[dim], dim, sub_axis)?));
        match dims(&sharding).into_iter().find_map(block) {
            Some((dim, digit)) => sharding.with(dim, digit),
            None => sharding,
        }
    })
}
