//! Panics as diagnostics.

use crate::terminal;
use halite_support::{Diagnostic, SourceMap};

/// Shows a panic as a bug of the compiler; the process then ends with 101, as after any panic.
pub(super) fn install_hook(json: bool) {
    std::panic::set_hook(Box::new(move |info| {
        if halite_support::is_contained() {
            return;
        }
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let place = info.location().map(|place| format!("at {}:{}", place.file(), place.line())).unwrap_or_default();
        let bug = Diagnostic::bug(format!("internal error: {}", text.unwrap_or("a panic"))).note(place);
        let sources = SourceMap::new();
        let text = if json {
            halite_report::json(&bug, &sources) + "\n"
        } else {
            halite_report::report(&bug, &sources, terminal::style())
        };
        terminal::err(&text);
    }));
}
