//! Ops across ranks.

use super::{attribute_error, require_distinct, shape_error};
use crate::types::ArrayType;
use halite_support::Result;

/// `all-reduce`: the same type on every rank.
pub fn all_reduce(x: &ArrayType, groups: &[Vec<usize>]) -> Result<ArrayType> {
    require_partition(groups)?;
    Ok(x.clone())
}

/// `all-gather`: the operands of a group in rank order along `dimension`.
pub fn all_gather(x: &ArrayType, dimension: usize, groups: &[Vec<usize>]) -> Result<ArrayType> {
    let size = group_size(groups)?;
    require_distinct("gathered dimension", &[dimension], x.rank())?;
    let mut result = x.clone();
    let gathered = x.shape[dimension].checked_mul(size);
    result.shape[dimension] = gathered.ok_or_else(|| shape_error("the gathered size does not fit in 64 bits"))?;
    Ok(result)
}

/// `reduce-scatter`: each rank of a group keeps its part of the sum along `dimension`.
pub fn reduce_scatter(x: &ArrayType, dimension: usize, groups: &[Vec<usize>]) -> Result<ArrayType> {
    let size = group_size(groups)?;
    require_divisible("reduce-scatter", x, dimension, size)?;
    let mut result = x.clone();
    result.shape[dimension] /= size;
    Ok(result)
}

/// `all-to-all`: part `j` of rank `i` along `dimension` becomes part `i` of rank `j`.
pub fn all_to_all(x: &ArrayType, dimension: usize, groups: &[Vec<usize>]) -> Result<ArrayType> {
    require_divisible("all-to-all", x, dimension, group_size(groups)?)?;
    Ok(x.clone())
}

/// `collective-permute` along `(source, target)` pairs; ranks that are no target get zeros.
pub fn collective_permute(x: &ArrayType, pairs: &[(usize, usize)]) -> Result<ArrayType> {
    for (position, (source, target)) in pairs.iter().enumerate() {
        if pairs[..position].iter().any(|(other, _)| other == source) {
            return Err(attribute_error(format!("rank {source} is the source of two pairs")));
        }
        if pairs[..position].iter().any(|(_, other)| other == target) {
            return Err(attribute_error(format!("rank {target} is the target of two pairs")));
        }
    }
    Ok(x.clone())
}

/// Ranks `0..n`, each in exactly one group that is not empty.
fn require_partition(groups: &[Vec<usize>]) -> Result<()> {
    if groups.is_empty() || groups.iter().any(Vec::is_empty) {
        return Err(attribute_error("replica groups must be written out, and none may be empty"));
    }
    let mut times = vec![0_u8; groups.iter().map(Vec::len).sum()];
    for &rank in groups.iter().flatten() {
        if let Some(times) = times.get_mut(rank) {
            *times = times.saturating_add(1);
        }
    }
    match times.iter().position(|&times| times != 1) {
        Some(rank) => Err(attribute_error(format!("rank {rank} must be in exactly one replica group"))),
        None => Ok(()),
    }
}

/// The size that all groups share.
fn group_size(groups: &[Vec<usize>]) -> Result<usize> {
    require_partition(groups)?;
    let size = groups[0].len();
    match groups.iter().find(|group| group.len() != size) {
        Some(group) => Err(attribute_error(format!("replica groups differ in size: {size} and {}", group.len()))),
        None => Ok(size),
    }
}

fn require_divisible(who: &str, x: &ArrayType, dimension: usize, size: usize) -> Result<()> {
    require_distinct("split dimension", &[dimension], x.rank())?;
    if x.shape[dimension].is_multiple_of(size) {
        return Ok(());
    }
    Err(shape_error(format!(
        "{who} splits dimension {dimension} of `{x}` among {size} ranks, which does not divide it"
    )))
}
