//! Shardings.

use super::shape::index_comment;
use super::{Braced, iota_devices, separated};
use crate::proto::OpSharding;
use std::fmt::{self, Write};

/// The kind of a sharding that is a tuple of others.
pub(super) const TUPLE: i32 = 2;
/// The kind of one that has tiles.
pub(super) const OTHER: i32 = 3;
/// The kind of one that has one device.
pub(super) const MAXIMAL: i32 = 1;

/// The kinds that have names, by their numbers in the schema.
pub(super) const KINDS: [(i32, &str); 5] =
    [(0, "replicated"), (MAXIMAL, "maximal"), (4, "manual"), (5, "unknown"), (6, "unreduced")];

/// `{devices=[2,4]<=[8]}`, or a tuple of such in braces.
pub(super) fn print(out: &mut String, sharding: &OpSharding) -> fmt::Result {
    if sharding.r#type != TUPLE {
        return of_array(out, sharding);
    }
    out.push('{');
    for (position, item) in sharding.tuple_shardings.iter().enumerate() {
        out.push_str(if position > 0 { ", " } else { "" });
        index_comment(out, position)?;
        of_array(out, item)?;
    }
    out.push('}');
    Ok(())
}

fn of_array(out: &mut String, sharding: &OpSharding) -> fmt::Result {
    let name = |kind: &i32| KINDS.iter().find(|(number, _)| number == kind).map_or("?", |(_, name)| name);
    let devices = &sharding.tile_assignment_devices;
    match (sharding.r#type, &devices[..]) {
        (MAXIMAL, [device]) => return write!(out, "{{maximal device={device}}}"),
        (OTHER, _) => {}
        (kind, _) => return write!(out, "{{{}}}", name(&kind)),
    }
    out.push_str("{devices=[");
    separated(out, ",", &sharding.tile_assignment_dimensions, |out, size| write!(out, "{size}"))?;
    out.push(']');
    match sharding.iota_reshape_dims.is_empty() {
        true => separated(out, ",", devices, |out, device| write!(out, "{device}"))?,
        false => iota_devices(out, &sharding.iota_reshape_dims, &sharding.iota_transpose_perm)?,
    }
    if sharding.replicate_on_last_tile_dim {
        out.push_str(" last_tile_dim_replicate");
    }
    if !sharding.last_tile_dims.is_empty() {
        let names: Vec<&str> = sharding.last_tile_dims.iter().map(name).collect();
        write!(out, " last_tile_dims={}", Braced(&names))?;
    }
    out.push('}');
    Ok(())
}
