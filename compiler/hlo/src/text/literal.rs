//! Constants: nested braces, numbers as C's `%g` writes them.

use super::nan;
use crate::proto::LiteralProto;
use crate::types::Type;
use halite_tensor::{DType, HostTensor};
use std::fmt::{self, Write};

/// The most elements of a constant that is printed; others are elided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Most(usize);

impl Most {
    /// As many as XLA prints where it is not told to print more.
    pub(super) const FEW: Self = Self(10);
    /// As many as there are.
    pub(super) const ALL: Self = Self(usize::MAX);
}

/// The most dimensions of a constant that is printed.
const MOST_DIMENSIONS: usize = 64;

/// The value of a constant; `{...}` when it is large, malformed or of an element type that [`DType`] lacks.
pub(super) fn print(out: &mut String, literal: &LiteralProto, most: Most) -> fmt::Result {
    match tensor(literal, most) {
        Some(tensor) if tensor.shape().rank() == 0 => out.write_str(&scalar(&tensor)),
        Some(tensor) => {
            let mut elements = elements(&tensor);
            nested(out, (tensor.shape(), 0), 0, &mut elements)
        }
        None => out.write_str("{...}"),
    }
}

fn tensor(literal: &LiteralProto, Most(most): Most) -> Option<HostTensor> {
    let Ok(Type::Array(ty)) = Type::from_proto(literal.shape.as_ref()?) else { return None };
    if ty.num_elements()? > most || ty.rank() > MOST_DIMENSIONS || is_mostly_braces(&ty.shape, most) {
        return None;
    }
    literal.tensor()
}

fn scalar(tensor: &HostTensor) -> String {
    match tensor.dtype() {
        DType::Pred => (tensor.ints() != [0]).to_string(),
        _ => elements(tensor).collect(),
    }
}

fn elements(tensor: &HostTensor) -> Box<dyn Iterator<Item = String> + '_> {
    if !tensor.dtype().is_float() {
        return Box::new(tensor.ints().into_iter().map(|value| value.to_string()));
    }
    let (dtype, bytes) = (tensor.dtype(), tensor.bytes().chunks_exact(tensor.dtype().size()));
    let text = move |(value, bytes): (f64, &[u8])| match value.is_nan() {
        true => no_number(dtype, bytes),
        false => float(dtype, value),
    };
    Box::new(tensor.f64s().into_iter().zip(bytes).map(text))
}

/// Whether an empty array has more braces than a constant has elements that are printed.
fn is_mostly_braces(sizes: &[usize], most: usize) -> bool {
    let braces = sizes.iter().take_while(|size| **size > 0).fold(1_usize, |braces, size| braces.saturating_mul(*size));
    sizes.contains(&0) && braces > most.min(1 << 16)
}

/// `-nan(0x400001)`: the sign, and the bits where they are not those that most have.
fn no_number(dtype: DType, bytes: &[u8]) -> String {
    let bits = bytes.iter().rev().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
    let sign = if bits >> (dtype.bits() - 1) == 1 { "-" } else { "" };
    match bits & (2 * nan::quiet(dtype) - 1) {
        payload if payload == nan::quiet(dtype) => format!("{sign}nan"),
        payload => format!("{sign}nan(0x{payload:x})"),
    }
}

/// The elements of the dimensions from one on, of the constant of a shape; `position` is where that stands along the dimension around it.
/// Vectors stand close to their braces, everything of higher rank has spaces inside, and from four dimensions on XLA says where it is.
fn nested(
    out: &mut String,
    (shape, dim): (&[usize], usize),
    position: usize,
    elements: &mut impl Iterator<Item = String>,
) -> fmt::Result {
    let Some(&size) = shape.get(dim) else { return out.write_str(&elements.next().unwrap_or_default()) };
    let is_row = dim + 1 == shape.len();
    let (open, close) = match () {
        () if is_row && (size == 0 || dim == 0) => ("{", "}"),
        () => ("{ ", " }"),
    };
    out.push_str(open);
    if shape.len() > 3 && dim > 0 && !is_row {
        write!(out, "/*i{}={position}*/{}", dim - 1, if size > 0 { " " } else { "" })?;
    }
    for position in 0..size {
        out.push_str(if position > 0 { ", " } else { "" });
        nested(out, (shape, dim + 1), position, elements)?;
    }
    out.write_str(close)
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
