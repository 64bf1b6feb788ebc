//! The update of the parameters of each group.

use halite_bundle::Manifest;
use halite_passes::{decay_of, groups_of};
use halite_recipe::{Group, Optimizer};
use serde::Serialize;

/// The update of the parameters in a group of the optimizer, or of those in none.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct GroupRow {
    /// Its name; `None` for the parameters in no group.
    pub group: Option<String>,
    /// The update rule; `None` when the group is frozen, as for all that follows up to the patterns.
    pub rule: Option<String>,
    /// The factor of the learning rate.
    pub lr_scale: Option<f64>,
    /// Each weight decay, least first, with the number of parameters that have it.
    pub weight_decay: Vec<(f64, u64)>,
    /// The key of the clip and its bound, if gradients are clipped.
    pub clip: Option<(&'static str, f64)>,
    /// The patterns of its parameters.
    pub params: Vec<String>,
    /// The patterns of the parameters that are left out.
    pub except: Vec<String>,
    /// The number of the model's parameters that are in the group.
    pub count: u64,
    /// The number of their elements.
    pub elements: u64,
}

impl GroupRow {
    fn new(optimizer: &Optimizer, group: Option<&Group>) -> Self {
        let trained = group.is_none_or(|group| !group.frozen);
        let rule = trained.then(|| optimizer.rule_of(group).name.clone());
        let clipped = trained && group.is_none_or(|group| group.clip);
        let patterns = |of: fn(&Group) -> &Vec<String>| group.map(of).cloned().unwrap_or_default();
        Self {
            group: group.map(|group| group.name.clone()),
            rule,
            lr_scale: trained.then(|| group.map_or(1.0, |group| group.lr_scale)),
            weight_decay: Vec::new(),
            clip: optimizer.clip.filter(|_| clipped).map(halite_recipe::Clip::entry),
            params: patterns(|group| &group.params),
            except: patterns(|group| &group.except),
            count: 0,
            elements: 0,
        }
    }

    fn add(&mut self, elements: u64, decay: Option<f64>) {
        self.count += 1;
        self.elements += elements;
        let Some(decay) = decay else { return };
        match self.weight_decay.binary_search_by(|(known, _)| known.total_cmp(&decay)) {
            Ok(at) => self.weight_decay[at].1 += 1,
            Err(at) => self.weight_decay.insert(at, (decay, 1)),
        }
    }
}

/// The groups of a bundle that have parameters, in the order of its recipe, what is in no group last.
pub fn summarize(manifest: &Manifest) -> Vec<GroupRow> {
    let optimizer = &manifest.recipe.optimizer;
    let groups = optimizer.groups.iter().map(Some).chain([None]);
    let mut rows: Vec<GroupRow> = groups.map(|group| GroupRow::new(optimizer, group)).collect();
    for buffer in manifest.buffers.iter().filter(|buffer| buffer.is_weight()) {
        let parts = buffer.packing.iter().flat_map(|packing| &packing.parts);
        let parts: Vec<(&str, &[usize])> = parts.map(|part| (part.name.as_str(), &part.shape[..])).collect();
        let own = [(buffer.name.as_str(), &buffer.shape[..])];
        for &(name, shape) in if parts.is_empty() { &own[..] } else { &parts } {
            let group = groups_of(optimizer, name).next();
            let at = group.map_or(optimizer.groups.len(), |(at, _)| at);
            let decay = decay_of(optimizer, group.map(|(_, group)| group), name);
            rows[at].add(shape.iter().map(|&size| size as u64).product(), decay);
        }
    }
    rows.into_iter().filter(|row| row.count > 0).collect()
}
