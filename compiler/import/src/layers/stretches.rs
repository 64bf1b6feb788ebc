//! The instructions of each layer.

use super::Weights;
use halite_ir::{Def, Function, Inst, Value};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;

/// The most places that are tried for a cut.
const PLACES: usize = 64;

/// Stretches of as many instructions, one for each layer and one after another, that are the same but for what they read of their layer and
/// of the stretch before.
#[derive(Debug)]
pub(super) struct Stretches {
    /// The first instruction of the first.
    pub(super) start: usize,
    /// The number of instructions of each.
    pub(super) len: usize,
    /// The weights of each layer, in the order in which they are read.
    pub(super) weights: Weights,
    /// The values that each stretch reads of the one before, by the place there, with those that the first reads.
    pub(super) carried: IndexMap<Place, Value>,
    /// The values that all read.
    pub(super) shared: Vec<Value>,
    /// The values that each reads another of, in the order of the layers.
    pub(super) own: IndexSet<Vec<Value>>,
}

/// A value by the number of its instruction in a stretch, and of the result.
pub(super) type Place = (usize, u16);

/// A value that an instruction of a stretch reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Read {
    /// A value of the stretch.
    Own(Place),
    /// A weight of the layer.
    Weight(usize),
    /// A value of the stretch before.
    Before(Place),
    /// Another value.
    Other(Value),
}

impl Stretches {
    /// The stretches of the layers with these weights; `None` where there are none that are alike.
    pub(super) fn of(entry: &Function, mut weights: Weights) -> Option<Self> {
        let read = reads(entry, &weights)?;
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by_key(|&layer| read[layer]);
        weights = order.iter().map(|&layer| weights[layer].clone()).collect();
        let (first, last): (Vec<usize>, Vec<usize>) = order.iter().map(|&layer| read[layer]).unzip();
        let len = first[1].checked_sub(first[0]).filter(|&len| len > 1)?;
        let alike = first.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(len));
        let apart = last.iter().zip(&first[1..]).all(|(last, next)| last < next);
        let (end, most) = (first[first.len() - 1] + len, last[last.len() - 1]);
        if !alike || !apart || end <= most {
            return None;
        }
        let gaps = last.iter().zip(&first[1..]).map(|(last, next)| next - last - 1);
        let room = gaps.chain([first[0], end - most - 1]).min()?.min(PLACES);
        let end = |before: usize| first[0] - before + len * weights.len();
        let mut places: Vec<usize> = (0..=room).filter(|&before| end(before) <= entry.insts.len()).collect();
        places.sort_by_key(|&before| (crossing(entry, first[1] - before, len), usize::MAX - before));
        places.into_iter().find_map(|before| Self::at(entry, &weights, first[0] - before, len))
    }

    /// Those that begin there, where they are alike.
    fn at(entry: &Function, weights: &Weights, start: usize, len: usize) -> Option<Self> {
        let own: Vec<FxHashMap<Value, usize>> = weights.iter().map(|layer| numbered(entry, layer)).collect();
        let read = |layer: usize, value: Value| {
            if let Some(&number) = own[layer].get(&value) {
                return Read::Weight(number);
            }
            let first = start + layer * len;
            match entry.values[value.index()].def {
                Def::Inst(at, result) if (at as usize) >= first => Read::Own((at as usize - first, result)),
                Def::Inst(at, result) if layer > 0 && (at as usize) >= first - len => {
                    Read::Before((at as usize + len - first, result))
                }
                _ => Read::Other(value),
            }
        };
        let mut found = Self {
            start,
            len,
            weights: weights.clone(),
            carried: IndexMap::new(),
            shared: Vec::new(),
            own: IndexSet::new(),
        };
        for offset in 0..len {
            let second = &entry.insts[start + len + offset];
            for layer in (0..weights.len()).filter(|&layer| layer != 1) {
                let other = &entry.insts[start + layer * len + offset];
                if !is_alike(entry, second, other) {
                    return None;
                }
            }
            for (number, &value) in second.args.iter().enumerate() {
                let value_of = |layer: usize| entry.insts[start + layer * len + offset].args[number];
                let values = (0..weights.len()).map(value_of);
                let mut reads = values.clone().enumerate().map(|(layer, value)| read(layer, value));
                let (first, wanted) = (reads.next()?, reads.next()?);
                if reads.all(|read| read == wanted) && found.take(wanted, (first, value_of(0))).is_some() {
                    continue;
                }
                let is_own = |(layer, other): (usize, Value)| {
                    matches!(read(layer, other), Read::Other(_)) && entry.ty(other) == entry.ty(value)
                };
                values.clone().enumerate().all(is_own).then(|| found.own.insert(values.collect()))?;
            }
        }
        Some(found)
    }

    /// Takes what the second stretch reads and what the first reads there.
    fn take(&mut self, wanted: Read, (first, value): (Read, Value)) -> Option<()> {
        match (wanted, first) {
            (Read::Before(place), Read::Other(_)) => {
                (*self.carried.entry(place).or_insert(value) == value).then_some(())
            }
            (Read::Other(one), Read::Other(other)) if one == other => {
                if !self.shared.contains(&one) {
                    self.shared.push(one);
                }
                Some(())
            }
            (Read::Own(_) | Read::Weight(_), _) if wanted == first => Some(()),
            _ => None,
        }
    }

    /// The stretch that an instruction is in.
    pub(super) fn layer_of(&self, at: usize) -> Option<usize> {
        let layer = at.checked_sub(self.start)? / self.len;
        (layer < self.weights.len()).then_some(layer)
    }

    /// The instructions of the stretch of a layer.
    pub(super) fn insts<'f>(&self, entry: &'f Function, layer: usize) -> &'f [Inst] {
        let first = self.start + layer * self.len;
        &entry.insts[first..first + self.len]
    }
}

