//! Convolutions.

use crate::site::{Site, one};
use halite_hlo::{ConvDims, WindowDim};
use halite_ir::Values;
use halite_ir::ops::{Convolution, Reverse};
use halite_tensor::{DType, Dims};

/// A convolution in the type that is stated, or in a wider one that the op takes: that of operands that are wider, `f64` for integers
/// that stay such.
/// Where a window runs backwards, the kernel is reversed before.
pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    let ("convolution", [mut x, mut kernel]) = (site.opcode(), site.operands()?) else { return None };
    let dims = ConvDims::from_proto(site.inst().convolution_dimension_numbers.as_deref()?).ok()?;
    let window = site.inst().window.as_deref().map_or(&[][..], |window| &window.dimensions);
    let window: Vec<WindowDim> = window.iter().map(|dim| WindowDim::from_proto(dim).ok()).collect::<Option<_>>()?;
    let groups = |count: i64| usize::try_from(count).ok().map(|count| count.max(1));
    let stated = site.ty()?.dtype();
    let mut accumulate = if stated.size() < site.b.dtype(x).size() { site.b.dtype(x) } else { stated };
    if !site.b.dtype(x).is_float() {
        accumulate = if stated.is_float() { stated } else { DType::F64 };
        (x, kernel) = (site.converted(x, accumulate)?, site.converted(kernel, accumulate)?);
    }
    let mut backwards: Dims =
        window.iter().zip(&dims.kernel[2..]).filter(|(dim, _)| dim.reversed).map(|(_, &dim)| dim).collect();
    backwards.sort_unstable();
    if !backwards.is_empty() {
        kernel = site.emit(Reverse { dims: backwards }, &[kernel])?;
    }
    let of = |part: fn(&WindowDim) -> usize| -> Dims { window.iter().map(part).collect() };
    let op = Convolution {
        input: dims.input[..].into(),
        kernel: dims.kernel[..].into(),
        output: dims.output[..].into(),
        strides: of(|dim| dim.stride)[..].into(),
        low: window.iter().map(|dim| dim.low).collect(),
        high: window.iter().map(|dim| dim.high).collect(),
        input_dilation: of(|dim| dim.base_dilation)[..].into(),
        kernel_dilation: of(|dim| dim.window_dilation)[..].into(),
        feature_groups: groups(site.inst().feature_group_count)?,
        batch_groups: groups(site.inst().batch_group_count)?,
        accumulate,
    };
    let convolved = site.emit(op, &[x, kernel])?;
    site.converted(convolved, stated).map(one)
}
