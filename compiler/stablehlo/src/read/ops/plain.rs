//! Operations of which operands and types are almost all there is to say.

use crate::read::body::Val;
use crate::read::op::Op;
use crate::read::reader::Reader;
use halite_hlo::proto::ShapeProto;
use halite_support::{Result, codes};

pub(super) fn plain<'t>(reader: &mut Reader<'t>, op: Op<'t>) -> Result<Vec<Val>> {
    reader.emit(op, |_| {})
}

/// One condition may be that of all elements.
pub(super) fn select<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    spread(reader, &mut op, &[0]);
    reader.emit(op, |_| {})
}

/// Bounds of one number each may be those of all elements.
pub(super) fn clamp<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    spread(reader, &mut op, &[0, 2]);
    reader.emit(op, |_| {})
}

/// Repeats operands without dimensions for each element of the result, as HLO wants them.
fn spread<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, operands: &[usize]) {
    let &[result] = &op.results[..] else { return };
    let shape = reader.types.shape(result);
    for &at in operands {
        let Some(operand) = op.operands.get_mut(at) else { continue };
        let own = reader.types.shape(operand.ty);
        if own.dimensions.is_empty() && !shape.dimensions.is_empty() {
            let spread = ShapeProto { element_type: own.element_type, ..(*shape).clone() };
            operand.inst = reader.frame().body.push("broadcast", &[operand.inst], spread.into(), op.place);
        }
    }
}

/// A comparison without a type is of the type of its operands.
pub(super) fn compare<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let direction = reader.maybe_word(&mut op, ["comparison_direction"; 2])?;
    let direction = direction.ok_or_else(|| reader.missing(&op, "comparison_direction"))?.to_owned();
    let kind = reader.maybe_word(&mut op, ["compare_type"; 2])?.filter(|kind| *kind != "NOTYPE").unwrap_or_default();
    reader.emit(op, |inst| {
        inst.comparison_direction = direction;
        kind.clone_into(&mut inst.comparison_type);
    })
}

/// The bits of the exponent and of the fraction that are left, in short `e5m10`.
pub(super) fn reduce_precision<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let bits = match reader.maybe_word(&mut op, ["format"; 2])? {
        Some(word) => {
            let numbers = word.strip_prefix('e').and_then(|rest| rest.split_once('m'));
            let numbers = numbers.and_then(|(exponent, rest)| Some([exponent.parse().ok()?, rest.parse().ok()?]));
            numbers.ok_or_else(|| reader.fault_of(&op, codes::ATTRIBUTE, "has a format that is none"))?
        }
        None => [reader.int(&mut op, ["exponent_bits"; 2])?, reader.int(&mut op, ["mantissa_bits"; 2])?],
    };
    let [exponent, mantissa] = bits.map(|bits: i64| i32::try_from(bits).unwrap_or(-1));
    if exponent < 1 || mantissa < 0 {
        return Err(reader.fault_of(&op, codes::ATTRIBUTE, "has a format that is none"));
    }
    reader.emit(op, |inst| {
        inst.exponent_bits = exponent;
        inst.mantissa_bits = mantissa;
    })
}
