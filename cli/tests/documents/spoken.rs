//! Commands that documents name, in blocks or in running text.

use super::read::text;
use std::collections::BTreeMap;
use std::process::Command;

/// The commands of a document that begin with `halite`, each with its place: those in code spans and those in blocks.
pub(super) fn commands(document: &str) -> Vec<(String, String)> {
    let text = text(document);
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        let place = || format!("{document}:{}", index + 1);
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            found.extend(
                line.find("halite ").map(|at| (place(), line[at..].to_owned())).filter(|_| line.starts_with("$ ")),
            );
        } else {
            let spans = line.split('`').skip(1).step_by(2);
            found.extend(spans.filter(|span| span.starts_with("halite ")).map(|span| (place(), span.to_owned())));
        }
    }
    found
}

/// The `--help` texts of commands, each asked for once; `None` where the words name no command.
#[derive(Default)]
pub(super) struct Help(BTreeMap<Vec<String>, Option<String>>);

impl Help {
    fn of(&mut self, command: &[String]) -> Option<String> {
        let ask = || {
            let mut halite = Command::new(env!("CARGO_BIN_EXE_halite"));
            let output = halite.args(command).arg("--help").output().unwrap();
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        self.0.entry(command.to_vec()).or_insert_with(ask).clone()
    }

    /// The mistake in a command, if any: a word that names no command, or an option that it does not have.
    pub(super) fn check(&mut self, place: &str, spoken: &str) -> Option<String> {
        let words: Vec<&str> = spoken.split_whitespace().skip(1).collect();
        let mut command = Vec::new();
        let mut help = self.of(&command)?;
        for word in &words {
            let is_command = help.lines().any(|line| line.strip_prefix("  ").is_some_and(|line| first(line) == *word));
            if !is_command {
                break;
            }
            command.push((*word).to_owned());
            help = self.of(&command)?;
        }
        if command.is_empty() {
            return Some(format!("{place}: `{spoken}`: there is no such command"));
        }
        let options =
            words.iter().map(|word| word.split('=').next().unwrap_or(word).trim_end_matches(['.', ',', ')', '"']));
        let mut options = options.filter(|word| word.starts_with("--") && word.len() > 2);
        let has = |option: &str| help.split_whitespace().any(|word| word.trim_end_matches(',') == option);
        let missing = options.find(|option| !has(option))?;
        Some(format!("{place}: `{spoken}`: `halite {}` has no {missing}", command.join(" ")))
    }
}

fn first(line: &str) -> &str {
    line.split_whitespace().next().filter(|_| !line.starts_with(' ')).unwrap_or("")
}
