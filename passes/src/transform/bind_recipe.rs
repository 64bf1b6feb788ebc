//! `bind-recipe`.

use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::framework::pattern::matches_pattern;
use halite_ir::{Module, Param, ParamRole, Phase};
use halite_support::{Diagnostic, Result, codes};

/// Stamps each weight with its weight decay. A pattern of `no_decay` that matches no weight is an error: HLAT's
/// patterns `bias` and `LayerNorm` matched nothing in Llama, so that its norms were decayed against intention.
///
/// ```text
/// %w: f32[4] {weight, init = ones}      =>    %w: f32[4] {weight, init = ones, decay = 0.1}
/// ```
#[derive(Debug)]
pub(crate) struct BindRecipe;

impl Pass for BindRecipe {
    fn info(&self) -> PassInfo {
        PassInfo::new("bind-recipe", "stamp weights with what the recipe says of them", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Built)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let optimizer = &cx.recipe("bind-recipe")?.optimizer;
        let (decay, no_decay) = (optimizer.weight_decay, &optimizer.no_decay);
        let Some(entry) = module.functions.last_mut() else { return Ok(Changed::No) };
        let mut matched = vec![false; no_decay.len()];
        let mut changed = false;
        for param in &mut entry.params {
            if !matches!(param.role, ParamRole::Weight(_)) {
                continue;
            }
            let spared = is_spared(param, no_decay, &mut matched)?;
            let ParamRole::Weight(info) = &mut param.role else { continue };
            let stamped = Some(if spared { 0.0 } else { decay });
            changed |= info.decay != stamped;
            info.decay = stamped;
        }
        match matched.iter().position(|matched| !matched) {
            Some(index) => {
                let names = entry.params.iter().flat_map(Param::originals);
                Err(unmatched(&no_decay[index], names).key(format!("{}.no_decay.{index}", optimizer.path())))
            }
            None => Ok(Changed::when(changed)),
        }
    }
}

/// Whether a weight has no decay, by its name in the model; notes which patterns match.
///
/// # Errors
/// When it packs tensors with decay and without.
fn is_spared(param: &Param, no_decay: &[String], matched: &mut [bool]) -> Result<bool> {
    let mut spared = [0, 0];
    for name in param.originals() {
        let mut hit = false;
        for (pattern, matched) in no_decay.iter().zip(&mut *matched) {
            let own = matches_pattern(pattern, name);
            *matched |= own;
            hit |= own;
        }
        spared[usize::from(hit)] += 1;
    }
    if spared.iter().all(|&count| count > 0) {
        let message = format!("`{}` packs tensors with weight decay and without", param.name);
        return Err(Diagnostic::error(codes::PIPELINE, message).help("run `bind-recipe` before `coalesce-layers`"));
    }
    Ok(spared[1] > 0)
}

fn unmatched<'a>(pattern: &str, names: impl Iterator<Item = &'a str>) -> Diagnostic {
    let some: Vec<_> = names.filter(|name| name.contains('.')).take(4).map(|name| format!("`{name}`")).collect();
    Diagnostic::error(codes::PATTERN, format!("`no_decay` pattern `{pattern}` matches no parameter"))
        .note(format!("parameters are named like {}", some.join(", ")))
        .help("correct the pattern (`*` matches any text) or remove it")
}
