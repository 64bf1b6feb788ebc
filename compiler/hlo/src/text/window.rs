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

/// `, dim_labels=bf01_oi01->bf01, feature_group_count=2`: the dimensions of a convolution, and groups where there are several.
pub(super) fn print_dims(out: &mut String, inst: &HloInstructionProto) -> fmt::Result {
    let Some(dims) = inst.convolution_dimension_numbers.as_deref() else { return Ok(()) };
    let (outputs, inputs) = (dims.kernel_output_feature_dimension, dims.kernel_input_feature_dimension);
    let input = labels(
        [('b', dims.input_batch_dimension), ('f', dims.input_feature_dimension)],
        &dims.input_spatial_dimensions,
    );
    let kernel = labels([('o', outputs), ('i', inputs)], &dims.kernel_spatial_dimensions);
    let output = labels(
        [('b', dims.output_batch_dimension), ('f', dims.output_feature_dimension)],
        &dims.output_spatial_dimensions,
    );
    write!(out, ", dim_labels={input}_{kernel}->{output}")?;
    for (name, count) in
        [("feature_group_count", inst.feature_group_count), ("batch_group_count", inst.batch_group_count)]
    {
        if count > 1 {
            write!(out, ", {name}={count}")?;
        }
    }
    Ok(())
}

/// The letters of dimensions in the order of the dimensions; spatial ones have digits.
fn labels(named: [(char, i64); 2], spatial: &[i64]) -> String {
    let spatial = spatial.iter().enumerate().map(|(number, &dim)| (dim, number.to_string()));
    let mut all: Vec<(i64, String)> = named.iter().map(|&(name, dim)| (dim, name.to_string())).chain(spatial).collect();
    all.sort();
    all.into_iter().map(|(_, label)| label).collect()
}

fn joined(dims: &[WindowDimension], value: impl Fn(&WindowDimension) -> String) -> String {
    dims.iter().map(value).collect::<Vec<_>>().join("x")
}
