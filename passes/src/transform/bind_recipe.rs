//! `bind-recipe`.

mod layout;
mod output;
mod patterns;

use crate::framework::example::golden;
use crate::framework::membership::{decay_of, groups_of};
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Function, Module, Param, ParamRole, Phase, WeightInfo};
use halite_optim::UpdateRules;
use halite_recipe::Optimizer;
use halite_support::{Diagnostic, Name, Result, codes};
use layout::check_layout;
use output::outputs;
use patterns::{is_unmatched, unmatched, weight_names};

/// Stamps each weight with its weight decay, its group, and whether it is frozen. A pattern that matches no weight is an
/// error: HLAT's patterns `bias` and `LayerNorm` matched nothing in Llama, so that its norms were decayed against intention. So
/// is a weight in two groups, a model without a weight to train, and a layout of weights or dimensions that there are not.
///
/// A weight that `no_decay` matches has no decay, in whatever group it is; a frozen weight has none to speak of.
///
/// ```text
/// %w: f32[4] {weight, init = ones}      =>    %w: f32[4] {weight, init = ones, decay = 0.1}
/// %e: f32[4] {weight, init = ones}            %e: f32[4] {weight, init = ones, group = "embeddings", frozen}
/// ```
///
/// If an update rule asks which dimension of a matrix is its output, each weight is stamped with the one that the products which read
/// it keep: `out = 1` for one stored `[in, out]`.
#[derive(Debug)]
pub(crate) struct BindRecipe;

impl Pass for BindRecipe {
    fn info(&self) -> PassInfo {
        PassInfo::new("bind-recipe", "stamp weights with what the recipe says of them", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Built)
            .example(golden!("bind_recipe" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe("bind-recipe")?;
        let optimizer = &recipe.optimizer;
        let asks = asks_for_output(cx.rules, optimizer)?;
        let outputs = if asks { outputs(module, cx.registry)? } else { Vec::new() };
        let Some(entry) = module.functions.last_mut() else { return Ok(Changed::No) };
        check_patterns(entry, optimizer)?;
        recipe.parallel.iter().try_for_each(|parallel| check_layout(entry, parallel))?;
        let mut changed = false;
        for (at, param) in entry.params.iter_mut().enumerate() {
            if !matches!(param.role, ParamRole::Weight(_)) {
                continue;
            }
            let Facts { decay, group, frozen } = Facts::of(param, optimizer)?;
            let ParamRole::Weight(info) = &mut param.role else { continue };
            let known = outputs.get(at).filter(|_| info.packing.is_none());
            let output = known.copied().unwrap_or(info.output);
            let stamped = WeightInfo { decay, group, frozen: frozen || info.frozen, output, ..info.clone() };
            changed |= *info != stamped;
            *info = stamped;
        }
        check_trained(entry, optimizer)?;
        Ok(Changed::when(changed))
    }
}

/// Whether a rule that updates some weight asks which dimension is the output.
///
/// # Errors
/// When a rule is unknown.
fn asks_for_output(rules: &UpdateRules, optimizer: &Optimizer) -> Result<bool> {
    optimizer.rules().try_fold(false, |asks, (_, rule)| Ok(asks || rules.get(rule)?.asks_for_output()))
}

/// The settings of a weight in a recipe.
#[derive(PartialEq)]
struct Facts {
    decay: Option<f64>,
    group: Option<Name>,
    frozen: bool,
}

impl Facts {
    /// # Errors
    /// When the weight is in two groups, or packs tensors that differ.
    fn of(param: &Param, optimizer: &Optimizer) -> Result<Self> {
        let mut names = param.originals();
        let first = names.next().unwrap_or_default();
        let facts = Self::named(first, optimizer)?;
        for name in names {
            if Self::named(name, optimizer)? != facts {
                let message = format!("`{}` packs `{first}` and `{name}`, which are updated differently", param.name);
                let error = Diagnostic::error(codes::PIPELINE, message);
                return Err(error.help("run `bind-recipe` before `coalesce-layers`"));
            }
        }
        Ok(facts)
    }

    /// By the name of the weight in the model.
    fn named(name: &str, optimizer: &Optimizer) -> Result<Self> {
        let mut groups = groups_of(optimizer, name);
        let group = match (groups.next(), groups.next()) {
            (Some((_, first)), Some((at, second))) => {
                let message = format!("`{name}` is in the groups `{}` and `{}`", first.name, second.name);
                let error = Diagnostic::error(codes::RECIPE_CLASH, message).key(format!("optimizer.group.{at}.params"));
                return Err(error.help(format!("add \"{name}\" to `except` of one of them")));
            }
            (first, _) => first.map(|(_, group)| group),
        };
        let frozen = group.is_some_and(|group| group.frozen);
        let decay = decay_of(optimizer, group, name);
        Ok(Self { decay, group: group.map(|group| group.name.as_str().into()), frozen })
    }
}

/// # Errors
/// When a pattern matches no weight.
fn check_patterns(entry: &Function, optimizer: &Optimizer) -> Result<()> {
    let names = weight_names(entry);
    for (path, what, patterns) in patterns(optimizer) {
        if let Some(at) = patterns.iter().position(|pattern| is_unmatched(pattern, &names)) {
            return Err(unmatched(&what, &patterns[at], &names, format!("{path}.{at}")));
        }
    }
    Ok(())
}

/// All lists of patterns, each with its path in the recipe and what it is called.
fn patterns(optimizer: &Optimizer) -> impl Iterator<Item = (String, String, &[String])> {
    let no_decay = (format!("{}.no_decay", optimizer.path()), "`no_decay`".to_owned(), &optimizer.no_decay[..]);
    let groups = optimizer.groups.iter().enumerate().flat_map(|(at, group)| {
        [("params", &group.params), ("except", &group.except)].map(|(key, patterns)| {
            (format!("optimizer.group.{at}.{key}"), format!("group `{}`: `{key}`", group.name), &patterns[..])
        })
    });
    [no_decay].into_iter().chain(groups)
}

/// # Errors
/// When a group has no weight left, or every weight is frozen.
fn check_trained(entry: &Function, optimizer: &Optimizer) -> Result<()> {
    let weights = || entry.params.iter().filter_map(Param::weight);
    let left = |name: &str| weights().any(|info| info.group.as_deref() == Some(name));
    if let Some((at, group)) = optimizer.groups.iter().enumerate().find(|(_, group)| !left(&group.name)) {
        let message = format!("`except` leaves no parameter in the group `{}`", group.name);
        let error = Diagnostic::error(codes::PATTERN, message).key(format!("optimizer.group.{at}.except"));
        return Err(error.help("leave out less, or remove the group"));
    }
    if weights().next().is_some() && weights().all(|info| info.frozen) {
        let error = Diagnostic::error(codes::RECIPE_CLASH, "every parameter is frozen, so that nothing is trained");
        return Err(match optimizer.groups.iter().position(|group| group.frozen) {
            Some(frozen) => {
                error.key(format!("optimizer.group.{frozen}.frozen")).help("leave parameters out of the frozen groups")
            }
            None => error.help("declare what is to be trained as `param`, not as `buffer`"),
        });
    }
    Ok(())
}
