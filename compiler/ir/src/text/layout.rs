//! The layout of a module in its header: `mesh = ["data"[2], "tensor"[4]], sharded = ["w"[0, 1, 64] x 2]`. For each sharded input or
//! output of the entry it lists dimension, sub-axis of the mesh and stride of each digit, and after `x` the number of dimensions.
//! `terms = ["accum.w"[0]]` has the sub-axes along which ranks hold partial sums.

use super::quoted::print_string;
use super::syntax::{AttrText, Field, PartText};
use crate::layout::Layout;
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::{Axis, DimShard, Mesh, Sharding, SubAxisId};

/// Prints the layout, which follows the other attributes of a module.
pub(super) fn print_layout(layout: &Layout) -> String {
    let axis = |axis: &Axis| format!("{}[{}]", print_string(&axis.name), axis.size);
    let axes: Vec<_> = layout.mesh.axes().iter().map(axis).collect();
    let digits = |(dim, digit): (usize, &DimShard)| format!("{dim}, {}, {}", digit.sub_axis, digit.stride);
    let sharded = |(name, sharding): (&Name, &Sharding)| {
        let all = sharding.0.iter().enumerate().flat_map(|(dim, own)| own.iter().map(move |digit| (dim, digit)));
        let digits: Vec<_> = all.map(digits).collect();
        format!("{}[{}] x {}", print_string(name), digits.join(", "), sharding.0.len())
    };
    let shardings: Vec<_> = layout.shardings.iter().map(sharded).collect();
    let sharded = if shardings.is_empty() { String::new() } else { format!(", sharded = [{}]", shardings.join(", ")) };
    let terms = |(name, sub_axes): (&Name, &Vec<SubAxisId>)| format!("{}{sub_axes:?}", print_string(name));
    let terms: Vec<_> = layout.terms.iter().map(terms).collect();
    let terms = if terms.is_empty() { String::new() } else { format!(", terms = [{}]", terms.join(", ")) };
    format!(", mesh = [{}]{sharded}{terms}", axes.join(", "))
}

/// Reads one attribute of a layout into it; whether it is one.
///
/// # Errors
/// When it is no mesh, or does not fit the mesh before it.
pub(super) fn read_layout(field: &Field<'_>, layout: &mut Option<Layout>) -> Result<bool> {
    let Some(AttrText::Parts(parts)) = &field.value else { return Ok(false) };
    let error = |message: &str, help: &str| Diagnostic::error(codes::ATTRIBUTE, message).at(field.span, "").help(help);
    match field.name {
        "mesh" => {
            let size = |part: &PartText| match part.sizes[..] {
                [size] => usize::try_from(size).ok(),
                _ => None,
            };
            let axes = parts.iter().map(|part| Some((part.name.clone(), size(part)?))).collect::<Option<Vec<_>>>();
            let axes = axes.ok_or_else(|| error("an axis of a mesh has one size", "write e.g. `\"data\"[2]`"))?;
            let mesh = Mesh::new(axes).map_err(|wrong| wrong.at(field.span, ""))?;
            layout.get_or_insert_default().mesh = mesh;
        }
        "sharded" => {
            let layout = layout.get_or_insert_default();
            for part in parts {
                let help = "write dimension, sub-axis and stride of each digit, after the mesh: `\"w\"[0, 1, 64] x 2`";
                let sharding =
                    read_sharding(part, &layout.mesh).ok_or_else(|| error("this is no sharding on the mesh", help))?;
                layout.shardings.insert(Name::from(&*part.name), sharding);
            }
        }
        "terms" => {
            let layout = layout.get_or_insert_default();
            for part in parts {
                let help = "write the sub-axes along which ranks hold terms of it, after the mesh: `\"accum.w\"[0]`";
                let known = |&size: &i64| {
                    usize::try_from(size).ok().filter(|&sub_axis| sub_axis < layout.mesh.sub_axes().len())
                };
                let sub_axes = part.sizes.iter().map(known).collect::<Option<Vec<_>>>();
                let sub_axes = sub_axes.ok_or_else(|| error("the mesh has no such sub-axis", help))?;
                layout.terms.insert(Name::from(&*part.name), sub_axes);
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The most dimensions that a sharded tensor is read with.
const MAX_RANK: usize = 64;

fn read_sharding(part: &PartText, mesh: &Mesh) -> Option<Sharding> {
    let rank = part.copies.filter(|&rank| rank <= MAX_RANK)?;
    let mut sharding = Sharding::replicated(rank);
    let numbers = part.sizes.iter().map(|&size| usize::try_from(size).ok()).collect::<Option<Vec<_>>>()?;
    for digit in numbers.chunks(3) {
        let &[dim, sub_axis, stride] = digit else { return None };
        let size = mesh.sub_axes().get(sub_axis)?.size;
        if dim >= rank || stride == 0 {
            return None;
        }
        sharding = sharding.with(dim, DimShard { sub_axis, size, stride });
    }
    Some(sharding)
}
