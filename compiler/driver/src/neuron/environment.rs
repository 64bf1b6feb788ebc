//! The variables of the environment of a program.

use super::flags::{LOGICAL_CORES, flags, logical_core_sizes};
use super::rounding;
use halite_spec::target::{Setter, Variable, VariableValues};
use halite_spec::{Manifest, Recipe, SrBy};
use halite_support::nearest::{list, nearest};
use halite_support::{Diagnostic, codes};
use halite_target::Tables;
use indexmap::IndexMap;

/// The variable by which the Neuron runtime switches stochastic rounding on for a process; read when a model is loaded.
pub(super) const STOCHASTIC_ROUNDING_EN: &str = "NEURON_RT_STOCHASTIC_ROUNDING_EN";

/// The variable with the seed of that rounding; read when the runtime starts.
const STOCHASTIC_ROUNDING_SEED: &str = "NEURON_RT_STOCHASTIC_ROUNDING_SEED";

/// The variable that joins physical cores as `--logical-nc-config` does.
const LOGICAL_NC_CONFIG: &str = "NEURON_LOGICAL_NC_CONFIG";

/// The environment in which a program runs: the pinned variables in the order of the table, then the others of the recipe.
/// For a target that is not Neuron's there are none.
pub fn environment(recipe: &Recipe) -> IndexMap<String, String> {
    let own = &recipe.neuron.environment;
    if !recipe.target.is_neuron() {
        return IndexMap::new();
    }
    let variables = Tables::builtin().variables.iter();
    let pinned = variables.filter_map(|variable| Some((variable.name.clone(), pinned(variable, recipe)?)));
    let mut environment: IndexMap<String, String> = pinned.collect();
    environment.extend(own.clone());
    environment
}

/// What Halite writes for a variable that the recipe does not set.
fn pinned(variable: &Variable, recipe: &Recipe) -> Option<String> {
    let sr = || rounding(&recipe.precision).sr.filter(|sr| sr.by == SrBy::Switch);
    match variable.name.as_str() {
        STOCHASTIC_ROUNDING_EN => Some(u32::from(sr().is_some()).to_string()),
        STOCHASTIC_ROUNDING_SEED => Some(sr().map_or(0, |sr| sr.seed).to_string()),
        LOGICAL_NC_CONFIG if logical_core_sizes(recipe.target).len() > 1 => {
            let flag = |flag: String| Some(flag.strip_prefix(LOGICAL_CORES)?.strip_prefix('=')?.to_owned());
            flags(recipe).into_iter().find_map(flag)
        }
        _ => variable.pinned.clone(),
    }
}

/// Every variable of a recipe that has no place in it, or has a value that it does not take.
pub(super) fn check(recipe: &Recipe) -> impl Iterator<Item = Diagnostic> {
    let mistake = |(name, value): (&String, &String)| {
        let mistake = refuse_text(name, value).or_else(|| {
            let variable = Tables::builtin().variable(name)?;
            refuse(variable).or_else(|| refuse_value(name, value, variable))
        });
        Some(mistake?.key(format!("neuron.environment.{name}")))
    };
    recipe.neuron.environment.iter().filter_map(mistake)
}

/// Variables that look like the runtime's, and that nothing is known of.
pub(super) fn warnings(recipe: &Recipe) -> impl Iterator<Item = Diagnostic> {
    let warning = |name: &String| {
        let tables = Tables::builtin();
        if !(name.starts_with("NEURON") || name.starts_with("XLA_")) || tables.variable(name).is_some() {
            return None;
        }
        let names = tables.variables.iter().map(|variable| variable.name.as_str());
        let near = nearest(name, names.filter(|name| !name.ends_with('*')));
        let help = near.map_or_else(|| "check its name".to_owned(), |near| format!("did you mean `{near}`?"));
        let warning = Diagnostic::warning(codes::RECIPE_KEY, format!("nothing is known of the variable `{name}`"));
        Some(warning.help(help).key(format!("neuron.environment.{name}")))
    };
    recipe.neuron.environment.keys().filter_map(warning)
}

/// A name or value that no environment can hold.
fn refuse_text(name: &str, value: &str) -> Option<Diagnostic> {
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let error = |message: String| Diagnostic::error(codes::RECIPE_RANGE, message);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(is_word) {
        let help = "write letters, digits and `_`, and no digit first";
        return Some(error(format!("`{}` is no name of a variable", name.escape_debug())).help(help));
    }
    value.contains('\0').then(|| error(format!("the value of `{name}` holds a zero byte")).help("remove it"))
}

/// A variable that is not the recipe's to set.
fn refuse(variable: &Variable) -> Option<Diagnostic> {
    let (name, instead) = (&variable.name, variable.instead.as_deref()?);
    let (message, help) = match variable.set_by {
        Setter::Recipe => return None,
        Setter::Launcher => (format!("the variable `{name}` differs from process to process"), "remove it; it is for"),
        Setter::Halite => (format!("the variable `{name}` is set by Halite from {instead}"), "remove it, and set"),
        Setter::Nobody => {
            (format!("the variable `{name}` has no place around a program"), "remove it; it is replaced by")
        }
    };
    Some(Diagnostic::error(codes::ENVIRONMENT, message).note(&*variable.meaning).help(format!("{help} {instead}")))
}

fn refuse_value(name: &str, value: &str, variable: &Variable) -> Option<Diagnostic> {
    let help = match &variable.values {
        VariableValues::Any => return None,
        VariableValues::Whole => {
            let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            if digits && value.parse::<i32>().is_ok() {
                return None;
            }
            "write a whole number from 0 to 2147483647".to_owned()
        }
        VariableValues::Words(words) if words.iter().any(|word| word == value) => return None,
        VariableValues::Words(words) => {
            format!("it takes {}", list(&words.iter().map(String::as_str).collect::<Vec<_>>()))
        }
    };
    let message = format!("the variable `{name}` does not take `{}`", value.escape_debug());
    Some(Diagnostic::error(codes::RECIPE_RANGE, message).note(&*variable.meaning).help(help))
}

/// Whether a manifest holds the environment that its recipe makes.
///
/// # Errors
/// The first variable that differs.
pub(super) fn check_manifest(manifest: &Manifest) -> Result<(), Diagnostic> {
    let (given, expected) = (&manifest.environment, environment(&manifest.recipe));
    let differs = |name: &&String| given.get(*name) != expected.get(*name);
    let Some(name) = given.keys().chain(expected.keys()).find(differs) else { return Ok(()) };
    if !expected.contains_key(name)
        && let Some(refusal) = Tables::builtin().variable(name).and_then(refuse)
    {
        return Err(refusal);
    }
    let say = |value: Option<&String>| value.map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"));
    let (found, wanted) = (say(given.get(name)), say(expected.get(name)));
    let message = format!("the variable `{name}` is {found}, its recipe makes it {wanted}");
    Err(Diagnostic::error(codes::ENVIRONMENT, message))
}
