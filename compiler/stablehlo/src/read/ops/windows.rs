//! Reductions over windows.

use crate::read::body::Val;
use crate::read::op::Op;
use crate::read::reader::Reader;
use halite_hlo::proto::{Window, WindowDimension};
use halite_support::{Result, codes};

pub(super) fn reduce_window<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let window = window(reader, &mut op)?;
    let combiners = reader.combiners(&mut op, 1)?;
    reader.emit(op, |inst| {
        inst.window = Some(Box::new(window));
        inst.called_computation_ids = combiners;
    })
}

pub(super) fn select_and_scatter<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let window = window(reader, &mut op)?;
    let combiners = reader.combiners(&mut op, 2)?;
    reader.emit(op, |inst| {
        inst.window = Some(Box::new(window));
        inst.called_computation_ids = combiners;
    })
}

/// The window. What is not said of it is 1, and 0 of padding.
fn window<'t>(reader: &Reader<'t>, op: &mut Op<'t>) -> Result<Window> {
    let rank = op.operands.first().map_or(0, |operand| reader.types.array(operand.ty).rank());
    let padding = op.attributes.take("padding").map(|padding| reader.table(&padding)).transpose()?;
    let padding = padding.unwrap_or_else(|| vec![vec![0, 0]; rank]);
    let lists = ["window_dimensions", "window_strides", "window_dilations", "base_dilations"];
    let lists = lists.map(|name| reader.maybe_list(op, [name; 2]).map(|list| list.unwrap_or_else(|| vec![1; rank])));
    let [sizes, strides, dilations, base] = lists;
    let lists = [sizes?, strides?, dilations?, base?];
    let is_sound = lists.iter().all(|list| list.len() == rank && list.iter().all(|&number| number > 0))
        && padding.len() == rank
        && padding.iter().all(|pair| pair.len() == 2);
    if !is_sound {
        return Err(reader.fault_of(op, codes::ATTRIBUTE, "has a window that does not fit its operand"));
    }
    let [sizes, strides, dilations, base] = lists;
    let dimension = |at: usize| WindowDimension {
        size: sizes[at],
        stride: strides[at],
        padding_low: padding[at][0],
        padding_high: padding[at][1],
        window_dilation: dilations[at],
        base_dilation: base[at],
        window_reversal: false,
    };
    Ok(Window { dimensions: (0..rank).map(dimension).collect() })
}
