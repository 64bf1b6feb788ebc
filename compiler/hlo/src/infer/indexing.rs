//! Ops that move elements by positions known at run time.

use super::{
    attribute_error, require_ascending, require_count, require_distinct, require_dtype, require_same_dtype,
    require_same_type, require_scalar, shape_error,
};
use crate::attributes::{GatherDims, ScatterDims};
use crate::types::ArrayType;
use halite_support::Result;
use halite_tensor::{DType, Dims, Shape};

/// `dynamic-slice` of the given sizes at one scalar start per dimension.
pub fn dynamic_slice(x: &ArrayType, starts: &[&ArrayType], sizes: &[usize]) -> Result<ArrayType> {
    require_starts("dynamic-slice", x, starts)?;
    require_count("slice sizes", x.rank(), sizes.len())?;
    require_inside("dynamic-slice", x, sizes)?;
    Ok(ArrayType::new(x.dtype, sizes))
}

/// `dynamic-update-slice`: `x` with `update` written at one scalar start per dimension.
pub fn dynamic_update_slice(x: &ArrayType, update: &ArrayType, starts: &[&ArrayType]) -> Result<ArrayType> {
    require_starts("dynamic-update-slice", x, starts)?;
    require_same_dtype("dynamic-update-slice", x, update)?;
    require_count("update dimensions", x.rank(), update.rank())?;
    require_inside("dynamic-update-slice", x, &update.shape)?;
    Ok(x.clone())
}

fn require_starts(who: &str, x: &ArrayType, starts: &[&ArrayType]) -> Result<()> {
    require_count("start indices", x.rank(), starts.len())?;
    for start in starts {
        require_scalar(format_args!("a start index of {who}"), start)?;
        require_dtype(format_args!("a start index of {who}"), start, DType::is_int, "integer")?;
        require_same_type(who, starts[0], start)?;
    }
    Ok(())
}

fn require_inside(who: &str, x: &ArrayType, sizes: &[usize]) -> Result<()> {
    if sizes.iter().zip(x.shape.iter()).all(|(size, bound)| size <= bound) {
        return Ok(());
    }
    Err(shape_error(format!("{who} of sizes {sizes:?} does not fit in `{x}`")))
}

/// `gather`: slices of `slice_sizes` at positions read from integer `indices`.
pub fn gather(x: &ArrayType, indices: &ArrayType, dims: &GatherDims, slice_sizes: &[usize]) -> Result<ArrayType> {
    let batch = index_batch("gather", indices, dims.index_vector_dim, dims.start_index_map.len())?;
    let removed = Removed {
        what: "collapsed dimension",
        plain: &dims.collapsed_slice_dims,
        batching: &dims.operand_batching_dims,
    };
    removed.check(x)?;
    require_index_map(x, &dims.start_index_map, &dims.operand_batching_dims)?;
    require_batching(x, indices, &dims.operand_batching_dims, &dims.indices_batching_dims, dims.index_vector_dim)?;
    require_count("slice sizes", x.rank(), slice_sizes.len())?;
    require_inside("gather", x, slice_sizes)?;
    if let Some(dim) = (0..x.rank()).find(|dim| removed.contains(*dim) && slice_sizes[*dim] != 1) {
        return Err(attribute_error(format!("dimension {dim} is collapsed, so its slice size must be 1")));
    }
    let window: Dims = (0..x.rank()).filter(|dim| !removed.contains(*dim)).map(|dim| slice_sizes[dim]).collect();
    require_count("offset dimensions", window.len(), dims.offset_dims.len())?;
    let rank = batch.len() + window.len();
    require_ascending("offset dimension", &dims.offset_dims, rank)?;
    let (mut window, mut batch) = (window.into_iter(), batch.into_iter());
    let size = |dim: usize| if dims.offset_dims.contains(&dim) { window.next() } else { batch.next() };
    Ok(ArrayType::new(x.dtype, (0..rank).filter_map(size).collect::<Shape>()))
}

