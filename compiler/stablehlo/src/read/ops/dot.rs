//! Products.

use crate::read::attribute::{Attribute, Value};
use crate::read::body::Val;
use crate::read::op::Op;
use crate::read::reader::Reader;
use halite_hlo::proto::{DotDimensionNumbers, PrecisionConfig};
use halite_support::{Result, codes};

pub(super) fn dot_general<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let numbers = match op.attributes.get("dot_dimension_numbers") {
        Some(_) => {
            let mut numbers = reader.numbers(&mut op, "dot_dimension_numbers")?;
            DotDimensionNumbers {
                lhs_contracting_dimensions: numbers.list("lhs_contracting_dimensions"),
                rhs_contracting_dimensions: numbers.list("rhs_contracting_dimensions"),
                lhs_batch_dimensions: numbers.list("lhs_batching_dimensions"),
                rhs_batch_dimensions: numbers.list("rhs_batching_dimensions"),
            }
        }
        None => {
            let [contracting, batch] = [pairs(&mut op, "contracting_dims"), pairs(&mut op, "batching_dims")];
            DotDimensionNumbers {
                lhs_contracting_dimensions: contracting.0,
                rhs_contracting_dimensions: contracting.1,
                lhs_batch_dimensions: batch.0,
                rhs_batch_dimensions: batch.1,
            }
        }
    };
    product(reader, op, numbers)
}

/// The product of vectors and matrices: the last dimension of the left side with the first of the right.
pub(super) fn dot<'t>(reader: &mut Reader<'t>, op: Op<'t>) -> Result<Vec<Val>> {
    let last = op.operands.first().map_or(0, |lhs| reader.types.array(lhs.ty).rank().saturating_sub(1));
    let numbers = DotDimensionNumbers {
        lhs_contracting_dimensions: vec![last as i64],
        rhs_contracting_dimensions: vec![0],
        ..DotDimensionNumbers::default()
    };
    product(reader, op, numbers)
}

fn product<'t>(reader: &mut Reader<'t>, mut op: Op<'t>, numbers: DotDimensionNumbers) -> Result<Vec<Val>> {
    let precision = precision(reader, &mut op)?;
    if op.attributes.take("algorithm").is_some() {
        return Err(reader.fault_of(&op, codes::FOREIGN, "asks for an algorithm of products"));
    }
    reader.emit(op, |inst| {
        inst.dot_dimension_numbers = Some(Box::new(numbers));
        inst.precision_config = precision.map(Box::new);
    })
}

fn pairs(op: &mut Op<'_>, name: &str) -> (Vec<i64>, Vec<i64>) {
    match op.attributes.take(name) {
        Some(Attribute { value: Value::Pairs(lhs, rhs), .. }) => (lhs, rhs),
        _ => (Vec::new(), Vec::new()),
    }
}

/// The precision at which a backend that has a choice multiplies each operand; `None` where it is the usual one.
pub(super) fn precision<'t>(reader: &Reader<'t>, op: &mut Op<'t>) -> Result<Option<PrecisionConfig>> {
    let Some(attribute) = op.take(["precision_config", "precision"]) else { return Ok(None) };
    let Value::List(list) = &attribute.value else {
        return Err(reader.misfit(&attribute, "a list of precisions"));
    };
    let number = |entry: &Attribute<'t>| match reader.last_word(entry)? {
        "DEFAULT" => Ok(0),
        "HIGH" => Ok(1),
        "HIGHEST" => Ok(2),
        _ => Err(reader.misfit(entry, "DEFAULT, HIGH or HIGHEST")),
    };
    let operand_precision = list.iter().map(number).collect::<Result<Vec<i32>>>()?;
    let is_usual = operand_precision.iter().all(|&number| number == 0);
    Ok((!is_usual).then_some(PrecisionConfig { operand_precision, algorithm: 0 }))
}
