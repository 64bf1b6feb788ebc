//! Windows of convolutions and reductions.

use crate::proto::{HloInstructionProto, WindowDimension};
use std::fmt::{self, Write};

/// `, window={size=2x2 stride=1x2 ..}`; what has its usual value in every dimension is left out.
pub(super) fn print(out: &mut String, inst: &HloInstructionProto) -> fmt::Result {
    let Some(window) = inst.window.as_ref().filter(|window| !window.dimensions.is_empty()) else { return Ok(()) };
    let dims = &window.dimensions;
    let mut parts = vec![format!("size={}", joined(dims, |dim| dim.size.to_string()))];
    let mut part = |name: &str, usual: &str, value: fn(&WindowDimension) -> String| {
        if dims.iter().any(|dim| value(dim) != usual) {
            parts.push(format!("{name}={}", joined(dims, value)));
        }
    };
    part("stride", "1", |dim| dim.stride.to_string());
    part("pad", "0_0", |dim| format!("{}_{}", dim.padding_low, dim.padding_high));
    part("lhs_dilate", "1", |dim| dim.base_dilation.to_string());
    part("rhs_dilate", "1", |dim| dim.window_dilation.to_string());
    part("rhs_reversal", "0", |dim| u8::from(dim.window_reversal).to_string());
    write!(out, ", window={{{}}}", parts.join(" "))
}

fn joined(dims: &[WindowDimension], value: impl Fn(&WindowDimension) -> String) -> String {
    dims.iter().map(value).collect::<Vec<_>>().join("x")
}
