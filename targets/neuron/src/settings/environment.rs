//! The variables of the environment of a program.

use super::flags::{LOGICAL_CORES, flags, logical_core_sizes};
use crate::Tables;
use crate::shell::is_name;
use crate::tables::{Setter, Variable, VariableValues};
use crate::{Generation, Neuron, forms};
use halite_bundle::{Manifest, RoundingChoice};
use halite_recipe::{Recipe, SrBy};
use halite_support::nearest::{list, nearest};
use halite_support::{Diagnostic, codes};
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
    let Some(generation) = Generation::of(recipe) else { return IndexMap::new() };
    let variables = Tables::builtin().variables.iter();
    let pinned = variables.filter_map(|variable| Some((variable.name.clone(), pinned(variable, recipe, generation)?)));
    let mut environment: IndexMap<String, String> = pinned.collect();
    environment.extend(Neuron::of(recipe).environment);
    environment
}

/// The value that Halite writes for a variable that the recipe does not set.
fn pinned(variable: &Variable, recipe: &Recipe, generation: Generation) -> Option<String> {
    let sr = || RoundingChoice::of(&recipe.precision).sr.filter(|sr| sr.by == SrBy::Switch);
    match variable.name.as_str() {
        STOCHASTIC_ROUNDING_EN => Some(u32::from(sr().is_some()).to_string()),
        STOCHASTIC_ROUNDING_SEED => Some(sr().map_or(0, |sr| sr.seed).to_string()),
        LOGICAL_NC_CONFIG if logical_core_sizes(generation).len() > 1 => {
            let flag = |flag: String| Some(flag.strip_prefix(LOGICAL_CORES)?.strip_prefix('=')?.to_owned());
            flags(recipe).into_iter().find_map(flag)
        }
        _ => {
            let ordered = variable.ordered.clone().filter(|_| forms::ordered(recipe).is_some());
            ordered.or_else(|| variable.pinned.clone())
        }
    }
}

/// Every variable of a recipe that has no place in it, has a value that it does not take, or is unknown and not allowed; and
/// what is allowed for nothing.
pub(super) fn check(table: &Neuron) -> impl Iterator<Item = Diagnostic> {
    let Neuron { environment, allow_environment: allowed, .. } = table;
    let mistake = move |(name, value): (&String, &String)| {
        let mistake = refuse_name(name).or_else(|| match Tables::builtin().variable(name) {
            Some(variable) => refuse(variable).or_else(|| refuse_value(name, value, variable)),
            None => refuse_reserved(name).or_else(|| (!allowed.contains(name)).then(|| unknown(name))),
        });
        Some(mistake?.key(format!("neuron.environment.{name}")))
    };
    let idle = move |(index, name): (usize, &String)| {
        let message = format!("`neuron.allow_environment` names `{name}`, which `neuron.environment` does not set");
        let error = || Diagnostic::error(codes::RECIPE_CLASH, message).help("set it there, or remove it here");
        (!environment.contains_key(name)).then(|| error().key(format!("neuron.allow_environment.{index}")))
    };
    environment.iter().filter_map(mistake).chain(allowed.iter().enumerate().filter_map(idle))
}

/// The variables of an environment that nothing is known of, so that only who wrote the recipe vouches for them.
pub(super) fn unknown_names(environment: &IndexMap<String, String>) -> Vec<String> {
    environment.keys().filter(|name| Tables::builtin().variable(name).is_none()).cloned().collect()
}

/// A variable that the tables do not know and the recipe does not allow.
fn unknown(name: &str) -> Diagnostic {
    let names = Tables::builtin().variables.iter().map(|variable| variable.name.as_str());
    let near = nearest(name, names.filter(|name| !name.ends_with('*')));
    let meant = near.map(|near| format!("did you mean `{near}`? else ")).unwrap_or_default();
    Diagnostic::error(codes::ENVIRONMENT, format!("nothing is known of the variable `{name}`"))
        .help(format!("{meant}add `{name}` to `neuron.allow_environment` if it is meant so"))
}

/// A name that no variable can have.
fn refuse_name(name: &str) -> Option<Diagnostic> {
    let error = || Diagnostic::error(codes::RECIPE_RANGE, format!("`{name}` is no name of a variable"));
    (!is_name(name)).then(|| error().help("write letters, digits and `_`, and no digit first"))
}

/// A variable that only whoever runs a program sets.
fn refuse_reserved(name: &str) -> Option<Diagnostic> {
    let row = Tables::builtin().reserved(name)?;
    let error = Diagnostic::error(codes::ENVIRONMENT, format!("the variable `{name}` is not for a recipe to set"));
    Some(error.note(&*row.meaning).help("remove it, and set it on the machine where the program is started"))
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
        && let Some(refusal) = Tables::builtin().variable(name).and_then(refuse).or_else(|| refuse_reserved(name))
    {
        return Err(refusal);
    }
    let say = |value: Option<&String>| value.map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"));
    let (found, wanted) = (say(given.get(name)), say(expected.get(name)));
    let message = format!("the variable `{name}` is {found}, its recipe makes it {wanted}");
    Err(Diagnostic::error(codes::ENVIRONMENT, message))
}
