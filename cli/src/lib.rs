//! The command line of Halite: parsing it, running one command, showing what came of it. With it come studies of training.
//!
//! A program that adds composites, passes or targets hands its own [`Session`] to [`run`] and has the same commands.

mod bars;
mod builtin;
mod check;
mod choices;
mod cluster;
mod commands;
mod compare;
mod compile;
mod context;
mod convert;
mod data;
mod data_fit;
mod defaults;
mod deny;
mod device;
mod diagnostics;
mod env;
mod estimate;
mod eval;
mod exit;
mod explain;
mod generate;
mod graph;
mod groups;
mod help;
mod hlo;
mod idle;
mod init;
mod inspect;
mod instead;
mod launched;
mod layout;
mod learned;
mod listing;
mod memory;
mod names;
mod neuron;
mod new;
mod numerics;
mod opt;
mod panic;
mod placement;
mod plan;
mod plugin;
mod plugin_options;
mod precision;
mod run;
mod signals;
mod stages;
mod streams;
pub mod study;
mod table;
mod terminal;
mod texts;
mod train;
mod verify;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use context::{Context, Output};
pub use exit::exit_code;
use halite::Session;
use halite_reference::Reference;
use halite_runtime::ProgramFormat;
use halite_support::{Diagnostic, Diagnostics, codes};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compiles LLM training steps to HLO, ahead of time and verified, and runs them on CPU XLA.
#[derive(Parser, Debug)]
#[command(name = "halite", version, propagate_version = true, max_term_width = 100, after_help = EXAMPLES)]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  halite train tiny --text book.txt --steps 300
  halite generate runs/tiny --prompt \"It is\"
  halite compile hlat-7b -o build/hlat-7b
  halite inspect build/hlat-7b
  halite help rope

Exit codes:
  0    done
  1    a check or comparison failed
  2    the input is wrong
  3    something that the command needs is not installed
  75   a device failed under `train`, here or on another rank: start it again
  101  a bug in Halite
  130  `train` was stopped by SIGINT (143: SIGTERM or a signal to
       another rank, 129: SIGHUP); resume it";

/// Options of every command.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Options of every command")]
struct Global {
    /// Write results and diagnostics as JSON, one object a line, for programs.
    #[arg(long, global = true)]
    json: bool,
    /// Show errors and results only.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// PJRT plugin that runs HLO [default: $HALITE_PJRT_PLUGIN, else the one that `halite plugin install` fetched].
    #[arg(long, global = true, value_name = "PATH")]
    plugin: Option<PathBuf>,
    /// Pass an option to the PJRT plugin; quote the value to force a string [default for the CPU: one device per rank].
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = plugin_options::parse)]
    plugin_option: Vec<plugin_options::PluginOption>,
    /// Format of the programs that the plugin gets [default: mlir for Neuron, hlo otherwise].
    #[arg(long, global = true, value_name = "FORMAT", value_parser = format_parser())]
    program_format: Option<ProgramFormat>,
}

/// Reads the name of a format.
fn format_parser() -> impl TypedValueParser<Value = ProgramFormat> {
    let parse =
        |name: String| ProgramFormat::OF_PLUGINS.into_iter().find(|format| format.name() == name).unwrap_or_default();
    PossibleValuesParser::new(ProgramFormat::OF_PLUGINS.map(ProgramFormat::name)).map(parse)
}

/// The commands. What each is for stands at its own type, of which `--help` shows all and the list of commands the first sentence.
#[derive(Subcommand, Debug)]
enum Command {
    List(builtin::List),
    Show(builtin::Show),
    New(new::New),
    Compile(compile::Compile),
    Check(check::Check),
    Opt(opt::Opt),
    Verify(verify::Verify),
    Init(init::Init),
    Convert(convert::Convert),
    Run(run::Run),
    Train(train::Train),
    Eval(eval::Eval),
    Generate(generate::Generate),
    #[command(subcommand)]
    Data(data::Data),
    Compare(compare::Compare),
    Numerics(numerics::Numerics),
    Env(env::Env),
    Cluster(cluster::Cluster),
    Plan(plan::Plan),
    Inspect(inspect::Inspect),
    #[command(subcommand)]
    Hlo(hlo::Hlo),
    #[command(subcommand)]
    Neuron(neuron::Neuron),
    #[command(subcommand)]
    Plugin(plugin::Plugin),
    Help(help::Help),
}

impl Command {
    /// Whether the command runs HLO.
    fn uses_xla(&self) -> bool {
        matches!(
            self,
            Self::Verify(_) | Self::Run(_) | Self::Train(_) | Self::Eval(_) | Self::Generate(_) | Self::Numerics(_)
        )
    }
}

