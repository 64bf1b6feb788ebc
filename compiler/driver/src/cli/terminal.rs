//! The only place that writes to standard output and standard error.

use std::io::{self, IsTerminal, Write};

/// Writes to standard output. A reader that went away is no error.
pub(super) fn out(text: &str) {
    write(&mut io::stdout().lock(), text);
}

/// Writes to standard error.
pub(super) fn err(text: &str) {
    write(&mut io::stderr().lock(), text);
}

fn write(stream: &mut dyn Write, text: &str) {
    // There is nowhere left to report a failure to.
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

/// Shows help, the version, or what is wrong with the command line.
pub(super) fn show_usage(error: &clap::Error) {
    // As above.
    let _ = error.print();
}

/// Whether a person reads standard error.
pub(super) fn is_interactive() -> bool {
    io::stderr().is_terminal()
}

/// Whether to use colors: for a person, unless `NO_COLOR` is set.
pub(super) fn uses_color() -> bool {
    is_interactive() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
