//! Operations at positions that are known at run time.

use super::{array, dims};
use crate::op::Op;
use crate::site::Site;
use halite_support::Result;

pub(super) fn dynamic_slice(site: &Site<'_>) -> Result<Op> {
    Ok(site.op()?.with("slice_sizes", array(&site.inst().dynamic_slice_sizes)))
}

pub(super) fn gather(site: &Site<'_>) -> Result<Op> {
    let inst = site.inst();
    let numbers = site.needed(inst.gather_dimension_numbers.as_deref(), "dimensions")?;
    let lists: [(&str, &[i64]); 5] = [
        ("offset_dims", &numbers.offset_dims),
        ("collapsed_slice_dims", &numbers.collapsed_slice_dims),
        ("operand_batching_dims", &numbers.operand_batching_dims),
        ("start_indices_batching_dims", &numbers.start_indices_batching_dims),
        ("start_index_map", &numbers.start_index_map),
    ];
    let numbers = dims("gather", &lists, Some(("index_vector_dim", numbers.index_vector_dim)));
    Ok(site
        .op()?
        .with("dimension_numbers", numbers)
        .with("slice_sizes", array(&inst.gather_slice_sizes))
        .with("indices_are_sorted", inst.indices_are_sorted.to_string()))
}

pub(super) fn scatter(site: &Site<'_>) -> Result<Op> {
    let inst = site.inst();
    let numbers = site.needed(inst.scatter_dimension_numbers.as_deref(), "dimensions")?;
    let lists: [(&str, &[i64]); 5] = [
        ("update_window_dims", &numbers.update_window_dims),
        ("inserted_window_dims", &numbers.inserted_window_dims),
        ("input_batching_dims", &numbers.input_batching_dims),
        ("scatter_indices_batching_dims", &numbers.scatter_indices_batching_dims),
        ("scatter_dims_to_operand_dims", &numbers.scatter_dims_to_operand_dims),
    ];
    let numbers = dims("scatter", &lists, Some(("index_vector_dim", numbers.index_vector_dim)));
    Ok(site
        .op()?
        .with("scatter_dimension_numbers", numbers)
        .with("indices_are_sorted", inst.indices_are_sorted.to_string())
        .with("unique_indices", inst.unique_indices.to_string()))
}
