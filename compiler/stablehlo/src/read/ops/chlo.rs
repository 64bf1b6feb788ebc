//! Operations of CHLO by what they mean.

use super::structure;
use crate::read::body::{Body, Val};
use crate::read::op::Op;
use crate::read::program::Function;
use crate::read::reader::{Instance, Reader};
use halite_hlo::{ArrayType, Opcode};
use halite_support::{FileId, Result, codes};
use halite_tensor::{DType, erfc};

/// The meanings of operations on one tensor, written for scalars.
const LIBRARY: &str = include_str!("chlo.mlir");

/// The polynomials that the library names.
const POLYNOMIALS: [(&str, &[f64]); 6] =
    [("NEAR", erfc::NEAR), ("FAR", erfc::FAR), ("P", erfc::P), ("Q", erfc::Q), ("R", erfc::R), ("S", erfc::S)];

/// The operations of the library.
pub(super) const NAMES: [&str; 17] = [
    "chlo.acos",
    "chlo.acosh",
    "chlo.asin",
    "chlo.asinh",
    "chlo.atan",
    "chlo.atanh",
    "chlo.cosh",
    "chlo.digamma",
    "chlo.erf_inv",
    "chlo.erfc",
    "chlo.is_inf",
    "chlo.is_neg_inf",
    "chlo.is_pos_inf",
    "chlo.lgamma",
    "chlo.sinh",
    "chlo.square",
    "chlo.tan",
];

/// A call of the function that the library has for an operation.
pub(super) fn decomposed<'t>(reader: &mut Reader<'t>, op: Op<'t>) -> Result<Vec<Val>> {
    let Some(first) = op.operands.first() else {
        return Err(reader.fault_of(&op, codes::ARITY, "takes an operand"));
    };
    let ty = reader.types.array(first.ty).clone();
    if !ty.dtype.is_float() {
        return Err(reader.fault_of(&op, codes::DTYPE, &format!("takes floats, found `{ty}`")));
    }
    let key = Instance { name: op.name, ty: first.ty, count: 0 };
    let number = match reader.decompositions.get(&key) {
        Some(&known) => known,
        None => {
            let text = instance(op.name.trim_start_matches("chlo."), &ty);
            let text = text.ok_or_else(|| reader.fault_of(&op, codes::FOREIGN, "has no form"))?;
            added(reader, &op, key, &text)?
        }
    };
    call(reader, op, number)
}

/// The largest elements along the last dimension and their positions: a sort, of which the first are kept.
pub(super) fn top_k<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let count = reader.int(&mut op, ["k"; 2])?;
    let [operand] = op.operands[..] else {
        return Err(reader.fault_of(&op, codes::ARITY, "takes one operand"));
    };
    let ty = reader.types.array(operand.ty).clone();
    let Some(last) = ty.rank().checked_sub(1) else {
        return Err(reader.fault_of(&op, codes::SHAPE, "takes a tensor that has a last dimension"));
    };
    let counted = usize::try_from(count).ok().filter(|&count| count <= ty.shape[last]);
    let counted = counted.ok_or_else(|| reader.fault_of(&op, codes::ATTRIBUTE, "keeps more than there is"))?;
    let mut sizes = ty.shape.clone();
    sizes[last] = counted;
    let tensor = |dtype| crate::types::tensor(&ArrayType::new(dtype, ty.shape.clone()));
    let kept = |dtype| crate::types::tensor(&ArrayType::new(dtype, sizes.clone()));
    let scalar = crate::types::tensor(&ArrayType::scalar(ty.dtype));
    let order = if ty.dtype.is_float() {
        "TOTALORDER"
    } else if ty.dtype.is_signed() {
        "SIGNED"
    } else {
        "UNSIGNED"
    };
    let ranges: Vec<String> = sizes.iter().map(|size| format!("0:{size}")).collect();
    let (x, at, ranges) = (tensor(ty.dtype), tensor(DType::S32), ranges.join(", "));
    let (values, indices) = (kept(ty.dtype), kept(DType::S32));
    let text = format!(
        "func.func @top_k(%x: {x}) -> ({values}, {indices}) {{
  %at = stablehlo.iota dim = {last} : {at}
  %sorted:2 = \"stablehlo.sort\"(%x, %at) <{{dimension = {last} : i64, is_stable = true}}> ({{
  ^bb0(%a: {scalar}, %b: {scalar}, %c: tensor<i32>, %d: tensor<i32>):
    %first = stablehlo.compare GT, %a, %b, {order} : ({scalar}, {scalar}) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }}) : ({x}, {at}) -> ({x}, {at})
  %values = stablehlo.slice %sorted#0 [{ranges}] : ({x}) -> {values}
  %indices = stablehlo.slice %sorted#1 [{ranges}] : ({at}) -> {indices}
  return %values, %indices : {values}, {indices}
}}"
    );
    let number = added(reader, &op, Instance { name: op.name, ty: operand.ty, count }, &text)?;
    call(reader, op, number)
}

