//! Recipes: one that is taken is the same after it is written and read again, and has an environment.

use crate::judge::{Verdict, refused, said};
use crate::repository;
use crate::target::{TEXT, Target};
use halite::Session;
use halite_neuron::settings::{Profile, Surroundings, warnings};
use halite_recipe::Recipe;
use halite_support::SourceMap;

pub(crate) const TARGET: Target = Target { name: "recipe", share: 50, seeds, prepare: |_| Box::new(run), ..TEXT };

/// The prefix of an override, which counts as a line of the recipe.
const OVERRIDE: &str = "#--set ";

fn seeds() -> Vec<Vec<u8>> {
    let own = [repository::files("models", ".toml"), repository::files("tests/tests", ".toml")].concat();
    let own: Vec<Vec<u8>> = repository::contents(&own).into_iter().chain(repository::case_files(".toml")).collect();
    let all = repository::cases().into_iter().flat_map(|case| case.arguments);
    let sets = all.filter(|argument| argument.contains('=') && !argument.starts_with('-'));
    let minimal = "halite = 1\nbatch = 2\nseq = 8\nmodel.name = 'llama'\n[optimizer.adamw]\nlr = 1e-3\n";
    own.into_iter().chain(sets.map(|set| format!("{OVERRIDE}{set}\n{minimal}").into_bytes())).collect()
}

fn run(input: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let (vocabulary, mut sources) = (Session::new().vocabulary, SourceMap::new());
    let overrides: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix(OVERRIDE)).map(str::to_owned).collect();
    let file = sources.add("r.toml", text);
    let recipe = match halite_recipe::load(file, &overrides, &vocabulary, &mut sources) {
        Err(mistakes) => return refused(&mistakes, &sources),
        Ok((recipe, _)) => recipe,
    };
    said(&warnings(&recipe), &sources)?;
    let written = toml::to_string(&recipe).map_err(|error| format!("a recipe cannot be written: {error}"))?;
    let file = sources.add("again.toml", &written);
    match halite_recipe::load(file, &[], &vocabulary, &mut sources) {
        Ok((again, _)) if again == recipe => {}
        Ok(_) => return Err(format!("another recipe is read than was written\n{written}")),
        Err(mistakes) => return Err(format!("a recipe that is written is not read: {}\n{written}", mistakes[0])),
    }
    surrounded(&recipe, &sources).map(|()| true)
}

/// Writes what a recipe says of the environment of its programs.
pub(super) fn surrounded(recipe: &Recipe, sources: &SourceMap) -> Result<(), String> {
    match Surroundings::of(recipe, Profile::Jax) {
        Err(error) => refused(&[error], sources).map(|_| ()),
        Ok(surroundings) if surroundings.shell().is_empty() || surroundings.script(None).is_empty() => {
            Err("an environment without a word".to_owned())
        }
        Ok(_) => Ok(()),
    }
}
