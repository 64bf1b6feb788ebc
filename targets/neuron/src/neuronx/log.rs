//! Reads failures in the compiler's log: its error codes, and the instructions that it names.

use crate::Tables;
use crate::tables::CompilerError;
use halite_hlo::proto::{HloInstructionProto, OpMetadata};
use halite_support::Diagnostic;
use halite_support::text::plain;
use std::collections::BTreeMap;

/// The prefix of most of the compiler's codes.
const PREFIX: &str = "NCC_";
/// The most places and the most lines that a diagnostic shows.
const SHOWN: usize = 4;
/// The most characters of a line that a diagnostic shows.
const WIDTH: usize = 300;

/// The facts about a failure that a log states.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Reading {
    /// The documented errors in it, each once, in the order in which they come.
    pub(super) errors: Vec<&'static CompilerError>,
    /// Codes that the tables do not know.
    unknown: Vec<String>,
    /// Instructions in it, with the lines of the model that they come from.
    places: Vec<String>,
    /// Lines that speak of errors; the last lines when none does.
    lines: Vec<String>,
}

/// Reads a log of the compile of a module.
pub(super) fn read(log: &str, hlo: &[u8]) -> Reading {
    let all = || log.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut lines: Vec<&str> = all().filter(|line| speaks_of_errors(line)).collect();
    let mut reading = Reading::default();
    for code in lines.iter().flat_map(|line| codes(line)) {
        let error = Tables::builtin().errors.iter().find(|error| error.code == code.trim_start_matches(PREFIX));
        match error {
            Some(error) if !reading.errors.contains(&error) => reading.errors.push(error),
            None if code.starts_with(PREFIX) && !reading.unknown.iter().any(|known| known == code) => {
                reading.unknown.push(code.to_owned());
            }
            _ => {}
        }
    }
    reading.places = places(&lines, hlo);
    // What carries a code says more than the trace around it.
    let coded: Vec<&str> = lines.iter().copied().filter(|line| !codes(line).is_empty()).collect();
    if !coded.is_empty() {
        lines = coded;
    } else if lines.is_empty() {
        lines = all().collect();
        lines.drain(..lines.len().saturating_sub(SHOWN));
    }
    for line in lines.into_iter().map(shortened) {
        if reading.lines.len() < SHOWN && !reading.lines.contains(&line) {
            reading.lines.push(line);
        }
    }
    reading
}

impl Reading {
    /// Adds what the log says to a diagnostic.
    pub(super) fn explain(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        for error in &self.errors {
            let source = &error.provenance.source;
            diagnostic = diagnostic.note(format!("{} means: {} ({source})", error.code, error.meaning));
        }
        for code in &self.unknown {
            diagnostic = diagnostic.note(format!("`{code}` is not among the errors that the tables know"));
        }
        for place in &self.places {
            diagnostic = diagnostic.note(place.clone());
        }
        for line in &self.lines {
            diagnostic = diagnostic.note(format!("the log says: {line}"));
        }
        match self.errors.first() {
            Some(error) => diagnostic.help(error.remedy.clone()),
            None => diagnostic,
        }
    }
}

fn speaks_of_errors(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    ["error", "fail", "abort", "exception"].iter().any(|word| lower.contains(word)) || !codes(line).is_empty()
}

/// The words of a line that are codes: `NCC_EVRF031` anywhere, others such as `XTP003` between brackets.
fn codes(line: &str) -> Vec<&str> {
    let ends_word = |character: char| !character.is_ascii_alphanumeric() && character != '_';
    let mut codes = Vec::new();
    let mut before = None;
    for piece in line.split_inclusive(ends_word) {
        let word = piece.trim_end_matches(ends_word);
        let after = piece.chars().next_back().filter(|_| word.len() < piece.len());
        if is_code(word) && (word.starts_with(PREFIX) || (before, after) == (Some('['), Some(']'))) {
            codes.push(word);
        }
        before = after;
    }
    codes
}

