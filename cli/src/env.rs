//! `halite env`.

use crate::context::{Context, Output, Result};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use halite::Bundle;
use halite_neuron::settings::{Profile, Surroundings};
use halite_recipe::Recipe;
use halite_support::{Diagnostic, Diagnostics, codes};
use serde_json::json;
use std::path::Path;

/// Print the environment in which the programs of a bundle for Neuron run, or a script that starts them.
///
/// The environment is for `eval` in any POSIX shell; it fails where a variable is set that would change the programs. With
/// `--script`, a `bash` script that starts one process for each rank of a node, needs no framework, and is the same for all
/// nodes; of a bundle it trains this (`halite train BUNDLE --executor nrt`) unless it is told another program. A recipe gives the
/// same without being compiled.
///
/// With `--profile jax` it is that of a program in JAX: one process for each node, and the flags of the compiler in
/// `NEURON_CC_FLAGS`, from which Neuron's plugin for JAX reads them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite env build/hlat-7b
  eval \"$(halite env build/hlat-7b)\"
  halite env build/hlat-7b --json
  halite env build/hlat-7b --script > launch.sh && bash launch.sh --help
  bash launch.sh -- --text book.txt --steps 300
  halite env build/hlat-7b --profile jax --script > launch.sh
  bash launch.sh python train.py
  halite env hlat-7b --set target=trn1")]
pub(super) struct Env {
    /// Bundle, preset or recipe.
    input: String,
    /// Override a key of the recipe.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Take this variable from a bundle although nothing is known of it.
    #[arg(long, value_name = "NAME")]
    allow_environment: Vec<String>,
    /// The program that runs the modules.
    #[arg(long, value_name = "PROFILE", default_value = Profile::default().name(), value_parser = profile_parser())]
    profile: Profile,
    /// Print the script that starts the processes of a node.
    #[arg(long)]
    script: bool,
}

/// Reads the name of a profile.
fn profile_parser() -> impl TypedValueParser<Value = Profile> {
    let parse = |name: String| Profile::ALL.into_iter().find(|profile| profile.name() == name).unwrap_or_default();
    PossibleValuesParser::new(Profile::ALL.map(Profile::name)).map(parse)
}

impl Env {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let surroundings = Surroundings::of(&self.recipe(context)?, self.profile)?;
        self.check(&surroundings)?;
        let mut json = json!(surroundings);
        if self.script {
            let script = surroundings.script(self.bundle());
            json["script"] = json!(script);
            return Ok(Output::verbatim(script, json));
        }
        Ok(Output::verbatim(surroundings.shell(), json))
    }

    /// The folder of the bundle, where one is named.
    fn bundle(&self) -> Option<&str> {
        Bundle::is_at(Path::new(&self.input)).then_some(self.input.as_str())
    }

    /// Whoever made a bundle does not decide alone which variables are exported here.
    fn check(&self, surroundings: &Surroundings) -> Result<()> {
        let refuse = |name: &String| {
            let message = format!("the bundle sets the variable `{name}`, of which nothing is known");
            let error = Diagnostic::error(codes::ENVIRONMENT, message);
            error.help(format!("add `--allow-environment {name}` if you trust whoever made the bundle"))
        };
        let is_bundle = Path::new(&self.input).is_dir();
        let unknown = if is_bundle { &surroundings.unknown[..] } else { &[] };
        let idle = |name: &String| {
            let message = format!("`--allow-environment {name}` allows nothing");
            let error = Diagnostic::error(codes::USAGE, message);
            error.help("name a variable that a bundle sets and of which nothing is known; a recipe allows its own")
        };
        let refused = unknown.iter().filter(|name| !self.allow_environment.contains(name)).map(refuse);
        let idle = self.allow_environment.iter().filter(|name| !unknown.contains(name)).map(idle);
        let mistakes: Diagnostics = refused.chain(idle).collect();
        if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
    }

    /// The recipe of a bundle, whose manifest says the same, or of what else is named.
    fn recipe(&self, context: &mut Context) -> Result<Recipe> {
        if Path::new(&self.input).is_dir() || Bundle::is_at(Path::new(&self.input)) {
            return Ok(context.bundle(&self.input, &self.set)?.1.manifest.recipe);
        }
        Ok(context.session.load(&self.input, &self.set)?.recipe)
    }
}
