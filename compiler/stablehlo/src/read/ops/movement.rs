//! Operations that move elements by positions that are known.

use crate::read::body::Val;
use crate::read::op::Op;
use crate::read::reader::Reader;
use halite_hlo::proto::{Numbers, PaddingConfig, PaddingConfigDimension, SliceDimensions};
use halite_support::{Result, codes};
use halite_tensor::Shape;

pub(super) fn broadcast<'t>(reader: &mut Reader<'t>, op: Op<'t>) -> Result<Vec<Val>> {
    spread(reader, op)
}

pub(super) fn reverse<'t>(reader: &mut Reader<'t>, op: Op<'t>) -> Result<Vec<Val>> {
    listed(reader, op, ["dimensions", "dims"])
}

pub(super) fn transpose<'t>(reader: &mut Reader<'t>, op: Op<'t>) -> Result<Vec<Val>> {
    listed(reader, op, ["permutation", "dims"])
}

/// An operation whose only attribute is the list of its dimensions.
fn listed<'t>(reader: &mut Reader<'t>, mut op: Op<'t>, names: [&str; 2]) -> Result<Vec<Val>> {
    let dimensions = reader.list(&mut op, names)?;
    reader.emit(op, |inst| inst.dimensions = Numbers::from_slice(&dimensions))
}

/// A broadcast. Dimensions of size 1 that grow are left out first, since HLO repeats whole values alone; their order ascends.
fn spread<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let dimensions = reader.list(&mut op, ["broadcast_dimensions", "dims"])?;
    let (&[operand], &[result]) = (&op.operands[..], &op.results[..]) else {
        return Err(reader.fault_of(&op, codes::ARITY, "takes one operand and gives one result"));
    };
    let (from, to) = (reader.types.array(operand.ty).clone(), reader.types.array(result).clone());
    let is_sound = dimensions.len() == from.rank()
        && dimensions.iter().all(|&dim| usize::try_from(dim).is_ok_and(|dim| dim < to.rank()));
    if !is_sound {
        return Err(reader.fault_of(&op, codes::ATTRIBUTE, "has dimensions that its operand or result has not"));
    }
    let grows = |at: usize| from.shape[at] == 1 && to.shape[dimensions[at] as usize] != 1;
    let mut kept: Vec<usize> = (0..from.rank()).filter(|&at| !grows(at)).collect();
    kept.sort_by_key(|&at| dimensions[at]);
    let is_moved = !kept.is_sorted();
    if kept.len() == from.rank() && !is_moved {
        return reader.emit(op, |inst| inst.dimensions = Numbers::from_slice(&dimensions));
    }
    let mut value = operand;
    let place = op.place;
    let reshaped = |sizes: Shape, reader: &mut Reader<'t>| {
        let ty = reader.types.of(halite_hlo::ArrayType::new(from.dtype, sizes));
        (ty, reader.types.shape(ty))
    };
    if kept.len() < from.rank() {
        let in_order: Vec<usize> = (0..from.rank()).filter(|&at| !grows(at)).collect();
        let (ty, shape) = reshaped(in_order.iter().map(|&at| from.shape[at]).collect(), reader);
        let name = halite_hlo::Opcode::Reshape.name();
        value = Val { inst: reader.frame().body.push(name, &[value.inst], shape, place), ty };
    }
    if is_moved {
        let mut in_order = kept.clone();
        in_order.sort_unstable();
        let order = kept.iter().map(|at| in_order.binary_search(at).unwrap_or(0) as i64).collect();
        let (ty, shape) = reshaped(kept.iter().map(|&at| from.shape[at]).collect(), reader);
        let name = halite_hlo::Opcode::Transpose.name();
        let body = &mut reader.frame().body;
        value = Val { inst: body.push(name, &[value.inst], shape, place), ty };
        body.inst(value.inst).dimensions = order;
    }
    op.operands = vec![value];
    let dimensions: Numbers = kept.iter().map(|&at| dimensions[at]).collect();
    reader.emit(op, |inst| inst.dimensions = dimensions)
}

pub(super) fn concatenate<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let dimension = reader.int(&mut op, ["dimension", "dim"])?;
    reader.emit(op, |inst| inst.dimensions = Numbers::from_slice(&[dimension]))
}

pub(super) fn pad<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let low = reader.list(&mut op, ["edge_padding_low", "low"])?;
    let high = reader.list(&mut op, ["edge_padding_high", "high"])?;
    let interior = reader.list(&mut op, ["interior_padding", "interior"])?;
    if low.len() != high.len() || low.len() != interior.len() {
        return Err(reader.fault_of(&op, codes::ATTRIBUTE, "has paddings of different lengths"));
    }
    let dimension = |((&low, &high), &interior): ((&i64, &i64), &i64)| PaddingConfigDimension {
        edge_padding_low: low,
        edge_padding_high: high,
        interior_padding: interior,
    };
    let dimensions = low.iter().zip(&high).zip(&interior).map(dimension).collect();
    reader.emit(op, |inst| inst.padding_config = Some(Box::new(PaddingConfig { dimensions })))
}

pub(super) fn slice<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let starts = reader.list(&mut op, ["start_indices"; 2])?;
    let limits = reader.list(&mut op, ["limit_indices"; 2])?;
    let strides = reader.list(&mut op, ["strides"; 2])?;
    if starts.len() != limits.len() || starts.len() != strides.len() {
        return Err(reader.fault_of(&op, codes::ATTRIBUTE, "has ranges of different lengths"));
    }
    let range = |((&start, &limit), &stride): ((&i64, &i64), &i64)| SliceDimensions { start, limit, stride };
    let ranges = starts.iter().zip(&limits).zip(&strides).map(range).collect();
    reader.emit(op, |inst| inst.slice_dimensions = ranges)
}
