//! Shapes: `f32[4,8]{1,0}`, with a comment at every fifth element of a tuple.

use super::Braced;
use crate::proto::{LayoutProto, ProgramShapeProto, ShapeProto, Shared};
use halite_tensor::element_type::{self, TUPLE};
use std::fmt::{self, Write};

/// A shape with its layouts; `?` when it is missing.
pub(super) fn with_layout(out: &mut String, shape: Option<&ShapeProto>) -> fmt::Result {
    match shape {
        Some(shape) => print(out, shape, true),
        None => out.write_str("?"),
    }
}

/// A shape without layouts; `?` when it is missing.
pub(super) fn bare(out: &mut String, shape: Option<&ShapeProto>) -> fmt::Result {
    match shape {
        Some(shape) => print(out, shape, false),
        None => out.write_str("?"),
    }
}

/// `(parameters)->result` with layouts.
pub(super) fn program(out: &mut String, program: &ProgramShapeProto) -> fmt::Result {
    tuple(out, &program.parameters, true)?;
    out.push_str("->");
    with_layout(out, program.result.as_deref())
}

/// The comment in front of elements 5, 10, ..
pub(super) fn index_comment(out: &mut String, position: usize) -> fmt::Result {
    if position > 0 && position.is_multiple_of(5) { write!(out, "/*index={position}*/") } else { Ok(()) }
}

fn print(out: &mut String, shape: &ShapeProto, layouts: bool) -> fmt::Result {
    if shape.element_type == TUPLE {
        return tuple(out, &shape.tuple_shapes, layouts);
    }
    match element_type::name(shape.element_type) {
        Some(name) => out.push_str(name),
        None => write!(out, "?{}", shape.element_type)?,
    }
    out.push('[');
    for (position, size) in shape.dimensions.iter().enumerate() {
        let dynamic = shape.is_dynamic_dimension.get(position) == Some(&true);
        write!(out, "{}{}{size}", if position > 0 { "," } else { "" }, if dynamic { "<=" } else { "" })?;
    }
    out.push(']');
    match &shape.layout {
        Some(layout) if layouts => self::layout(out, layout),
        _ => Ok(()),
    }
}

/// `{1,0}`, or `{1,0:L(2)}` where the end is padded to a multiple of so many elements.
fn layout(out: &mut String, layout: &LayoutProto) -> fmt::Result {
    match layout.tail_padding_alignment_in_elements {
        ..2 if layout.minor_to_major.is_empty() => Ok(()),
        ..2 => write!(out, "{}", Braced(&layout.minor_to_major)),
        elements => {
            out.push('{');
            super::separated(out, ",", &layout.minor_to_major, |out, dim| write!(out, "{dim}"))?;
            write!(out, ":L({elements})}}")
        }
    }
}

fn tuple(out: &mut String, items: &[Shared<ShapeProto>], layouts: bool) -> fmt::Result {
    out.push('(');
    for (position, item) in items.iter().enumerate() {
        out.push_str(if position > 0 { ", " } else { "" });
        index_comment(out, position)?;
        print(out, item, layouts)?;
    }
    out.push(')');
    Ok(())
}
