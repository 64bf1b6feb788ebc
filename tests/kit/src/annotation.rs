//! `//~` lines: expected diagnostics.

use halite_support::{Diagnostic, SourceMap};

/// An expected diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// The line it is on, from 1; `None` for one without a position.
    pub line: Option<usize>,
    /// A part of its concise form without the code, `error: headline`.
    pub text: String,
    /// The line of the annotation itself.
    pub at: usize,
}

impl Annotation {
    /// The annotations of a text.
    pub fn parse_all(text: &str) -> Vec<Self> {
        let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        numbered.filter_map(|(at, line)| line.split_once("//~").map(|(_, rest)| Self::new(at, rest))).collect()
    }

    fn new(at: usize, rest: &str) -> Self {
        if let Some(rest) = rest.strip_prefix('?') {
            return Self { line: None, text: rest.trim().to_owned(), at };
        }
        let text = rest.trim_start_matches('^');
        Self { line: Some(at.saturating_sub(rest.len() - text.len())), text: text.trim().to_owned(), at }
    }
}

/// Checks that each diagnostic is annotated and each annotation met.
///
/// # Errors
/// Naming the ones left over.
pub fn match_diagnostics(text: &str, found: &[Diagnostic], sources: &SourceMap) -> Result<(), String> {
    let mut expected = Annotation::parse_all(text);
    let mut problems = Vec::new();
    for diagnostic in found {
        let line = diagnostic.primary().and_then(|label| Some(sources.position(label.span)?.line));
        let shown = concise(diagnostic);
        match expected.iter().position(|annotation| annotation.line == line && shown.contains(&annotation.text)) {
            Some(met) => drop(expected.remove(met)),
            None => problems.push(format!("not expected, {}: {shown}", place(line))),
        }
    }
    let missing =
        expected.iter().map(|annotation| format!("expected, {}: {}", place(annotation.line), annotation.text));
    problems.extend(missing);
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn place(line: Option<usize>) -> String {
    line.map_or("without a line".to_owned(), |line| format!("line {line}"))
}

/// `error: headline`.
fn concise(diagnostic: &Diagnostic) -> String {
    let shown = diagnostic.to_string();
    let (word, _) = shown.split_once('[').unwrap_or((&shown, ""));
    format!("{word}: {}", diagnostic.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_point_up() {
        let all = Annotation::parse_all("a\nb //~ error: x\n//~^^ error: y\n//~? error: z");
        let lines: Vec<_> = all.iter().map(|annotation| annotation.line).collect();
        assert_eq!(lines, [Some(2), Some(1), None]);
    }
}
