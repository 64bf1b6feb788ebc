//! Operations that move elements by positions that are known.

use super::{array, int};
use crate::op::{Meaning, Op};
use crate::site::Site;
use halite_hlo::Opcode;
use halite_hlo::proto::{PaddingConfigDimension, SliceDimensions};
use halite_support::Result;

pub(super) fn meaning(site: &Site<'_>) -> Option<Result<Meaning>> {
    let dims = &site.inst().dimensions;
    let op = match Opcode::parse(site.opcode())? {
        Opcode::Broadcast => listed(site, "stablehlo.broadcast_in_dim", "broadcast_dimensions"),
        Opcode::Concatenate => {
            site.op("stablehlo.concatenate").map(|op| op.with("dimension", int(dims.first().copied().unwrap_or(0))))
        }
        Opcode::Pad => pad(site),
        Opcode::Reshape => site.op("stablehlo.reshape"),
        Opcode::Reverse => listed(site, "stablehlo.reverse", "dimensions"),
        Opcode::Slice => slice(site),
        Opcode::Transpose => listed(site, "stablehlo.transpose", "permutation"),
        _ => return None,
    };
    Some(op.map(Meaning::from))
}

/// An operation whose only attribute is the list of its dimensions.
fn listed(site: &Site<'_>, name: &'static str, key: &'static str) -> Result<Op> {
    Ok(site.op(name)?.with(key, array(&site.inst().dimensions)))
}

fn pad(site: &Site<'_>) -> Result<Op> {
    let config = site.needed(site.inst().padding_config.as_deref(), "padding")?;
    let of =
        |value: fn(&PaddingConfigDimension) -> i64| array(&config.dimensions.iter().map(value).collect::<Vec<_>>());
    Ok(site
        .op("stablehlo.pad")?
        .with("edge_padding_low", of(|dim| dim.edge_padding_low))
        .with("edge_padding_high", of(|dim| dim.edge_padding_high))
        .with("interior_padding", of(|dim| dim.interior_padding)))
}

fn slice(site: &Site<'_>) -> Result<Op> {
    let ranges = &site.inst().slice_dimensions;
    let of = |value: fn(&SliceDimensions) -> i64| array(&ranges.iter().map(value).collect::<Vec<_>>());
    Ok(site
        .op("stablehlo.slice")?
        .with("start_indices", of(|range| range.start))
        .with("limit_indices", of(|range| range.limit))
        .with("strides", of(|range| range.stride)))
}
