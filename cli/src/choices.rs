//! Names on the command line of what a session knows: targets and roles.

use clap::Command;
use clap::builder::{PossibleValue, PossibleValuesParser};
use halite::Session;

/// A command line whose options `--target` and `--role`, at any depth, take the targets and roles of a session and list them.
pub(crate) fn listed(command: Command, session: &Session) -> Command {
    let value = |name: &str, summary: &str| PossibleValue::new(name.to_owned()).help(summary.to_owned());
    let targets = session.vocabulary.targets.variants().map(|variant| value(&variant.name, &variant.summary));
    let roles = session.roles.iter().map(|role| value(role.name.name(), &role.summary));
    let command = with_values(command, "target", targets.collect());
    let command = with_values(command, "role", roles.collect());
    // Commands are two levels deep.
    command.mut_subcommands(|inner| listed(inner, session))
}

/// The command whose option of this name, if it has one, takes these values.
fn with_values(command: Command, option: &str, values: Vec<PossibleValue>) -> Command {
    if !command.get_arguments().any(|argument| argument.get_id() == option) {
        return command;
    }
    command.mut_arg(option, |argument| argument.value_parser(PossibleValuesParser::new(values)))
}
