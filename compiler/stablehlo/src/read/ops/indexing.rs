//! Operations at positions that are known at run time.

use crate::read::body::Val;
use crate::read::op::Op;
use crate::read::reader::Reader;
use halite_hlo::proto::{GatherDimensionNumbers, ScatterDimensionNumbers};
use halite_support::Result;

pub(super) fn dynamic_slice<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let sizes = reader.list(&mut op, ["slice_sizes", "sizes"])?;
    reader.emit(op, |inst| inst.dynamic_slice_sizes = sizes)
}

pub(super) fn gather<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let mut numbers = reader.numbers(&mut op, "dimension_numbers")?;
    let numbers = GatherDimensionNumbers {
        offset_dims: numbers.list("offset_dims"),
        collapsed_slice_dims: numbers.list("collapsed_slice_dims"),
        start_index_map: numbers.list("start_index_map"),
        index_vector_dim: numbers.one("index_vector_dim"),
        operand_batching_dims: numbers.list("operand_batching_dims"),
        start_indices_batching_dims: numbers.list("start_indices_batching_dims"),
    };
    let sizes = reader.list(&mut op, ["slice_sizes"; 2])?;
    let is_sorted = reader.flag(&mut op, "indices_are_sorted")?;
    reader.emit(op, |inst| {
        inst.gather_dimension_numbers = Some(Box::new(numbers));
        inst.gather_slice_sizes = sizes;
        inst.indices_are_sorted = is_sorted;
    })
}

pub(super) fn scatter<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let mut numbers = reader.numbers(&mut op, "scatter_dimension_numbers")?;
    let numbers = ScatterDimensionNumbers {
        update_window_dims: numbers.list("update_window_dims"),
        inserted_window_dims: numbers.list("inserted_window_dims"),
        scatter_dims_to_operand_dims: numbers.list("scatter_dims_to_operand_dims"),
        index_vector_dim: numbers.one("index_vector_dim"),
        input_batching_dims: numbers.list("input_batching_dims"),
        scatter_indices_batching_dims: numbers.list("scatter_indices_batching_dims"),
    };
    let is_sorted = reader.flag(&mut op, "indices_are_sorted")?;
    let is_unique = reader.flag(&mut op, "unique_indices")?;
    let combiners = reader.combiners(&mut op, 1)?;
    reader.emit(op, |inst| {
        inst.scatter_dimension_numbers = Some(Box::new(numbers));
        inst.indices_are_sorted = is_sorted;
        inst.unique_indices = is_unique;
        inst.called_computation_ids = combiners;
    })
}
