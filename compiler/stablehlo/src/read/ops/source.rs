//! Operations without operands, and random bits.

use crate::read::attribute::Value;
use crate::read::body::Val;
use crate::read::dense::{Elements, bytes_of, elements, elided, of_bytes};
use crate::read::op::Op;
use crate::read::reader::Reader;
use crate::read::types::TypeId;
use halite_hlo::proto::{LiteralProto, Numbers};
use halite_hlo::{ArrayType, Opcode, RngAlgorithm};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};

/// The most bytes of a constant that is one element for all and written out; larger ones are broadcast.
const WRITTEN_OUT: usize = 256;

pub(super) fn constant<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let value = op.attributes.take("value").ok_or_else(|| reader.missing(&op, "value"))?;
    let (found, ty) = match value.value {
        Value::Dense(body, ty) => (elements(&reader.cursor, body, reader.types.array(ty))?, ty),
        Value::Resource(name, ty) => (resource(reader, name, ty, value.place)?, ty),
        _ => return Err(reader.misfit(&value, "`dense<..>` and its type")),
    };
    if op.results != [ty] {
        return Err(reader.fault_of(&op, codes::TYPE_MISMATCH, "is of another type than its elements"));
    }
    let array = reader.types.array(ty).clone();
    let bytes = match found {
        Elements::All(bytes) => bytes,
        Elements::Splat(bytes) => match array.shape.num_bytes(array.dtype).filter(|&all| all <= WRITTEN_OUT) {
            Some(all) => bytes.repeat(all / bytes.len()),
            None => return splat(reader, op, array.dtype, bytes),
        },
    };
    let literal = literal(reader, &op, array, bytes)?;
    reader.emit(op, |inst| inst.literal = Some(literal))
}

fn literal<'t>(reader: &mut Reader<'t>, op: &Op<'t>, ty: ArrayType, bytes: Vec<u8>) -> Result<Box<LiteralProto>> {
    let shared = reader.types.of(ty.clone());
    let tensor = HostTensor::from_bytes(ty.dtype, ty.shape, bytes);
    let tensor = tensor.map_err(|_| reader.fault_of(op, codes::SHAPE, "has not as many elements as its type"))?;
    let shape = Some(reader.types.shape(shared));
    Ok(Box::new(LiteralProto { shape, ..LiteralProto::of(&tensor) }))
}

/// A constant that is one element for all.
fn splat<'t>(reader: &mut Reader<'t>, mut op: Op<'t>, dtype: DType, bytes: Vec<u8>) -> Result<Vec<Val>> {
    let scalar = ArrayType::scalar(dtype);
    let literal = literal(reader, &op, scalar.clone(), bytes)?;
    let ty = reader.types.of(scalar);
    let shape = reader.types.shape(ty);
    let body = &mut reader.frame().body;
    let inst = body.push(Opcode::Constant.name(), &[], shape, op.place);
    body.inst(inst).literal = Some(literal);
    op.operands = vec![Val { inst, ty }];
    op.opcode = Opcode::Broadcast.name();
    reader.emit(op, |_| {})
}

/// The elements of a resource: an alignment of four bytes, then all elements.
fn resource<'t>(reader: &Reader<'t>, name: &str, ty: TypeId, place: (usize, usize)) -> Result<Elements> {
    let span = reader.cursor.span(place);
    if name == "__elided__" {
        return Err(elided(span));
    }
    let Some(&(start, end)) = reader.resources.get(name) else {
        let message = format!("the text has no resource `{name}`");
        return Err(Diagnostic::error(codes::UNDEFINED_VALUE, message)
            .at(span, "this name")
            .help("print the text with its resources, which stand at its end"));
    };
    let ty = reader.types.array(ty);
    let bytes = bytes_of(reader.cursor.slice(start, end)).and_then(|mut bytes| {
        bytes.drain(..bytes.len().min(4));
        of_bytes(bytes, ty)
    });
    bytes.ok_or_else(|| {
        let message = format!("the resource `{name}` does not hold the elements of `{ty}`");
        Diagnostic::error(codes::SHAPE, message).at(span, "this resource")
    })
}

pub(super) fn iota<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let dimension = reader.int(&mut op, ["iota_dimension", "dim"])?;
    reader.emit(op, |inst| inst.dimensions = Numbers::from_slice(&[dimension]))
}

pub(super) fn random_bits<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let algorithm = match reader.maybe_word(&mut op, ["rng_algorithm", "algorithm"])? {
        Some("DEFAULT") => RngAlgorithm::Default,
        Some("THREE_FRY") => RngAlgorithm::ThreeFry,
        Some("PHILOX") => RngAlgorithm::Philox,
        _ => return Err(reader.fault_of(&op, codes::ATTRIBUTE, "has no algorithm that is known")),
    };
    reader.emit(op, |inst| inst.rng_algorithm = algorithm as i32)
}

/// The size of a dimension, which is known.
pub(super) fn dimension_size<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let dimension = reader.int(&mut op, ["dimension", "dim"])?;
    let [operand] = op.operands[..] else {
        return Err(reader.fault_of(&op, codes::ARITY, "takes one operand"));
    };
    let size = usize::try_from(dimension).ok().and_then(|dim| reader.types.array(operand.ty).shape.get(dim).copied());
    let size = size.and_then(|size| i32::try_from(size).ok());
    let size = size.ok_or_else(|| reader.fault_of(&op, codes::ATTRIBUTE, "asks for a size that there is not"))?;
    let literal = literal(reader, &op, ArrayType::scalar(DType::S32), size.to_le_bytes().to_vec())?;
    op.operands.clear();
    op.opcode = Opcode::Constant.name();
    reader.emit(op, |inst| inst.literal = Some(literal))
}
