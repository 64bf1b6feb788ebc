//! The entry of a module on whole tensors and on the shards of ranks.

use crate::layout::Layout;
use crate::syntax::{FuncResult, Function, Param, ResultRole, Value};
use crate::ty::TensorType;
use halite_support::{Diagnostic, Name, Result};
use halite_tensor::{DimShards, HostTensor, Shape, Sharding, SubAxisId};
use std::collections::BTreeMap;

impl Layout {
    /// The sharding of a parameter of the entry.
    pub fn of_param(&self, param: &Param) -> Option<&Sharding> {
        self.shardings.get(&param.name)
    }

    /// The sharding of a result of the entry.
    pub fn of_result(&self, result: &FuncResult) -> Option<&Sharding> {
        self.shardings.get(laid_as(result))
    }

    /// The sub-axes along which ranks hold partial sums of a result of the entry.
    pub fn terms_of_result(&self, result: &FuncResult) -> Option<&Vec<SubAxisId>> {
        self.terms.get(laid_as(result))
    }

    /// The type of the whole tensor of which each rank holds `local`.
    pub fn whole(sharding: Option<&Sharding>, local: &TensorType) -> TensorType {
        let Some(sharding) = sharding else { return local.clone() };
        let parts = |digits: &DimShards| digits.iter().map(|digit| digit.size).product::<usize>();
        let size = |(&size, digits): (&usize, &DimShards)| size.saturating_mul(parts(digits));
        local.with_shape(local.shape().iter().zip(&sharding.0).map(size).collect::<Shape>())
    }

    /// The signature of the entry with the types of whole parameters and results; its instructions stay those of a rank.
    #[must_use]
    pub fn whole_signature(&self, mut entry: Function) -> Function {
        let params = entry.params.iter().map(|param| (param.value, self.of_param(param)));
        let results = entry.results.iter().map(|result| (result.value, self.of_result(result)));
        let whole = |(value, sharding): (Value, _)| (value, Self::whole(sharding, entry.ty(value)));
        for (value, ty) in params.chain(results).map(whole).collect::<BTreeMap<_, _>>() {
            entry.values[value.index()].ty = ty;
        }
        entry
    }

    /// The shards of whole inputs of the entry that a rank holds. Of a sum, the first rank has all and the others have zero.
    ///
    /// # Errors
    /// When a tensor is not of the size of its parameter.
    pub fn shard(&self, entry: &Function, inputs: &[HostTensor], rank: usize) -> Result<Vec<HostTensor>> {
        let one = |(param, tensor): (&Param, &HostTensor)| {
            let own = match self.of_param(param) {
                Some(sharding) => sharding.shard(&self.mesh, tensor, rank)?,
                None => tensor.clone(),
            };
            let mut terms = self.terms.get(&param.name).into_iter().flatten();
            let leads = terms.all(|&sub_axis| self.mesh.coordinate(sub_axis, rank) == 0);
            Ok(if leads { own } else { HostTensor::zeros(own.dtype(), own.shape().clone()) })
        };
        entry.params.iter().zip(inputs).map(one).collect()
    }

    /// The whole results of the entry, of which `ranks[rank]` gives shards or partial sums.
    ///
    /// # Errors
    /// A bug when ranks that should give the same do not, naming the result.
    pub fn assemble(&self, entry: &Function, ranks: &[Vec<HostTensor>]) -> Result<Vec<HostTensor>> {
        let whole = |(at, result): (usize, &FuncResult)| {
            let (parts, sharding) = self.held(result, at, ranks);
            let tensor = self.joined(&parts, &sharding)?;
            for (rank, part) in parts.iter().enumerate() {
                if sharding.shard(&self.mesh, &tensor, rank)? != *part {
                    return Err(Diagnostic::bug(format!(
                        "`{}` is not the same on rank {rank} as on others",
                        result.name
                    )));
                }
            }
            Ok(tensor)
        };
        entry.results.iter().enumerate().map(whole).collect()
    }

    /// The tensor that each rank holds of a result of the entry, of which `ranks[rank][at]` is a shard or a partial sum, and its
    /// sharding. Partial sums are added up. A result without a sharding is replicated.
    pub fn held(&self, result: &FuncResult, at: usize, ranks: &[Vec<HostTensor>]) -> (Vec<HostTensor>, Sharding) {
        let mut parts: Vec<HostTensor> = ranks.iter().map(|rank| rank[at].clone()).collect();
        if let Some(terms) = self.terms_of_result(result) {
            parts = self.summed(terms, &parts);
        }
        let replicated = || Sharding::replicated(parts.first().map_or(0, |part| part.shape().rank()));
        let sharding = self.of_result(result).cloned().unwrap_or_else(replicated);
        (parts, sharding)
    }

    /// The whole tensor of which ranks hold these parts. Where several hold the same, the first is believed.
    ///
    /// # Errors
    /// When there is no part, or their sizes are not those of the sharding.
    pub fn joined(&self, parts: &[HostTensor], sharding: &Sharding) -> Result<HostTensor> {
        let first = parts.first().ok_or_else(|| Diagnostic::bug("results of no rank"))?;
        let ty = Self::whole(Some(sharding), &TensorType::new(first.dtype(), first.shape().clone()));
        sharding.assemble(&self.mesh, ty.shape(), parts)
    }

    /// For each rank, the sum of the parts of its group along the sub-axes `terms`.
    pub fn summed(&self, terms: &[SubAxisId], parts: &[HostTensor]) -> Vec<HostTensor> {
        let mut sums = parts.to_vec();
        for group in self.mesh.groups(terms).lists() {
            let columns: Vec<Vec<f64>> = group.iter().map(|&rank| parts[rank].f64s()).collect();
            let (dtype, shape) = (parts[group[0]].dtype(), parts[group[0]].shape().clone());
            let element = |at: usize| columns.iter().map(|column| column[at]).sum();
            let sum = HostTensor::from_f64s(dtype, shape.clone(), (0..shape.num_elements()).map(element));
            group.iter().for_each(|&rank| sums[rank] = sum.clone());
        }
        sums
    }
}

/// The name by which a layout knows a result: that of what it replaces.
fn laid_as(result: &FuncResult) -> &Name {
    match &result.role {
        ResultRole::State(name) | ResultRole::Gradient(name) => name,
        _ => &result.name,
    }
}
