//! Operations that move elements by positions that are known.

use super::{array, int};
use crate::op::Op;
use crate::site::Site;
use halite_hlo::proto::{PaddingConfigDimension, SliceDimensions};
use halite_support::Result;

/// An operation whose only attribute is the list of its dimensions.
pub(super) fn listed(site: &Site<'_>, key: &'static str) -> Result<Op> {
    Ok(site.op()?.with(key, array(&site.inst().dimensions)))
}

pub(super) fn concatenate(site: &Site<'_>) -> Result<Op> {
    Ok(site.op()?.with("dimension", int(site.inst().dimensions.first().copied().unwrap_or(0))))
}

pub(super) fn pad(site: &Site<'_>) -> Result<Op> {
    let config = site.needed(site.inst().padding_config.as_deref(), "padding")?;
    let of =
        |value: fn(&PaddingConfigDimension) -> i64| array(&config.dimensions.iter().map(value).collect::<Vec<_>>());
    Ok(site
        .op()?
        .with("edge_padding_low", of(|dim| dim.edge_padding_low))
        .with("edge_padding_high", of(|dim| dim.edge_padding_high))
        .with("interior_padding", of(|dim| dim.interior_padding)))
}

pub(super) fn slice(site: &Site<'_>) -> Result<Op> {
    let ranges = &site.inst().slice_dimensions;
    let of = |value: fn(&SliceDimensions) -> i64| array(&ranges.iter().map(value).collect::<Vec<_>>());
    Ok(site
        .op()?
        .with("start_indices", of(|range| range.start))
        .with("limit_indices", of(|range| range.limit))
        .with("strides", of(|range| range.stride)))
}
