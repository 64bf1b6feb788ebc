//! Models that come built.

use halite_ir::{ParamRole, Phase, Registry, VerifyErrors, verify};
use halite_lang::{Elaborated, Options};
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
        let help = format!("build the model with `Session::model`, or with `with_float(DType::{float:?})`");
        mistakes.push(Diagnostic::error(codes::DTYPE, message).key("precision").help(help));
    }
    for setting in &options.overrides {
        match built.config.get(&setting.key) {
            Some(own) if agree(*own, setting.value) => {}
            Some(own) => {
                let message =
                    format!("the model was built with `{} = {own}`, the recipe states {}", setting.key, setting.value);
                let error = Diagnostic::error(codes::RECIPE_CLASH, message).or_at(setting.span, "stated here");
                mistakes.push(error.help("state the same in both"));
            }
            // A recipe that is made in Rust states the sizes of a step.
            None if ["batch", "seq"].contains(&setting.key.as_str()) => {}
            None => {
                let message = format!("the model `{}` has no config key `{}`", module.name, setting.key);
                let error = Diagnostic::error(codes::CONFIG_VALUE, message).or_at(setting.span, "unknown key");
                mistakes.push(error.help("a model that is built takes no settings: remove it, or build another model"));
            }
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// Whether two values are the same; a whole number is a real one too.
fn agree(a: ConfigValue, b: ConfigValue) -> bool {
    match (a, b) {
        (ConfigValue::Int(a), ConfigValue::Real(b)) | (ConfigValue::Real(b), ConfigValue::Int(a)) => a as f64 == b,
        _ => a == b,
    }
}
