//! How the weights of each group are updated.

use super::rule::{Kind, UpdateRule};
use super::{PASS, rules};
use crate::transform::slots::{EMA, MASTER};
use crate::transform::trained::{Trained, group_of};
use halite_ir::{Builder, Value};
use halite_recipe::{Group, Optimizer};
use halite_support::{Diagnostic, Name, Result};
use rustc_hash::FxHashMap;

/// How the weights of a group are updated, or those in none.
#[derive(Debug)]
pub(super) struct GroupPlan {
    pub(super) rule: Box<dyn UpdateRule>,
    /// Multiplies the learning rate.
    lr_scale: f64,
}

impl GroupPlan {
    fn new(optimizer: &Optimizer, group: Option<&Group>) -> Result<Self> {
        let rule = rules::of(optimizer.rule_of(group))?;
        Ok(Self { rule, lr_scale: group.map_or(1.0, |group| group.lr_scale) })
    }

    /// The learning rate of the group, given that of all.
    pub(super) fn rate(&self, b: &mut Builder<'_>, rate: Value) -> Result<Value> {
        if self.lr_scale == 1.0 { Ok(rate) } else { b.multiply_scalar(rate, self.lr_scale) }
    }
}

/// How all weights are updated.
#[derive(Debug)]
pub(super) struct Plan {
    groups: FxHashMap<Option<Name>, GroupPlan>,
    /// Kinds of state beside the weights, in order: what the rules keep, masters, averages.
    pub(super) kinds: Vec<Kind>,
    /// The decay rate of the averages of the weights.
    pub(super) ema: Option<f64>,
}

impl Plan {
    /// Of what the recipe says of these weights.
    ///
    /// # Errors
    /// When a weight is in a group that the recipe does not have, or an update rule cannot be made.
    pub(super) fn of(optimizer: &Optimizer, weights: &[Trained]) -> Result<Self> {
        let (mut groups, mut kinds) = (FxHashMap::default(), Vec::new());
        for weight in weights {
            if groups.contains_key(&weight.group) {
                continue;
            }
            let plan = GroupPlan::new(optimizer, group_of(PASS, optimizer, weight)?)?;
            let unknown = plan.rule.kinds().iter().filter(|kind| !kinds.contains(*kind)).copied();
            kinds.extend(unknown.collect::<Vec<_>>());
            groups.insert(weight.group.clone(), plan);
        }
        kinds.push(MASTER);
        kinds.extend(optimizer.ema.map(|_| EMA));
        Ok(Self { groups, kinds, ema: optimizer.ema })
    }

    /// How a weight is updated.
    pub(super) fn group(&self, weight: &Trained) -> Result<&GroupPlan> {
        self.groups.get(&weight.group).ok_or_else(|| Diagnostic::bug("a weight of a group without a plan"))
    }
}
