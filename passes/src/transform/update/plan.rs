//! The update of the weights of each group.

use super::PASS;
use crate::transform::slots::{EMA, MASTER};
use crate::transform::trained::{Trained, group_of};
use halite_ir::{Builder, Value};
use halite_optim::UpdateRules;
use halite_optim::{BoundRule, Kind};
use halite_recipe::{Group, Optimizer, Rule};
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::Shape;
use rustc_hash::FxHashMap;

/// The update of the weights of a group, or of those in none.
#[derive(Debug)]
pub(super) struct GroupPlan {
    pub(super) rule: Box<dyn BoundRule>,
    named: Rule,
    /// The path of the rule's table in the recipe.
    path: String,
    /// Multiplies the learning rate.
    lr_scale: f64,
}

impl GroupPlan {
    fn new(rules: &UpdateRules, optimizer: &Optimizer, group: Option<&Group>) -> Result<Self> {
        let named = optimizer.rule_of(group);
        let path = optimizer.rules().find(|(_, rule)| std::ptr::eq(*rule, named)).map(|(path, _)| path);
        let (rule, named, path) = (rules.read(named)?, named.clone(), path.unwrap_or_default());
        Ok(Self { rule, named, path, lr_scale: group.map_or(1.0, |group| group.lr_scale) })
    }

    /// The learning rate of the group, given that of all.
    pub(super) fn rate(&self, b: &mut Builder<'_>, rate: Value) -> Result<Value> {
        if self.lr_scale == 1.0 { Ok(rate) } else { b.multiply_scalar(rate, self.lr_scale) }
    }
}

/// The update of all weights.
#[derive(Debug)]
pub(super) struct Plan<'r> {
    rules: &'r UpdateRules,
    groups: FxHashMap<Option<Name>, GroupPlan>,
    /// Kinds of state beside the weights, in order: what the rules keep, masters, averages.
    pub(super) kinds: Vec<Kind>,
    /// The decay rate of the averages of the weights.
    pub(super) ema: Option<f64>,
}

impl<'r> Plan<'r> {
    /// Of what the recipe says of these weights.
    ///
    /// # Errors
    /// When a weight is in a group that the recipe does not have, or an update rule cannot be made.
    pub(super) fn of(rules: &'r UpdateRules, optimizer: &Optimizer, weights: &[Trained]) -> Result<Self> {
        let (mut groups, mut kinds) = (FxHashMap::default(), Vec::new());
        for weight in weights {
            if groups.contains_key(&weight.group) {
                continue;
            }
            let plan = GroupPlan::new(rules, optimizer, group_of(PASS, optimizer, weight)?)?;
            let unknown = plan.rule.kinds().iter().filter(|kind| !kinds.contains(*kind)).copied();
            kinds.extend(unknown.collect::<Vec<_>>());
            groups.insert(weight.group.clone(), plan);
        }
        kinds.push(MASTER);
        kinds.extend(optimizer.ema.map(|_| EMA));
        Ok(Self { rules, groups, kinds, ema: optimizer.ema })
    }

    /// Checks that each weight is one that its rule updates.
    ///
    /// # Errors
    /// Naming the first that is not.
    pub(super) fn check(&self, b: &Builder<'_>, weights: &[Trained]) -> Result<()> {
        for weight in weights {
            let group = self.group(weight)?;
            let (kind, rule) = (self.rules.get(&group.named)?, &group.named.name);
            for (name, shape) in originals(b, weight) {
                if let Err(why) = kind.fits(&shape) {
                    let message = format!("`{rule}` does not update the weight `{name}`: {why}");
                    let error = Diagnostic::error(codes::NOT_SUPPORTED, message).key(group.path.clone());
                    return Err(error.help("put it in a group with another rule"));
                }
            }
        }
        Ok(())
    }

    /// Whether the update of each element of a weight depends on that element alone.
    pub(super) fn is_elementwise(&self, weight: &Trained) -> bool {
        let kind = self.groups.get(&weight.group).and_then(|group| self.rules.get(&group.named).ok());
        kind.is_some_and(|kind| kind.is_elementwise())
    }

    /// The plan for the group of a weight.
    pub(super) fn group(&self, weight: &Trained) -> Result<&GroupPlan> {
        self.groups.get(&weight.group).ok_or_else(|| Diagnostic::bug("a weight of a group without a plan"))
    }
}

/// The tensors of the model that a weight stores: their names and shapes.
fn originals<'a>(b: &Builder<'_>, weight: &'a Trained) -> Vec<(&'a str, Shape)> {
    match &weight.packing {
        None => vec![(&*weight.name, b.shape(weight.value).clone())],
        Some(packing) => packing.parts.iter().map(|part| (&*part.name, part.shape.iter().copied().collect())).collect(),
    }
}
