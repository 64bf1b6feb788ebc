//! Events of a run, on its page.

use crate::html::escaped;
use halite_train::Event;

/// A list of events, if there are any.
pub(super) fn list(events: &[Event]) -> String {
    if events.is_empty() {
        return String::new();
    }
    let items: String = events.iter().map(|event| format!("<li>{}</li>\n", escaped(&said(event)))).collect();
    format!("<section class=\"events\">\n<h2>Events</h2>\n<ul>\n{items}</ul>\n</section>")
}

/// An event in words.
fn said(event: &Event) -> String {
    match event {
        Event::Resume { update } => format!("after update {update} it was started again"),
        Event::Restart { update, errors, .. } => {
            format!("it went back to update {update}, since the device failed: {}", errors.join("; "))
        }
        Event::Rollback { rollback, reason, .. } => {
            let [first, last] = rollback.batches;
            format!("it went back to update {}, and skipped batches {first} to {last}: {reason}", rollback.to)
        }
        event => format!("after update {}: {event:?}", event.update()),
    }
}
