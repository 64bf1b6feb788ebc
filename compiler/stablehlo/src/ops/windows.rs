//! Reductions over windows.

use super::array;
use super::convolution::padding;
use crate::op::Op;
use crate::site::Site;
use halite_hlo::proto::WindowDimension;
use halite_support::Result;

pub(super) fn reduce_window(site: &Site<'_>) -> Result<Op> {
    let op = windowed(site)?;
    let of = |value: fn(&WindowDimension) -> i64| array(&windows(site).iter().map(value).collect::<Vec<_>>());
    Ok(op
        .with("base_dilations", of(|dim| dim.base_dilation))
        .with("window_dilations", of(|dim| dim.window_dilation))
        .with("padding", padding(windows(site))))
}

pub(super) fn select_and_scatter(site: &Site<'_>) -> Result<Op> {
    Ok(windowed(site)?.with("padding", padding(windows(site))))
}

fn windowed(site: &Site<'_>) -> Result<Op> {
    let of = |value: fn(&WindowDimension) -> i64| array(&windows(site).iter().map(value).collect::<Vec<_>>());
    Ok(site.op()?.with("window_dimensions", of(|dim| dim.size)).with("window_strides", of(|dim| dim.stride)))
}

fn windows<'a>(site: &Site<'a>) -> &'a [WindowDimension] {
    site.inst().window.as_ref().map_or(&[][..], |window| &window.dimensions)
}