/// Runs the command line of this process in a session. It is for `main`: what a bug in Halite prints is set for the process.
pub fn main(session: Session) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    panic::install_hook(wants_json(&arguments));
    run(session, &arguments)
}

/// The command line of a session, whose targets and roles its help lists.
pub fn command(session: &Session) -> clap::Command {
    choices::listed(Cli::command(), session)
}

/// The reference of a session, with the commands of its program.
///
/// # Errors
/// As [`Reference::of`].
pub fn reference(session: &Session) -> halite_support::Result<Reference> {
    Reference::of(session, commands::entries(command(session)))
}

/// Runs a command line, the name of the program first, in a session.
pub fn run(session: Session, arguments: &[OsString]) -> ExitCode {
    let json = wants_json(arguments);
    let root = command(&session);
    let parsed =
        root.clone().try_get_matches_from(deny::joined(arguments)).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            let error = instead::explained(error, &root, &session);
            return refuse(session, &error, json);
        }
    };
    if let Command::Help(help) = &cli.command
        && let Some(error) = help.of_command(&session)
    {
        return refuse(session, &error, json);
    }
    if cli.command.uses_xla() {
        halite_runtime::silence_xla_log();
    }
    let Global { json, quiet, plugin, plugin_option: plugin_options, program_format: format } = cli.global;
    let mut context = Context { plugin, plugin_options, format, ..Context::new(session, json, quiet) };
    let result = names::check().and_then(|()| dispatch(cli.command, &mut context));
    finish(&context, result)
}

fn dispatch(command: Command, context: &mut Context) -> Result<Output, Diagnostics> {
    match command {
        Command::List(command) => command.run(context),
        Command::Show(command) => command.run(context),
        Command::New(command) => command.run(context),
        Command::Compare(command) => command.run(context),
        Command::Compile(command) => command.run(context),
        Command::Check(command) => command.run(context),
        Command::Opt(command) => command.run(context),
        Command::Verify(command) => command.run(context),
        Command::Init(command) => command.run(context),
        Command::Convert(command) => command.run(context),
        Command::Run(command) => command.run(context),
        Command::Train(command) => command.run(context),
        Command::Eval(command) => command.run(context),
        Command::Generate(command) => command.run(context),
        Command::Data(command) => command.run(context),
        Command::Numerics(command) => command.run(context),
        Command::Env(command) => command.run(context),
        Command::Cluster(command) => command.run(context),
        Command::Plan(command) => command.run(context),
        Command::Inspect(command) => command.run(context),
        Command::Hlo(command) => command.run(context),
        Command::Neuron(command) => command.run(context),
        Command::Plugin(command) => command.run(context),
        Command::Help(command) => command.run(context),
    }
}

/// Whether a command line asks for JSON, right or wrong.
fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "--json")
}

/// Shows help and versions as they are, and a wrong command line as clap explains it or as JSON.
fn refuse(session: Session, error: &clap::Error, json: bool) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) || !json {
        return match terminal::show_usage(error) {
            Ok(()) => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
            Err(unwritten) => finish(&Context::new(session, json, false), Err(unwritten)),
        };
    }
    let text = error.render().to_string();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let headline = lines.next().unwrap_or_default().trim_start_matches("error: ");
    let diagnostic = Diagnostic::error(codes::USAGE, headline).help("see `halite help`");
    let diagnostic = lines.fold(diagnostic, |diagnostic, line| diagnostic.note(line.trim()));
    finish(&Context::new(session, true, false), Err(diagnostic.into()))
}

fn finish(context: &Context, result: Result<Output, Diagnostics>) -> ExitCode {
    let shown = result.and_then(|output| {
        context.show(&output.warnings);
        let text = if context.speaks() { output.shown(context.json) } else { String::new() };
        if output.paged && !context.json {
            terminal::page(&text)?
        } else {
            terminal::out(&text)?
        }
        Ok(output.exit.unwrap_or(u8::from(output.failed)))
    });
    ExitCode::from(shown.unwrap_or_else(|diagnostics| {
        context.show(&diagnostics);
        exit_code(&diagnostics)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    /// Lines of examples are not to be broken where they are copied from.
    #[test]
    fn examples_fit_80_columns() {
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let wide: Vec<&str> = help.lines().filter(|line| line.starts_with("  ") && line.len() > 80).collect();
            assert!(wide.is_empty(), "{}: {wide:?}", command.get_name());
            commands.extend(command.get_subcommands().cloned());
        }
    }

    #[test]
    fn every_command_has_an_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains(&format!("halite {}", command.get_name())), "{help}");
        }
    }
}
