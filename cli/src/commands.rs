//! The commands as entries of the reference.

use clap::{Arg, Command};
use halite_reference::{Entry, Kind};

/// An entry for each command, and one for the options that all take.
pub(crate) fn entries(mut root: Command) -> Vec<Entry> {
    root.build();
    let mut entries = vec![entry(&root, root.get_name(), true)];
    add(&root, "", &mut entries);
    entries
}

/// The commands below one, without the help that clap adds to them.
fn inner(command: &Command) -> impl Iterator<Item = &Command> {
    let is_own =
        |inner: &&Command| inner.get_name() != "help" || inner.get_arguments().any(|arg| arg.get_id() == "words");
    command.get_subcommands().filter(is_own)
}

/// Adds the commands below one, each under its whole name.
fn add(command: &Command, path: &str, entries: &mut Vec<Entry>) {
    for inner in inner(command) {
        let name = if path.is_empty() { inner.get_name().to_owned() } else { format!("{path} {}", inner.get_name()) };
        entries.push(entry(inner, &name, false));
        add(inner, &name, entries);
    }
}

/// An entry of a command. The options that all take stand in that of the program, of which `is_root` tells.
fn entry(command: &Command, name: &str, is_root: bool) -> Entry {
    let summary = command.get_about().map(ToString::to_string).unwrap_or_default();
    let about = command.get_long_about().map_or_else(|| summary.clone(), ToString::to_string);
    let mut body = format!("{about}\n");
    let is_own = |arg: &&Arg| {
        let is_said_once = arg.is_global_set() && !is_root;
        !arg.is_hide_set() && !is_said_once && !["help", "version"].contains(&arg.get_id().as_str())
    };
    let arguments: Vec<String> = command.get_arguments().filter(is_own).map(argument).collect();
    if !arguments.is_empty() {
        body.push_str(&format!("\nArguments:\n\n{}\n", arguments.join("\n")));
    }
    let inner: Vec<String> = inner(command)
        .map(|inner| {
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            format!("- `{}`: {}", inner.get_name(), about.trim_end_matches('.'))
        })
        .collect();
    if !inner.is_empty() {
        body.push_str(&format!("\nCommands:\n\n{}\n", inner.join("\n")));
    }
    if let Some(after) = command.get_after_help() {
        body.push_str(&format!("\n```text\n{}\n```\n", after.to_string().trim_end()));
    }
    Entry::new(Kind::Command, name, ended(&summary), body)
}

fn argument(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    let takes_words = !values.is_empty() && arg.get_action().takes_values();
    let values = if takes_words { format!(" One of {}.", values.join(", ")) } else { String::new() };
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    let default = if defaults.is_empty() || !arg.get_action().takes_values() {
        String::new()
    } else {
        format!(" {} by default.", defaults.join(", "))
    };
    format!("- `{arg}`: {}{values}{default}", ended(&help))
}

/// A text that ends with a full stop.
fn ended(text: &str) -> String {
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}
