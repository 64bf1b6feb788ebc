//! Telemetry of a run, which can go on without it: times and events.

use super::Observer;
use halite_support::{Diagnostic, codes};
use serde::de::DeserializeOwned;
use std::path::Path;

/// The lines of a file that are records, if the file is there. Other lines, such as one that was cut off, are left out and reported:
/// they do not keep a run with a whole state from going on.
pub(super) fn lines<T: DeserializeOwned>(path: &Path, listener: &mut dyn Observer) -> String {
    let bytes = match halite_support::files::read(path) {
        Ok(bytes) => bytes,
        Err(_) if !path.exists() => return String::new(),
        Err(error) => {
            listener.warned(&left_out(error.message().to_owned()));
            return String::new();
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    let (kept, wrong): (Vec<_>, Vec<_>) = text
        .split_inclusive('\n')
        .enumerate()
        .partition(|(_, line)| line.ends_with('\n') && serde_json::from_str::<T>(line).is_ok());
    if let [(first, _), ..] = wrong[..] {
        let others = if wrong.len() > 1 { format!(", and {} more lines", wrong.len() - 1) } else { String::new() };
        listener.warned(&left_out(format!("line {}{others} of `{}` is no record of a run", first + 1, path.display())));
    }
    kept.into_iter().map(|(_, line)| line).collect()
}

/// The records of a file.
pub(super) fn records<T: DeserializeOwned>(path: &Path, listener: &mut dyn Observer) -> Vec<T> {
    lines::<T>(path, listener).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn left_out(message: String) -> Diagnostic {
    Diagnostic::warning(codes::FILE, message)
        .help("nothing is to be done: the run goes on without what cannot be read there, its state is whole")
}
