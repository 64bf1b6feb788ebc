//! The parameters of a computation.

use halite_hlo::graph::{Computation, Graph};
use halite_support::{Name, Names};
use rustc_hash::FxHashMap;

/// The parameters in the order of their numbers, with a name for each array: what the program that made the HLO calls it, where it calls no other so, or that of the instruction.
pub(crate) fn named(graph: &Graph, computation: &Computation) -> Vec<(usize, Vec<Name>)> {
    let parameters = graph.parameters(computation);
    let mut called: FxHashMap<&str, usize> = FxHashMap::default();
    parameters.iter().for_each(|&at| *called.entry(scope(graph, at)).or_default() += 1);
    let mut taken = Names::default();
    let mut named = |at: usize| {
        let name = Some(scope(graph, at)).filter(|name| !name.is_empty() && called[name] == 1);
        let name = name.unwrap_or(&graph.inst(at).name);
        let names = match graph.shape(at).map_or(1, |shape| shape.arrays().len()) {
            1 => vec![taken.unused(name)],
            count => (0..count).map(|number| taken.unused(&format!("{name}.{number}"))).collect(),
        };
        (at, names)
    };
    parameters.iter().map(|&at| named(at)).collect()
}

fn scope(graph: &Graph, at: usize) -> &str {
    graph.inst(at).metadata.as_deref().map_or("", |metadata| &metadata.op_name)
}