/// The first and the last instruction that reads weights of each layer; `None` where nothing reads those of one.
fn reads(entry: &Function, weights: &Weights) -> Option<Vec<(usize, usize)>> {
    let numbered =
        |(layer, own): (usize, &Vec<usize>)| own.iter().map(|&at| (entry.params[at].value, layer)).collect::<Vec<_>>();
    let layer_of: FxHashMap<Value, usize> = weights.iter().enumerate().flat_map(numbered).collect();
    let mut found: Vec<Option<(usize, usize)>> = vec![None; weights.len()];
    for (at, inst) in entry.insts.iter().enumerate() {
        for layer in inst.args.iter().filter_map(|arg| layer_of.get(arg)) {
            found[*layer] = Some(found[*layer].map_or((at, at), |(first, _)| (first, at)));
        }
    }
    found.into_iter().collect()
}

/// The weights of a layer by their values.
fn numbered(entry: &Function, layer: &[usize]) -> FxHashMap<Value, usize> {
    layer.iter().enumerate().map(|(number, &at)| (entry.params[at].value, number)).collect()
}

/// The number of values of the `len` instructions before a place that are read from there on.
fn crossing(entry: &Function, place: usize, len: usize) -> usize {
    let from = place.saturating_sub(len);
    let crosses = |value: &Value| matches!(entry.values[value.index()].def, Def::Inst(at, _) if (from..place).contains(&(at as usize)));
    let later = entry.insts[place..].iter().flat_map(|inst| inst.args.iter().copied());
    let mut values: Vec<Value> = later.filter(crosses).collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}

fn is_alike(entry: &Function, one: &Inst, other: &Inst) -> bool {
    let types = |inst: &Inst| inst.results.iter().map(|&result| entry.ty(result)).collect::<Vec<_>>();
    one.op == other.op
        && one.rounding == other.rounding
        && one.args.len() == other.args.len()
        && types(one) == types(other)
}