/// The function of the library for tensors of a type. Narrow floats are computed as `f32`.
fn instance(name: &str, ty: &ArrayType) -> Option<String> {
    let wide = if ty.dtype == DType::F64 { "f64" } else { "f32" };
    let find = |name: String| {
        let start = LIBRARY.find(&format!("func.func @{name}("))?;
        let rest = LIBRARY.get(start..)?;
        rest.get(..rest.find("\n}")? + 2)
    };
    let text = find(format!("{name}.{wide}")).or_else(|| find(name.to_owned()))?;
    let text = text.lines().map(spelled).collect::<Vec<_>>().join("\n");
    let tensor = |dtype| crate::types::tensor(&ArrayType::new(dtype, ty.shape.clone()));
    let computed = if ty.dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let text = text.replace("tensor<f32>", &tensor(computed)).replace("tensor<f64>", &tensor(computed));
    let text = text.replace("tensor<i1>", &tensor(DType::Pred));
    if computed == ty.dtype {
        return Some(text);
    }
    let given = if text.contains(&format!("-> {} {{", tensor(DType::Pred))) { DType::Pred } else { ty.dtype };
    let (own, wide, given) = (tensor(ty.dtype), tensor(computed), tensor(given));
    let wide_result = if given == own { wide.clone() } else { given.clone() };
    let last = if given == own {
        format!("  %r = stablehlo.convert %2 : ({wide}) -> {own}\n  return %r : {own}\n")
    } else {
        format!("  return %2 : {given}\n")
    };
    Some(format!(
        "{text}\nfunc.func @main(%x: {own}) -> {given} {{\n  %1 = stablehlo.convert %x : ({own}) -> {wide}\n  \
         %2 = call @{}(%1) : ({wide}) -> {wide_result}\n{last}}}",
        text.split(['@', '(']).nth(1).unwrap_or_default()
    ))
}

/// A line of the library, a polynomial as its products and sums.
fn spelled(line: &str) -> String {
    let parts = line.split_once(" = polynomial ").and_then(|(name, rest)| {
        let (x, rest) = rest.split_once(' ')?;
        Some((name.trim(), x, coefficients(rest)))
    });
    let Some((name, x, coefficients)) = parts else { return line.to_owned() };
    let ty = "tensor<f64>";
    let count = coefficients.len();
    let mut text = String::new();
    for (at, coefficient) in coefficients.iter().enumerate() {
        let sum = |at: usize| if at + 1 == count { name.to_owned() } else { format!("{name}.{at}") };
        if at == 0 {
            text += &format!("  {} = stablehlo.constant dense<{coefficient}> : {ty}\n", sum(0));
            continue;
        }
        text += &format!(
            "  {name}.c{at} = stablehlo.constant dense<{coefficient}> : {ty}
  {name}.p{at} = stablehlo.multiply {}, {x} : {ty}
  {} = stablehlo.add {name}.p{at}, {name}.c{at} : {ty}\n",
            sum(at - 1),
            sum(at)
        );
    }
    text
}

/// Coefficients that a text lists or names.
fn coefficients(text: &str) -> Vec<String> {
    match POLYNOMIALS.iter().find(|(name, _)| *name == text) {
        Some((_, known)) => known.iter().map(|coefficient| format!("{coefficient:?}")).collect(),
        None => text.trim_matches(['[', ']']).split(", ").map(str::to_owned).collect(),
    }
}

/// A call of a function that was read from a text of ours. It keeps the name of the operation.
fn call<'t>(reader: &mut Reader<'t>, op: Op<'t>, number: usize) -> Result<Vec<Val>> {
    let name = op.name.to_owned();
    let call = Op { opcode: Opcode::Call.name(), ..op };
    structure::named_call(reader, call, number as i64, [("composite.name", name)])
}

/// Reads a text of ours and adds its computations once; the number of its entry.
fn added<'t>(reader: &mut Reader<'t>, op: &Op<'t>, key: Instance<'t>, text: &str) -> Result<usize> {
    if let Some(&known) = reader.decompositions.get(&key) {
        return Ok(known);
    }
    let mut inner = Reader::new(text, FileId::of(op.name, text));
    inner.text()?;
    if let Some(fault) = inner.faults.iter().next() {
        return Err(fault.clone().into_bug("the meaning of an operation of CHLO"));
    }
    let first = reader.program.bodies.len();
    let entry = inner.entry_number()?;
    for body in inner.bodies() {
        let Body { mut instructions, parameters, root, .. } = body;
        for inst in &mut instructions {
            inst.called_computation_ids.iter_mut().for_each(|callee| *callee += first as i64);
        }
        let places = vec![op.place; instructions.len()];
        reader.program.bodies.push(Some(Body { instructions, places, parameters, root }));
    }
    let name = op.name.trim_start_matches("chlo.").to_owned();
    reader.program.functions.insert(first + entry, Function { name, is_private: true, ..Function::default() });
    reader.decompositions.insert(key, first + entry);
    Ok(first + entry)
}
