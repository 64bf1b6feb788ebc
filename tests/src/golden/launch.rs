//! `launch`.

use halite::Session;
use halite_bundle::ModuleRole;
use halite_neuron::settings::{Profile, Surroundings};
use halite_neuron::tables::{Setter, Variable};
use halite_neuron::{Tables, neuronx};
use halite_test_kit::{Anchor, Case, Outcome, Suite};
use std::collections::BTreeSet;

/// The suite on the environment that the launch script of a published run exports.
///
/// Lines such as `export NAME=value` and `NAME=value` are those of the script. The expected text says for each what Halite does with
/// it, then what Halite adds, and the processes that its own script starts.
#[derive(Debug)]
pub(super) struct Launch;

impl Suite for Launch {
    fn name(&self) -> &str {
        "launch"
    }

    fn extensions(&self) -> &[&str] {
        &["txt"]
    }

    fn run(&self, case: &Case, _: &Session) -> Result<Outcome, String> {
        let preset = case.directives.model.as_deref().ok_or("the suite needs `//@ model: ..`")?;
        let source = Session::new().load(preset, &case.directives.set);
        let recipe = source.map_err(|errors| case.show_all(&errors))?.recipe;
        let ours = Surroundings::of(&recipe, Profile::Program).map_err(|error| case.show(&error))?;
        let lines = case.text.lines().filter(|line| !line.starts_with("//"));
        let set = lines.filter_map(|line| line.strip_prefix("export ").unwrap_or(line).split_once('='));
        let published: Vec<_> = set.map(|(name, value)| (name, value.trim_matches('"'))).collect();
        let mut text = String::new();
        for &(name, value) in &published {
            text.push_str(&answer(name, value, &ours)?);
        }
        let named: BTreeSet<&str> = published.iter().map(|(name, _)| *name).collect();
        text.push_str("\nadded:\n");
        let added = ours.environment.iter().filter(|(name, _)| !named.contains(name.as_str()));
        added.for_each(|(name, value)| text.push_str(&format!("{name}={value}\n")));
        let processes = ours.world_size / ours.stages;
        text.push_str(&format!("\nstages: {}, processes of each: {processes}\n", ours.stages));
        text.push_str(&format!("\nneuronx-cc {}\n", command_line(ours.flags)));
        Ok(Outcome::new([(Anchor::End, text)]))
    }
}

/// The arguments with which `halite neuron compile` calls the compiler on the training step.
fn command_line(flags: Vec<String>) -> String {
    neuronx::arguments(ModuleRole::TRAIN_STEP.name(), &flags).join(" ")
}

/// Describes whether one variable of the script is kept or replaced, and by what.
fn answer(name: &str, value: &str, ours: &Surroundings) -> Result<String, String> {
    let variable = Tables::builtin().variable(name).ok_or_else(|| format!("no table knows `{name}`"))?;
    if name == "NEURON_CC_FLAGS" {
        return flags(value, variable, ours);
    }
    Ok(match ours.environment.get(name) {
        Some(own) if own == value => format!("{name}={value}: kept\n"),
        _ if variable.set_by == Setter::Recipe => return Err(format!("the recipe does not set `{name}` to `{value}`")),
        Some(own) => format!("{name}={value}: here {own}; replaced by {}\n", instead(variable)),
        None => format!("{name}={value}: replaced by {}\n", instead(variable)),
    })
}

fn instead(variable: &Variable) -> &str {
    variable.instead.as_deref().unwrap_or("nothing")
}

/// Each flag of the script must be among ours.
fn flags(value: &str, variable: &Variable, ours: &Surroundings) -> Result<String, String> {
    let mut text = format!("{}: replaced by {}\n", variable.name, instead(variable));
    for flag in value.replace("--model-type ", "--model-type=").split_whitespace() {
        if !ours.flags.iter().any(|own| own == flag) {
            return Err(format!("`{flag}` is not among the flags: {:?}", ours.flags));
        }
        text.push_str(&format!("  {flag}: kept\n"));
    }
    Ok(text)
}
