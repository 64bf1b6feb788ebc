//! Loops and branches, whose computations take one tuple.

use crate::read::body::{Capture, Region, Val, tuple_of};
use crate::read::op::Op;
use crate::read::reader::Reader;
use crate::read::types::TypeId;
use halite_hlo::ArrayType;
use halite_hlo::proto::{Numbers, ShapeProto, Shared};
use halite_support::{Result, codes};
use halite_tensor::DType;

/// A loop. What its regions read of what is around is carried beside its own values.
pub(super) fn repeated<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let regions = <[Region; 2]>::try_from(std::mem::take(&mut op.regions));
    let [mut cond, mut body] = regions.map_err(|_| reader.fault_of(&op, codes::ARITY, "has a condition and a body"))?;
    let carried: Vec<TypeId> = op.operands.iter().map(|operand| operand.ty).collect();
    let pred = reader.types.of(ArrayType::scalar(DType::Pred));
    require(reader, &op, &cond, (&carried, &[pred]))?;
    require(reader, &op, &body, (&carried, &carried))?;
    if op.results != carried {
        return Err(reader.fault_of(&op, codes::TYPE_MISMATCH, "gives other types than it takes"));
    }
    let mut outer: Vec<Val> = Vec::new();
    for capture in cond.captures.iter().chain(&body.captures) {
        if outer.iter().all(|known| known.inst != capture.outer.inst) {
            outer.push(capture.outer);
        }
    }
    let types: Vec<TypeId> = carried.iter().copied().chain(outer.iter().map(|value| value.ty)).collect();
    let numbered = |capture: &Capture| {
        let at = outer.iter().position(|value| value.inst == capture.outer.inst);
        carried.len() + at.unwrap_or_default()
    };
    for region in [&mut cond, &mut body] {
        set_state(reader, region, &types, numbered);
    }
    for &value in &outer {
        let own = body.captures.iter().find(|capture| capture.outer.inst == value.inst).map(|capture| capture.inst);
        let index = numbered(&Capture { outer: value, inst: 0 });
        let shape = reader.types.shape(value.ty);
        let inst = own.unwrap_or_else(|| body.body.element(0, index, shape, op.place));
        body.returned.iter_mut().for_each(|returned| returned.push(Val { inst, ty: value.ty }));
    }
    let called = [tupled(reader, body), reader.sealed(cond)];
    let count = op.results.len();
    op.operands.extend(outer);
    op.results = types;
    op.operands = vec![tuple(reader, &op)];
    // A single value is carried in a tuple too.
    let results = std::mem::take(&mut op.results);
    let shape = tuple_of(results.iter().map(|&ty| reader.types.shape(ty)));
    let mut values = in_tuple(reader, op, &results, shape, called.into_iter().flatten())?;
    values.truncate(count);
    Ok(values)
}

/// Branches: the second of two where the operand is false, or that of its number.
pub(super) fn branches<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    if op.operands.len() != 1 {
        return Err(reader.fault_of(&op, codes::ARITY, "takes one operand"));
    }
    let mut called = Numbers::new();
    for mut region in std::mem::take(&mut op.regions) {
        require(reader, &op, &region, (&[], &op.results))?;
        let types: Vec<TypeId> = region.captures.iter().map(|capture| capture.outer.ty).collect();
        let insts: Vec<u32> = region.captures.iter().map(|capture| capture.inst).collect();
        set_state(reader, &mut region, &types, |capture| {
            insts.iter().position(|&inst| inst == capture.inst).unwrap_or_default()
        });
        let outer: Vec<Val> = region.captures.iter().map(|capture| capture.outer).collect();
        op.operands.push(tuple_with(reader, &op, &outer));
        called.extend(reader.sealed(region).map(|number| number as i64));
    }
    if called.is_empty() {
        return Err(reader.fault_of(&op, codes::ARITY, "has no branch"));
    }
    reader.emit(op, |inst| inst.called_computation_ids = called)
}

/// Holds a region to the types that it takes and returns.
fn require<'t>(
    reader: &Reader<'t>,
    op: &Op<'t>,
    region: &Region,
    (takes, returns): (&[TypeId], &[TypeId]),
) -> Result<()> {
    let returned = region.returned.iter().flatten().map(|value| value.ty);
    if region.arguments == takes && returned.eq(returns.iter().copied()) {
        return Ok(());
    }
    Err(reader.fault_of(op, codes::TYPE_MISMATCH, "has a region that takes or returns other types"))
}

/// Gives the parameter of a region its type, and what reads values of around their numbers in it.
fn set_state(reader: &Reader<'_>, region: &mut Region, types: &[TypeId], number: impl Fn(&Capture) -> usize) {
    region.body.inst(0).shape = Some(tuple_of(types.iter().map(|&ty| reader.types.shape(ty))));
    for capture in &region.captures {
        region.body.inst(capture.inst).tuple_index = number(capture) as i64;
    }
}

/// The computation of a region that returns a tuple, also of one value.
fn tupled(reader: &mut Reader<'_>, region: Region) -> Option<usize> {
    let (returned, mut body) = (region.returned?, region.body);
    body.root = body.tuple(&returned, &reader.types, region.place);
    Some(reader.program.add(body))
}

fn tuple<'t>(reader: &mut Reader<'t>, op: &Op<'t>) -> Val {
    tuple_with(reader, op, &op.operands)
}

/// A tuple of values. It has no type of its own, which nothing asks for.
fn tuple_with<'t>(reader: &mut Reader<'t>, op: &Op<'t>, values: &[Val]) -> Val {
    let shapes = tuple_of(values.iter().map(|value| reader.types.shape(value.ty)));
    let operands: Vec<u32> = values.iter().map(|value| value.inst).collect();
    let inst = reader.frame().body.push(halite_hlo::Opcode::Tuple.name(), &operands, shapes, op.place);
    let ty = reader.types.of(ArrayType::scalar(DType::Pred));
    Val { inst, ty }
}

/// Adds an instruction that gives a tuple; its elements.
fn in_tuple<'t>(
    reader: &mut Reader<'t>,
    mut op: Op<'t>,
    results: &[TypeId],
    shape: Shared<ShapeProto>,
    called: impl Iterator<Item = usize>,
) -> Result<Vec<Val>> {
    let frontend = reader.rest_of(&mut op)?;
    let operands: Vec<u32> = op.operands.iter().map(|operand| operand.inst).collect();
    let body = &mut reader.frame().body;
    let tuple = body.push(op.opcode, &operands, shape, op.place);
    body.inst(tuple).called_computation_ids = called.map(|number| number as i64).collect();
    body.inst(tuple).frontend_attributes = frontend.map(Box::new);
    let element = |(index, &ty): (usize, &TypeId)| {
        let shape = reader.types.shape(ty);
        Val { inst: reader.frame().body.element(tuple, index, shape, op.place), ty }
    };
    Ok(results.iter().enumerate().map(element).collect())
}