/// Capital letters, then three digits.
fn is_code(word: &str) -> bool {
    let word = word.strip_prefix(PREFIX).unwrap_or(word);
    let digits = word.trim_start_matches(|character: char| character.is_ascii_uppercase());
    word.len() > digits.len() && digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The instructions that lines name, by their names or their op names, each once.
fn places(lines: &[&str], hlo: &[u8]) -> Vec<String> {
    let Ok(module) = halite_hlo::decode(hlo) else { return Vec::new() };
    let instructions = module.computations.iter().flat_map(|computation| &computation.instructions);
    let mut named: BTreeMap<&str, &OpMetadata> = BTreeMap::new();
    for instruction in instructions {
        let Some(metadata) = located(instruction) else { continue };
        for name in [&*instruction.name, metadata.op_name.as_str()] {
            // A word without a dot or slash may be any word of the log.
            if name.contains(['.', '/']) {
                named.entry(name).or_insert(metadata);
            }
        }
    }
    let in_name = |character: char| character.is_ascii_alphanumeric() || "_.-/".contains(character);
    let mut places = Vec::new();
    for word in lines.iter().flat_map(|line| line.split(|character| !in_name(character))) {
        let found = named.get_key_value(word).or_else(|| named.get_key_value(word.trim_end_matches('.')));
        let Some((name, metadata)) = found else { continue };
        let place = place(name, metadata);
        if places.len() < SHOWN && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn located(instruction: &HloInstructionProto) -> Option<&OpMetadata> {
    instruction.metadata.as_deref().filter(|metadata| !metadata.op_name.is_empty() || !metadata.source_file.is_empty())
}

fn place(name: &str, metadata: &OpMetadata) -> String {
    let OpMetadata { op_name, source_file, source_line, .. } = metadata;
    let of = if op_name == name || op_name.is_empty() { String::new() } else { format!(" of `{op_name}`") };
    let at = if source_file.is_empty() { String::new() } else { format!(", from {source_file}:{source_line}") };
    format!("the log names `{name}`{of}{at}")
}

fn shortened(line: &str) -> String {
    let text = plain(&line.chars().take(WIDTH).collect::<String>());
    if line.chars().nth(WIDTH).is_some() { text + " ..." } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_hlo::proto::{HloComputationProto, HloModuleProto};
    use halite_support::codes as diagnostic_codes;

    fn hlo() -> Vec<u8> {
        let metadata = OpMetadata {
            op_name: "model.embed".to_owned(),
            source_file: "llama.hal".to_owned(),
            source_line: 31,
            ..OpMetadata::default()
        };
        let instruction = HloInstructionProto {
            name: "gather.12".into(),
            metadata: Some(metadata.into()),
            ..HloInstructionProto::default()
        };
        let computation = HloComputationProto { instructions: vec![instruction], ..HloComputationProto::default() };
        halite_hlo::encode(&HloModuleProto { computations: vec![computation], ..HloModuleProto::default() })
    }

    #[test]
    fn codes_are_found_as_the_compiler_writes_them() {
        assert_eq!(codes("[ERROR] [NCC_ISPP027] Reduce operation"), ["NCC_ISPP027"]);
        assert_eq!(codes("error: NCC_EVRF031: out of bounds"), ["NCC_EVRF031"]);
        assert_eq!(codes("USER 5521 [CommandDriver]: [XTP003]  Number"), ["XTP003"]);
        assert_eq!(codes("F134 [A12] [1234] NCC_ NCC_123 [abc123] é[XTP002]"), ["XTP002"]);
    }

    #[test]
    fn a_failure_leads_to_the_line_of_the_model() {
        let log = "Running DoNothing\nERROR [NCC_EVRF056] %gather.12 reads outside (`model.embed`).\nTraceback error\n";
        let reading = read(log, &hlo());
        let shown = reading.explain(Diagnostic::error(diagnostic_codes::COMPILER_FAILED, "x"));
        let notes = shown.notes().join("\n");
        for part in [
            "EVRF056 means: a gather",
            "EVRF056.rst",
            "`gather.12` of `model.embed`, from llama.hal:31",
            "the log says: ERROR",
        ] {
            assert!(notes.contains(part), "{part} in\n{notes}");
        }
        assert!(
            !notes.contains("Traceback") && shown.help_text().is_some_and(|help| help.contains("seq")),
            "{shown:?}"
        );
    }

    #[test]
    fn what_is_not_known_is_shown_as_it_is() {
        let reading = read("[NCC_EZZZ999] new\n", &[]);
        assert_eq!((reading.errors.len(), reading.unknown.as_slice()), (0, ["NCC_EZZZ999".to_owned()].as_slice()));
        assert_eq!(read("one\ntwo\n\nthree\nfour\nfive\n", &[]).lines, ["two", "three", "four", "five"]);
        assert_eq!(read("", &[]), Reading::default());
    }
}