/// `scatter`: `x` with `updates` combined in at positions read from integer `indices`.
pub fn scatter(x: &ArrayType, indices: &ArrayType, updates: &ArrayType, dims: &ScatterDims) -> Result<ArrayType> {
    require_same_dtype("scatter", x, updates)?;
    let batch = index_batch("scatter", indices, dims.index_vector_dim, dims.scatter_dims_to_operand_dims.len())?;
    let removed = Removed {
        what: "inserted dimension",
        plain: &dims.inserted_window_dims,
        batching: &dims.operand_batching_dims,
    };
    removed.check(x)?;
    require_index_map(x, &dims.scatter_dims_to_operand_dims, &dims.operand_batching_dims)?;
    require_batching(x, indices, &dims.operand_batching_dims, &dims.indices_batching_dims, dims.index_vector_dim)?;
    let bounds: Dims = (0..x.rank()).filter(|dim| !removed.contains(*dim)).map(|dim| x.shape[dim]).collect();
    require_count("window dimensions", bounds.len(), dims.update_window_dims.len())?;
    require_count("update dimensions", batch.len() + bounds.len(), updates.rank())?;
    require_ascending("window dimension", &dims.update_window_dims, updates.rank())?;
    let (mut bounds, mut batch) = (bounds.into_iter(), batch.into_iter());
    for (dim, size) in updates.shape.iter().enumerate() {
        let fits = match dims.update_window_dims.contains(&dim) {
            true => bounds.next().is_some_and(|bound| *size <= bound),
            false => batch.next() == Some(*size),
        };
        if !fits {
            return Err(shape_error(format!(
                "dimension {dim} of the updates `{updates}` does not fit `{x}` and `{indices}`"
            )));
        }
    }
    Ok(x.clone())
}

/// Operand dimensions that the windows of a gather or scatter do not have.
struct Removed<'a> {
    what: &'a str,
    plain: &'a [usize],
    batching: &'a [usize],
}

impl Removed<'_> {
    fn contains(&self, dim: usize) -> bool {
        self.plain.contains(&dim) || self.batching.contains(&dim)
    }

    fn check(&self, x: &ArrayType) -> Result<()> {
        require_ascending(self.what, self.plain, x.rank())?;
        require_ascending("batching dimension", self.batching, x.rank())?;
        match self.plain.iter().find(|dim| self.batching.contains(dim)) {
            Some(dim) => Err(attribute_error(format!("{} {dim} is also a batching dimension", self.what))),
            None => Ok(()),
        }
    }
}

/// Sizes of the indices without the index vectors, whose length must be `entries`.
fn index_batch(who: &str, indices: &ArrayType, index_vector_dim: usize, entries: usize) -> Result<Dims> {
    require_dtype(format_args!("the indices of {who}"), indices, DType::is_int, "integer")?;
    if index_vector_dim > indices.rank() {
        return Err(attribute_error(format!(
            "the index vector dimension {index_vector_dim} is out of range for `{indices}`"
        )));
    }
    let length = indices.shape.get(index_vector_dim).copied().unwrap_or(1);
    require_count("entries of an index vector", length, entries)?;
    let mut batch = indices.shape.clone().into_dims();
    if index_vector_dim < batch.len() {
        batch.remove(index_vector_dim);
    }
    Ok(batch)
}

fn require_index_map(x: &ArrayType, map: &[usize], batching: &[usize]) -> Result<()> {
    require_distinct("indexed dimension", map, x.rank())?;
    match map.iter().find(|dim| batching.contains(dim)) {
        Some(dim) => Err(attribute_error(format!("indexed dimension {dim} is also a batching dimension"))),
        None => Ok(()),
    }
}

fn require_batching(
    x: &ArrayType,
    indices: &ArrayType,
    of_x: &[usize],
    of_indices: &[usize],
    vector: usize,
) -> Result<()> {
    require_count("batching dimensions of the indices", of_x.len(), of_indices.len())?;
    require_distinct("batching dimension of the indices", of_indices, indices.rank())?;
    if of_indices.contains(&vector) {
        return Err(attribute_error(format!(
            "dimension {vector} of the indices holds index vectors and cannot be batching"
        )));
    }
    match of_x.iter().zip(of_indices).find(|(a, b)| x.shape[**a] != indices.shape[**b]) {
        Some((a, b)) => {
            Err(shape_error(format!("batching dimension {a} of `{x}` and {b} of `{indices}` differ in size")))
        }
        None => Ok(()),
    }
}
