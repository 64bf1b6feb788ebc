//! Constants: nested braces, numbers as C's `%g` writes them.

use crate::literal;
use crate::proto::LiteralProto;
use crate::types::Type;
use halite_tensor::{DType, HostTensor};
use std::fmt::{self, Write};

/// Constants with more elements are elided.
const MOST_ELEMENTS: usize = 10;

/// The value of a constant; `{...}` when it is large, malformed or of an element type that [`DType`] lacks.
pub(super) fn print(out: &mut String, literal: &LiteralProto) -> fmt::Result {
    match tensor(literal) {
        Some(tensor) if tensor.shape().rank() == 0 => out.write_str(&scalar(&tensor)),
        Some(tensor) => {
            let mut elements = elements(&tensor).into_iter();
            nested(out, tensor.shape(), tensor.shape().rank() == 1, &mut elements)
        }
        None => out.write_str("{...}"),
    }
}

fn tensor(literal: &LiteralProto) -> Option<HostTensor> {
    let Ok(Type::Array(ty)) = Type::from_proto(literal.shape.as_ref()?) else { return None };
    let few = |size: &usize| *size <= MOST_ELEMENTS;
    if ty.num_elements()? > MOST_ELEMENTS || !ty.shape.iter().all(few) || ty.rank() > MOST_ELEMENTS {
        return None;
    }
    HostTensor::from_bytes(ty.dtype, ty.shape, literal::bytes(literal, ty.dtype)).ok()
}

fn scalar(tensor: &HostTensor) -> String {
    match tensor.dtype() {
        DType::Pred => (tensor.ints() != [0]).to_string(),
        _ => elements(tensor).concat(),
    }
}

fn elements(tensor: &HostTensor) -> Vec<String> {
    if !tensor.dtype().is_float() {
        return tensor.ints().iter().map(ToString::to_string).collect();
    }
    tensor.f64s().into_iter().map(|value| float(tensor.dtype(), value)).collect()
}

/// Vectors stand close to their braces, everything of higher rank has spaces inside.
fn nested(out: &mut String, shape: &[usize], close: bool, elements: &mut impl Iterator<Item = String>) -> fmt::Result {
    let Some((size, inner)) = shape.split_first() else {
        return out.write_str(&elements.next().unwrap_or_default());
    };
    let space = if close || *size == 0 { "" } else { " " };
    write!(out, "{{{space}")?;
    for position in 0..*size {
        out.push_str(if position > 0 { ", " } else { "" });
        nested(out, inner, close, elements)?;
    }
    write!(out, "{space}}}")
}

/// A float with as many digits as its type needs: always the maximum for 16-bit types, only when fewer would change the
/// value for the others.
fn float(dtype: DType, value: f64) -> String {
    match dtype {
        DType::Bf16 => general(value, 4),
        DType::F16 => general(value, 5),
        DType::F32 => shortest(value, 6, 9, |text| text.parse::<f32>().ok().map(f64::from)),
        _ => shortest(value, 15, 17, |text| text.parse().ok()),
    }
}

fn shortest(value: f64, few: usize, many: usize, parse: impl Fn(&str) -> Option<f64>) -> String {
    let text = general(value, few);
    if !value.is_finite() || parse(&text) == Some(value) { text } else { general(value, many) }
}

/// `%.{digits}g`: scientific below 1e-4 and from 10^digits on, without trailing zeros.
fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
    without_zeros(&format!("{value:.*}", (digits as i32 - 1 - exponent) as usize)).to_owned()
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
