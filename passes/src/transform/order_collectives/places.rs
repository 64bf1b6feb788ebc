//! Where gathers and scatters are written.

use super::gathers::Gathers;
use super::scatters::Scatter;
use halite_recipe::Parallel;
use std::collections::BTreeMap;

/// The instructions that are written elsewhere than where they stand.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The moves before the instruction at each position.
    pub(super) moves: BTreeMap<usize, Moves>,
}

/// Gathers and scatters that are written before an instruction.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// Gathers of layers, each with what makes its operands.
    pub(super) gathers: Vec<Gathers>,
    /// The positions of scatters.
    pub(super) scatters: Vec<usize>,
}

/// The places of scatters and gathers, as many layers late and early as a recipe states, and fewer where more than `most` bytes would be held
/// at once.
pub(super) fn places(scatters: Vec<Scatter>, gathers: Vec<Gathers>, (parallel, most): (&Parallel, u64)) -> Places {
    let starts: Vec<usize> = gathers.iter().map(|group| group.first_read).collect();
    let mut places = Places::default();
    late(&scatters, &starts, (parallel.fsdp_delay as usize, most), &mut places);
    early(gathers, &starts, (parallel.fsdp_prefetch as usize, most), &mut places);
    places
}

/// Places gathers where an earlier layer begins to compute with its weights. A layer of which all weights are not held at once gathers each where it is read.
fn early(gathers: Vec<Gathers>, starts: &[usize], (layers, most): (usize, u64), places: &mut Places) {
    if layers == 0 || gathers.len() < 2 {
        return;
    }
    let ends: Vec<(usize, u64)> = gathers.iter().map(|group| (group.last_read, group.bytes)).collect();
    let mut at = 0;
    for (layer, group) in gathers.into_iter().enumerate() {
        // One order for all: a layer's weights are not gathered before those of the layer before it.
        at = at.max(layer.saturating_sub(layers));
        let held = |start: usize| -> u64 {
            let before = ends[..layer].iter().filter(|(last_read, _)| *last_read >= start);
            before.map(|(_, bytes)| bytes).fold(group.bytes, |sum, bytes| sum.saturating_add(*bytes))
        };
        while at <= layer && held(starts[at]) > most {
            at += 1;
        }
        if at <= layer {
            places.moves.entry(starts[at]).or_default().gathers.push(group);
        }
    }
}

/// Places scatters where the layer begins that comes after those that they wait for.
fn late(scatters: &[Scatter], starts: &[usize], (layers, most): (usize, u64), places: &mut Places) {
    if layers == 0 {
        return;
    }
    let of = |layer: usize| scatters.iter().filter(move |scatter| scatter.layer == layer);
    for scatter in scatters {
        let waits = |&by: &usize| {
            let until = scatter.layer + by + 1;
            let waiting = (scatter.layer..until).flat_map(of).map(|other| other.bytes);
            let is_free = starts.get(until).is_some_and(|&start| start < scatter.first_read);
            is_free && waiting.fold(0, u64::saturating_add) <= most
        };
        if let Some(by) = (1..=layers).rev().find(waits) {
            places.moves.entry(starts[scatter.layer + by + 1]).or_default().scatters.push(scatter.at);
        }
    }
}
