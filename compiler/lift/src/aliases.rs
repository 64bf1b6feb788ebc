//! Results that take the place of parameters.

use halite_hlo::graph::Graph;
use halite_hlo::proto::AliasEntryProto;
use rustc_hash::FxHashMap;

/// The parameters of the entry in the order of their numbers.
pub(crate) fn parameters(graph: &Graph) -> Vec<usize> {
    graph.entry().map(|entry| graph.parameters(entry)).unwrap_or_default()
}

/// For each array of the results that takes the memory of one of the parameters, by their positions, which that is.
pub(crate) fn replaced(graph: &Graph) -> FxHashMap<usize, usize> {
    let Some(aliases) = &graph.module().input_output_alias else { return FxHashMap::default() };
    let mut starts = vec![0];
    for at in parameters(graph) {
        let arrays = graph.shape(at).map_or(1, |shape| shape.arrays().len());
        starts.push(starts[starts.len() - 1] + arrays);
    }
    aliases.entries.iter().filter_map(|alias| pair(alias, &starts)).collect()
}

/// The positions of one pair; `None` of what lies deeper in tuples.
fn pair(alias: &AliasEntryProto, starts: &[usize]) -> Option<(usize, usize)> {
    let (&[output], inside) = (alias.output_shape_index.as_slice(), alias.parameter_shape_index.as_slice()) else {
        return None;
    };
    let inside = match inside {
        [] => 0,
        &[index] => usize::try_from(index).ok()?,
        _ => return None,
    };
    let first = starts.get(usize::try_from(alias.parameter_number).ok()?)?;
    Some((usize::try_from(output).ok()?, first.checked_add(inside)?))
}
