//! `halite list` and `halite show`: what is built in.

use crate::context::{Context, Output, Result};
use crate::table::table;
use clap::{Args, ValueEnum};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, codes};
use serde_json::json;

/// List what is built in: presets, models, targets, libraries.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  halite list\n  halite list models\n  halite show llama")]
pub(super) struct List {
    /// Kind to list [default: all].
    #[arg(value_enum, value_name = "KIND")]
    kind: Option<Kind>,
}

/// A kind of thing that is built in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Kind {
    /// Recipes with a model.
    Presets,
    /// Models that recipes name.
    Models,
    /// Targets that recipes are compiled for.
    Targets,
    /// Functions that models use.
    Libraries,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Presets, Self::Models, Self::Targets, Self::Libraries];

    fn word(self) -> &'static str {
        match self {
            Self::Presets => "presets",
            Self::Models => "models",
            Self::Targets => "targets",
            Self::Libraries => "libraries",
        }
    }

    /// The name and a line about each.
    fn entries(self, context: &Context) -> Vec<(String, String)> {
        let texts = match self {
            Self::Presets => halite_models::presets(),
            Self::Models => halite_models::models(),
            Self::Libraries => halite_models::libraries(),
            Self::Targets => {
                let targets = context.session.vocabulary.targets.variants();
                return targets.map(|target| (target.name.clone(), target.summary.clone())).collect();
            }
        };
        texts.iter().map(|(name, text)| ((*name).to_owned(), cut(&halite_models::summary(text)))).collect()
    }
}

/// The most characters of a line about something.
const LINE: usize = 64;

/// The beginning of a sentence, up to a word.
fn cut(sentence: &str) -> String {
    if sentence.chars().count() <= LINE {
        return sentence.to_owned();
    }
    let end = sentence.char_indices().take(LINE).filter(|(_, character)| *character == ' ').last();
    format!("{} …", sentence[..end.map_or(0, |(at, _)| at)].trim_end_matches([',', ';', ':']))
}

impl List {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let kinds = self.kind.map_or(Kind::ALL.to_vec(), |kind| vec![kind]);
        let (mut tables, mut json) = (Vec::new(), json!({}));
        for kind in kinds {
            let entries = kind.entries(context);
            let rows = entries.iter().map(|(name, summary)| vec![name.clone(), summary.clone()]);
            let head = vec![kind.word().to_owned(), String::new()];
            tables.push(table(&std::iter::once(head).chain(rows).collect::<Vec<_>>()));
            let entry = |(name, summary): &(String, String)| json!({"name": name, "summary": summary});
            json[kind.word()] = entries.iter().map(entry).collect();
        }
        Ok(Output::new(tables.join("\n"), json))
    }
}

/// Print the text of a built-in preset, model or library.
///
/// It is what `halite compile NAME` compiles: save it under another name, change it, and give the file in the place of the name.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  halite show llama\n  halite show tiny > my.toml\n  halite show blocks")]
pub(super) struct Show {
    /// Its name, as `halite list` has it.
    name: String,
}

impl Show {
    pub(super) fn run(self, _: &mut Context) -> Result<Output> {
        let all = [halite_models::presets(), halite_models::models(), halite_models::libraries()].concat();
        let Some((name, text)) = all.iter().find(|(name, _)| *name == self.name) else {
            let known: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            let error = Diagnostic::error(codes::USAGE, format!("nothing built in is called `{}`", self.name));
            return Err(error.help(suggestion(&self.name, &known)).into());
        };
        Ok(Output::verbatim(*text, json!({"name": name, "text": text})))
    }
}
