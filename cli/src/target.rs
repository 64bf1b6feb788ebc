//! The name of a target on the command line.

use clap::Command;
use clap::builder::{PossibleValue, PossibleValuesParser};
use halite_target::Targets;

/// The option that names a target, in the commands that have it.
const TARGET: &str = "target";

/// A command line whose options `--target`, at any depth, take the targets of a session and list them.
pub(crate) fn listed(command: Command, targets: &Targets) -> Command {
    let value =
        |variant: &halite_target::Variant| PossibleValue::new(variant.name.clone()).help(variant.summary.clone());
    let has_target = command.get_arguments().any(|argument| argument.get_id() == TARGET);
    let command = match has_target {
        true => {
            let values: Vec<PossibleValue> = targets.variants().map(value).collect();
            command.mut_arg(TARGET, |argument| argument.value_parser(PossibleValuesParser::new(values)))
        }
        false => command,
    };
    // Commands are two levels deep.
    command.mut_subcommands(|inner| listed(inner, targets))
}
