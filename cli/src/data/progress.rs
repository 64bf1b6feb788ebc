//! Progress of reading data.

use crate::bars;
use crate::context::Context;
use crate::data::place;
use crate::table::{grouped, short};
use halite_data::Counted;
use halite_support::text::plain;
use indicatif::ProgressBar;
use std::time::Instant;

/// A line with what was read of a source, and how fast.
pub(super) struct Progress {
    spinner: ProgressBar,
    source: String,
    since: Instant,
}

impl Progress {
    pub(super) fn new(context: &Context) -> Self {
        Self { spinner: bars::spinner(context, "reading data"), source: String::new(), since: Instant::now() }
    }

    /// Shows how far it is with a source; the clock starts with the source.
    pub(super) fn show(&mut self, purpose: &str, counted: &Counted) {
        let source = place(purpose, counted);
        let rate = if source == self.source {
            let seconds = self.since.elapsed().as_secs_f64().max(1e-9);
            format!(", {} tokens/s", short((counted.tokens as f64 / seconds) as u64))
        } else {
            self.source = source;
            String::new()
        };
        let (documents, tokens) = (grouped(counted.documents), short(counted.tokens));
        self.spinner.set_message(plain(&format!("{}: {documents} documents, {tokens} tokens{rate}", self.source)));
    }

    pub(super) fn finish(&self) {
        self.spinner.finish_and_clear();
    }
}
