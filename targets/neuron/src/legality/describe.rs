//! Shapes as findings write them.

use halite_hlo::proto::ShapeProto;

/// An array type as HLO writes it: `s32[4,8]`; `(..)` for tuples.
pub(super) fn describe(shape: Option<&ShapeProto>) -> String {
    match shape {
        None => "?".to_owned(),
        Some(shape) if shape.is_tuple() => "(..)".to_owned(),
        Some(shape) => {
            let sizes: Vec<String> = shape.dimensions.iter().map(i64::to_string).collect();
            format!("{}[{}]", shape.element_name(), sizes.join(","))
        }
    }
}
