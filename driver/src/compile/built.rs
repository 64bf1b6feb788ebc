//! Models that are built already.

use crate::source::{Model, Source};
use halite_ir::{Module, ParamRole, Phase, Registry, VerifyErrors, verify};
use halite_lang::{Elaborated, Options, Override};
use halite_recipe::ConfigValue;
use halite_support::{Diagnostic, Diagnostics, codes};

/// Checks that a built model is one that a recipe can be compiled with: a sound module in phase `built` whose weights have
/// the element type that models of the recipe have, and whose configuration is that of the recipe where both state a key.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn check(built: &Elaborated, options: &Options, registry: &Registry) -> Result<(), Diagnostics> {
    let module = &built.module;
    verify(module, registry).map_err(VerifyErrors::into_diagnostics)?;
    let mut mistakes = Diagnostics::new();
    if module.phase != Phase::Built {
        let message = format!("the model `{}` is in phase `{}`, not `{}`", module.name, module.phase, Phase::Built);
        mistakes.push(Diagnostic::error(codes::PHASE, message).help("give a model that no pass has changed"));
    }
    let entry = module.entry().into_iter().flat_map(|entry| entry.params.iter().map(move |param| (entry, param)));
    let mut weights = entry.filter(|(_, param)| matches!(param.role, ParamRole::Weight(_)));
    if let Some((entry, weight)) = weights.find(|(entry, weight)| entry.ty(weight.value).dtype() != options.float) {
        let (name, ty, float) = (&weight.name, entry.ty(weight.value), options.float);
        let message = format!("the weight `{name}` is `{ty}`, models of this recipe are in `{float}`");
        let help = format!(
            "build the model with weights of `{float}`: by `with_float` in Rust, `float=\"{float}\"` in Python"
        );
        mistakes.push(Diagnostic::error(codes::DTYPE, message).key("precision").help(help));
    }
    for setting in &options.overrides {
        match built.config.get(&setting.key) {
            Some(own) if agree(own, &setting.value) => {}
            Some(own) => {
                let message =
                    format!("the model was built with `{} = {own}`, the recipe states {}", setting.key, setting.value);
                let error = Diagnostic::error(codes::RECIPE_CLASH, message).or_at(setting.span, "stated here");
                mistakes.push(error.help("state the same in both"));
            }
            // A recipe that is made in Rust states the sizes of a step; the model has them in the shapes of its batches.
            None if setting.key == "batch" => mistakes.extend(other_size(module, setting, 0, "sequences in all")),
            None if setting.key == "seq" => mistakes.extend(other_size(module, setting, 1, "positions")),
            None => {
                let message = format!("the model `{}` has no config key `{}`", module.name, setting.key);
                let error = Diagnostic::error(codes::CONFIG_VALUE, message).or_at(setting.span, "unknown key");
                mistakes.push(error.help("a model that is built takes no settings: remove it, or build another model"));
            }
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// A source with the sequences of one rank, which a built model has in the first size of its first batch, where nothing states them.
///
/// # Errors
/// When `data` ranks cannot share these.
pub(super) fn with_batch(mut source: Source, module: &Module, data: usize) -> Result<Source, Diagnostic> {
    if !matches!(source.model, Model::Text(_)) && source.recipe.batch.is_none() {
        let all = sizes(module, 0).next();
        if let Some(all) = all.filter(|all| !all.is_multiple_of(data)) {
            let (model, message) = (&module.name, format!("{all} sequences, which {data} ranks cannot share evenly"));
            let error = Diagnostic::error(codes::RECIPE_CLASH, format!("a batch of the model `{model}` has {message}"));
            return Err(error.help("build the model for another batch, or choose ranks that divide it"));
        }
        source.recipe.batch = all.map(|all| all / data);
    }
    Ok(source)
}

/// Sizes of the dimension `dim` of the batches of a model.
fn sizes(module: &Module, dim: usize) -> impl Iterator<Item = usize> + '_ {
    let params = module.entry().into_iter().flat_map(|entry| entry.params.iter().map(move |param| (entry, param)));
    let fed = params.filter(|(_, param)| param.role == ParamRole::Batch);
    fed.filter_map(move |(entry, param)| entry.ty(param.value).shape().get(dim).copied())
}

/// The refusal of a size that no batch of a built model has in this dimension; of positions, a batch may have one more, which are labels.
fn other_size(module: &Module, setting: &Override, dim: usize, what: &str) -> Option<Diagnostic> {
    let ConfigValue::Int(stated) = setting.value else { return None };
    let fits = |size: usize| [size, size.saturating_sub(dim)].iter().any(|&size| i64::try_from(size) == Ok(stated));
    let found: Vec<usize> = sizes(module, dim).collect();
    if found.is_empty() || found.iter().any(|&size| fits(size)) {
        return None;
    }
    let message = format!("the recipe states {stated} {what}, the batches of the model have {found:?} there");
    let error = Diagnostic::error(codes::RECIPE_CLASH, message).or_at(setting.span, "stated here");
    Some(
        error.help(format!(
            "state what the model was built for, leave `{}` out, or build the model for it",
            setting.key
        )),
    )
}

/// Whether two values are equal; an integer equals a real number of the same value.
fn agree(a: &ConfigValue, b: &ConfigValue) -> bool {
    match (a, b) {
        (ConfigValue::Int(a), ConfigValue::Real(b)) | (ConfigValue::Real(b), ConfigValue::Int(a)) => *a as f64 == *b,
        _ => a == b,
    }
}
