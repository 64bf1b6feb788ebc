//! The only place that writes to standard output and standard error.

use halite_report::{Style, visible};
use halite_support::{Diagnostic, Diagnostics, codes};
use rustix::termios::tcgetwinsize;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

/// Writes to standard output. A reader that went away is no error.
///
/// # Errors
/// When it cannot be written.
pub(super) fn out(text: &str) -> Result<(), Diagnostics> {
    written(write(&mut io::stdout().lock(), text))
}

/// Writes to standard output, on a terminal through the pager of the user (`$PAGER`, or `less`) where it fills more than a
/// screen, as Git does.
///
/// # Errors
/// When it cannot be written.
pub(super) fn page(text: &str) -> Result<(), Diagnostics> {
    let rows = io::stdout().is_terminal().then(|| tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_row));
    let fits = rows.is_none_or(|rows| text.lines().count() < usize::from(rows));
    if fits || !through_pager(text) { out(text) } else { Ok(()) }
}

/// Whether there is a pager, which then showed the text.
fn through_pager(text: &str) -> bool {
    let command = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let mut pager = Command::new("sh");
    pager.arg("-c").arg(command.as_deref().unwrap_or("less")).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // To pass colors on, not to fold lines, and to leave what was read on the screen.
        pager.env("LESS", "RSX");
    }
    let Ok(mut child) = pager.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A pager that is left early reads no further.
        let _ = input.write_all(text.as_bytes());
    }
    /// The exit status of a shell for a command that does not exist.
    const NOT_FOUND: i32 = 127;
    child.wait().is_ok_and(|status| status.code() != Some(NOT_FOUND))
}

/// Writes to standard error.
pub(super) fn err(text: &str) {
    // There is nowhere left to report a failure to.
    let _ = write(&mut io::stderr().lock(), text);
}

/// Writes a line of progress to standard error.
pub(super) fn say(line: &str) {
    err(&(visible(line) + "\n"));
}

fn write(stream: &mut dyn Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush())
}

/// Shows help, the version, or what is wrong with the command line.
///
/// # Errors
/// When it cannot be written.
pub(super) fn show_usage(error: &clap::Error) -> Result<(), Diagnostics> {
    written(error.print().and_then(|()| io::stdout().flush()))
}

fn written(result: io::Result<()>) -> Result<(), Diagnostics> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let error = Diagnostic::error(codes::FILE, format!("standard output cannot be written: {}", error.kind()));
            Err(error.help("check where it leads, and the space there").into())
        }
        _ => Ok(()),
    }
}

/// Whether a person reads standard error.
pub(super) fn is_interactive() -> bool {
    io::stderr().is_terminal()
}

/// Whether to use colors: for a person, unless `NO_COLOR` is set.
pub(super) fn uses_color() -> bool {
    is_interactive() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The style of diagnostics on standard error.
pub(super) fn style() -> Style {
    Style { color: uses_color(), width: err_columns() }
}

/// The columns of the terminal that standard output is.
pub(super) fn out_columns() -> Option<usize> {
    columns(&io::stdout())
}

/// The columns of the terminal that standard error is.
pub(super) fn err_columns() -> Option<usize> {
    columns(&io::stderr())
}

/// A terminal that does not know its size counts as one of 80 columns.
fn columns(stream: &(impl AsFd + IsTerminal)) -> Option<usize> {
    let size = stream.is_terminal().then(|| tcgetwinsize(stream).map_or(0, |size| size.ws_col))?;
    Some(if size == 0 { 80 } else { usize::from(size) })
}
