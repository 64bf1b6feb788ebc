//! Convolutions.

use super::{array, dot, int};
use crate::op::Op;
use crate::site::Site;
use halite_hlo::proto::WindowDimension;
use halite_support::Result;

pub(super) fn convolution(site: &Site<'_>) -> Result<Op> {
    let inst = site.inst();
    let numbers = site.needed(inst.convolution_dimension_numbers.as_deref(), "dimensions")?;
    let input = order(
        [("b", numbers.input_batch_dimension), ("f", numbers.input_feature_dimension)],
        &numbers.input_spatial_dimensions,
    );
    let (outputs, inputs) = (numbers.kernel_output_feature_dimension, numbers.kernel_input_feature_dimension);
    let kernel = order([("o", outputs), ("i", inputs)], &numbers.kernel_spatial_dimensions);
    let output = order(
        [("b", numbers.output_batch_dimension), ("f", numbers.output_feature_dimension)],
        &numbers.output_spatial_dimensions,
    );
    let window = inst.window.as_ref().map_or(&[][..], |window| &window.dimensions);
    let of = |value: fn(&WindowDimension) -> i64| array(&window.iter().map(value).collect::<Vec<_>>());
    let reversal: Vec<&str> = window.iter().map(|dim| if dim.window_reversal { "true" } else { "false" }).collect();
    let separator = if reversal.is_empty() { "" } else { ": " };
    let op = site
        .op()?
        .with("window_strides", of(|dim| dim.stride))
        .with("padding", padding(window))
        .with("lhs_dilation", of(|dim| dim.base_dilation))
        .with("rhs_dilation", of(|dim| dim.window_dilation))
        .with("window_reversal", format!("array<i1{separator}{}>", reversal.join(", ")))
        .with("dimension_numbers", format!("#stablehlo.conv<{input}x{kernel}->{output}>"))
        .with("feature_group_count", int(inst.feature_group_count.max(1)))
        .with("batch_group_count", int(inst.batch_group_count.max(1)));
    dot::with_precision(site, op)
}

/// The padding of a window: two numbers for each dimension.
pub(super) fn padding(window: &[WindowDimension]) -> String {
    let pairs: Vec<String> = window.iter().map(|dim| format!("[{}, {}]", dim.padding_low, dim.padding_high)).collect();
    let elements = if pairs.is_empty() { String::new() } else { format!("[{}]", pairs.join(", ")) };
    format!("dense<{elements}> : tensor<{}x2xi64>", pairs.len())
}

/// `[b, f, 0, 1]`: letters and numbers in the order of the dimensions.
fn order(named: [(&str, i64); 2], spatial: &[i64]) -> String {
    let spatial = spatial.iter().enumerate().map(|(number, &dim)| (dim, number.to_string()));
    let mut all: Vec<(i64, String)> = named.iter().map(|&(name, dim)| (dim, name.to_owned())).chain(spatial).collect();
    all.sort();
    format!("[{}]", all.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", "))
}
