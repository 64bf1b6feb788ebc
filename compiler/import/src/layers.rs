//! Layers that are alike as calls of one function.
//!
//! A program that was traced has the instructions of all layers one after another. Which layer an instruction is of shows in the weights
//! that it reads. Between the last instruction that reads weights of one layer and the first of the next, the cut is where the fewest
//! values go on, which is before what the next layer begins with. Layers that are the same but for their weights and what they hand on
//! become calls.

mod outline;
mod stretches;

use halite_ir::{Function, Layer, Module, Registry};
use halite_support::{Name, Result};
use indexmap::IndexMap;
use stretches::Stretches;

/// The parameters of an entry that are weights of the layers of a list, for each layer in the same order.
pub(crate) type Weights = Vec<Vec<usize>>;

/// Makes the layers of each list of the entry calls of a function, where they are alike.
///
/// # Errors
/// A bug when instructions cannot be copied.
pub(crate) fn outline(module: &mut Module, registry: &Registry) -> Result<()> {
    let lists: Vec<Name> = module.entry().map(|entry| lists(entry).into_keys().collect()).unwrap_or_default();
    for list in lists {
        let Some(entry) = module.functions.pop() else { return Ok(()) };
        let weights = lists_of(&entry, &list);
        match weights.and_then(|weights| Stretches::of(&entry, weights)) {
            Some(found) => outline::write(module, registry, &entry, (&list, &found))?,
            None => module.functions.push(entry),
        }
    }
    Ok(())
}

fn layer(function: &Function, at: usize) -> Option<&Layer> {
    function.params[at].weight()?.layer.as_ref()
}

/// The weights of each list of layers, by the number of the layer.
fn lists(entry: &Function) -> IndexMap<Name, IndexMap<u32, Vec<usize>>> {
    let mut lists: IndexMap<Name, IndexMap<u32, Vec<usize>>> = IndexMap::new();
    for at in 0..entry.params.len() {
        if let Some(layer) = layer(entry, at) {
            lists.entry(layer.list.clone()).or_default().entry(layer.index).or_default().push(at);
        }
    }
    lists
}

/// The weights of the layers of a list, where these are numbered without a gap and have weights of the same names.
fn lists_of(entry: &Function, list: &Name) -> Option<Weights> {
    let mut layers = lists(entry).swap_remove(list)?;
    layers.sort_unstable_keys();
    let numbered = layers.keys().copied().eq(0..u32::try_from(layers.len()).ok()?);
    let rest = |&at: &usize| layer(entry, at).and_then(|layer| layer.inside(&entry.params[at].name));
    let mut weights: Weights = layers.into_values().collect();
    for layer in &mut weights {
        layer.sort_by(|one, other| rest(one).cmp(&rest(other)));
    }
    let names = |layer: &[usize]| layer.iter().map(&rest).collect::<Vec<_>>();
    let alike = weights.windows(2).all(|pair| names(&pair[0]) == names(&pair[1]));
    (numbered && alike && weights.len() > 1).then_some(weights)
}
