//! `halite help`.

use crate::context::{Context, Output, Result};
use crate::{command, reference};
use clap::Args;
use halite::Session;
use halite_reference::{Entry, Found, shown};
use halite_support::{Diagnostic, codes};
use serde_json::json;
use std::ffi::OsString;

/// Show the help of a command, or look a word up in the reference.
///
/// A word is a function of the model language, a key of recipes, the code of a diagnostic, a pass or an op; or what you would call
/// one, such as `learning rate` or `gradient_accumulation_steps`. The same, as pages: `docs/reference/`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite help compile
  halite help rope
  halite help schedule.warmup
  halite help E0301
  halite help learning rate
  halite help gradient checkpointing")]
pub(super) struct Help {
    /// A command, or a word to look up.
    #[arg(value_name = "NAME")]
    words: Vec<String>,
}

impl Help {
    /// Clap's help of the command that the words name, or of the program where there are no words; `None` where no command is named
    /// so.
    pub(super) fn of_command(&self, session: &Session) -> Option<clap::Error> {
        let root = command(session);
        let mut known = Some(&root);
        for word in &self.words {
            known = known.and_then(|command| command.find_subcommand(word));
        }
        known?;
        let name = root.get_name().to_owned();
        let line = [name].into_iter().chain(self.words.iter().cloned()).chain(["--help".to_owned()]);
        root.try_get_matches_from(line.map(OsString::from)).err()
    }

    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let words = self.words.join(" ");
        let reference = reference(&context.session)?;
        let found = reference.search(&words);
        if found.entries.is_empty() {
            return Err(nothing(&words, &found, &context.session).into());
        }
        let entry = |entry: &&Entry| json!({"kind": entry.kind.word(), "name": entry.name, "summary": entry.summary});
        let (best, others) = (found.entries[0], found.entries[1..].iter().map(entry).collect::<Vec<_>>());
        let mut json = entry(&best);
        json["body"] = json!(best.body);
        json["others"] = json!(others);
        json["note"] = json!(found.note);
        Ok(Output { paged: true, ..Output::new(shown(&found), json) })
    }
}

/// The most entries that are named where none is called so.
const NAMED: usize = 4;

/// That nothing is called so, with what speaks of it and the name that was probably meant.
fn nothing(words: &str, found: &Found<'_>, session: &Session) -> Diagnostic {
    let mut error = Diagnostic::error(codes::USAGE, format!("the reference has nothing on `{words}`"));
    let named: Vec<String> = found.mentions.iter().take(NAMED).map(|entry| entry.label()).collect();
    if !named.is_empty() {
        let more = found.mentions.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        error = error.note(format!("these speak of it: {}{more}", named.join(", ")));
    }
    let of_others = halite_recipe::hint(&words.replace(' ', "_"), &session.vocabulary, None);
    error.help(match (found.near, of_others) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, Some(hint)) => hint.help,
        (None, None) => "`halite help` lists the commands".to_owned(),
    })
}
