//! How diagnostics look: a report for people, JSON for programs. Nothing here prints.

use halite_support::{Diagnostic, Label, Position, Severity, SourceMap, Span, codes};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode, ThemeCharacters, ThemeStyles,
};
use serde::Serialize;
use std::fmt;

/// How a report looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Whether to use colors.
    pub color: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for Style {
    /// No color, 120 columns.
    fn default() -> Self {
        Self { color: false, width: 120 }
    }
}

/// Text of others on one line, without the characters that a terminal obeys.
pub fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// Lines of others, each plain, with this between them.
fn plain_lines(text: &str, between: &str) -> String {
    text.split('\n').map(plain).collect::<Vec<_>>().join(between)
}

/// A report with headline, source lines, carets, notes and help. What stands in a text that `sources` does not hold becomes
/// a note.
pub fn report(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let styles = if style.color { ThemeStyles::ansi() } else { ThemeStyles::none() };
    let theme = GraphicalTheme { characters: ThemeCharacters::unicode(), styles };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(style.width).with_links(false);
    let mut text = String::new();
    let view = View::new(diagnostic, sources);
    match handler.render_report(&mut text, &view) {
        Ok(()) => text.trim_start_matches('\n').to_owned() + &footer(diagnostic, sources, style),
        Err(fmt::Error) => format!("{diagnostic}\n"),
    }
}

/// Notes and help, each under its word.
fn footer(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let paint = |word: &str| if style.color { format!("\u{1b}[36m{word}\u{1b}[0m") } else { word.to_owned() };
    let line = |word: &str, text: &str| format!("  {}: {}\n", paint(word), plain_lines(text.trim_end(), "\n        "));
    let file = diagnostic.primary().map(|label| label.span.file);
    let shown = |label: &&Label| Some(label.span.file) == file && sources.file(label.span.file).is_some();
    let labels = diagnostic.primary().into_iter().chain(diagnostic.secondary());
    let elsewhere = labels.filter(|label| !shown(label)).map(|label| far(label, sources));
    let notes = diagnostic.notes().iter().cloned().chain(elsewhere);
    let notes: String = notes.map(|note| line("note", &note)).collect();
    notes + &line("help", diagnostic.remedy())
}

/// A diagnostic with the source it points into, as miette sees one.
struct View<'a> {
    diagnostic: &'a Diagnostic,
    headline: String,
    source: Option<NamedSource<String>>,
    labels: Vec<LabeledSpan>,
}

impl<'a> View<'a> {
    /// Labels in other files than the main one stand in the footer, because a report shows one text; so do those in unknown
    /// files.
    fn new(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Self {
        let headline = plain_lines(&diagnostic.to_string(), "\n");
        let Some(file) = diagnostic.primary().and_then(|label| sources.file(label.span.file)) else {
            return Self { diagnostic, headline, source: None, labels: Vec::new() };
        };
        let all = diagnostic.primary().into_iter().chain(diagnostic.secondary());
        let here = all.filter(|label| label.span.file == file.id());
        let labels = here.enumerate().map(|(index, label)| labeled(label, index == 0, file.text().len())).collect();
        Self { diagnostic, headline, source: Some(NamedSource::new(file.name(), file.text().to_owned())), labels }
    }
}

/// A label in a text of `length` bytes.
fn labeled(label: &Label, primary: bool, length: usize) -> LabeledSpan {
    let start = (label.span.start as usize).min(length);
    let end = (label.span.end as usize).clamp(start, length);
    let text = (!label.text.is_empty()).then(|| plain_lines(&label.text, "\n"));
    let new = if primary { LabeledSpan::new_primary_with_span } else { LabeledSpan::new_with_span };
    new(text, (start, end - start))
}

fn far(label: &Label, sources: &SourceMap) -> String {
    match point(label.span, sources) {
        Some(Point { file, line, column }) => format!("{} at {file}:{line}:{column}", label.text),
        None => format!("{}, in a text that is not at hand", if label.text.is_empty() { "here" } else { &label.text }),
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)
    }
}

impl std::error::Error for View<'_> {}

impl miette::Diagnostic for View<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity() {
            Severity::Warning => miette::Severity::Warning,
            Severity::Error | Severity::Bug => miette::Severity::Error,
        })
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.labels.is_empty()).then(|| Box::new(self.labels.iter().cloned()) as Box<dyn Iterator<Item = _>>)
    }
}

/// One line of JSON: code, severity, message, the main position when there is one, further positions, notes, help. A
/// position in a text that `sources` does not hold is its label alone.
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let record = Record {
        code: diagnostic.code().id,
        severity: diagnostic.severity().word(),
        message: diagnostic.message(),
        at: diagnostic.primary().map(|label| place(label, sources)),
        also: diagnostic.secondary().iter().map(|label| place(label, sources)).collect(),
        notes: diagnostic.notes(),
        recipe_key: diagnostic.recipe_key(),
        help: diagnostic.remedy(),
    };
    serde_json::to_string(&record).expect("a record of strings and numbers has a JSON form")
}

fn point(span: Span, sources: &SourceMap) -> Option<Point<'_>> {
    let Position { line, column } = sources.position(span)?;
    Some(Point { file: sources.file(span.file)?.name(), line, column })
}

fn place<'a>(label: &'a Label, sources: &'a SourceMap) -> Place<'a> {
    Place { point: point(label.span, sources), label: &label.text }
}

#[derive(Serialize)]
struct Record<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    #[serde(flatten)]
    at: Option<Place<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<Place<'a>>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe_key: Option<&'a str>,
    help: &'a str,
}

/// A label; one in an unknown text has no point.
#[derive(Serialize)]
struct Place<'a> {
    #[serde(flatten)]
    point: Option<Point<'a>>,
    label: &'a str,
}

#[derive(Serialize)]
struct Point<'a> {
    file: &'a str,
    line: usize,
    column: usize,
}

/// The exit code of a run that ended with these diagnostics: 101 for a bug of the compiler, 3 for something that is
/// not installed, 2 for wrong input, 1 for a run that failed by its own measure, 0 when nothing is worse than a warning.
pub fn exit_code(diagnostics: &[Diagnostic]) -> u8 {
    let code = |diagnostic: &Diagnostic| match diagnostic.severity() {
        Severity::Warning => 0,
        Severity::Bug => 101,
        Severity::Error if is_missing(diagnostic) => 3,
        Severity::Error if is_failure(diagnostic) => 1,
        Severity::Error => 2,
    };
    diagnostics.iter().map(code).max().unwrap_or(0)
}

fn is_missing(diagnostic: &Diagnostic) -> bool {
    let plugin = [codes::PLUGIN_INSTALL, codes::PLUGIN_MISSING, codes::PLUGIN_UNUSABLE];
    let compiler = [codes::COMPILER_MISSING, codes::COMPILER_UNUSABLE];
    plugin.contains(&diagnostic.code()) || compiler.contains(&diagnostic.code())
}

fn is_failure(diagnostic: &Diagnostic) -> bool {
    [codes::DIVERGED, codes::CAUSALITY, codes::COMPILER_FAILED, codes::COMPILER_STOPPED].contains(&diagnostic.code())
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_support::FileId;

    fn example() -> (Diagnostic, SourceMap) {
        let mut sources = SourceMap::new();
        let file = sources.add("a.toml", "batch = 1\nseq = 0\n");
        let diagnostic = Diagnostic::error(codes::RECIPE_RANGE, "`seq` is 0")
            .at(Span::new(file, 16, 17), "at least 1")
            .note("a fact")
            .help("set it");
        (diagnostic, sources)
    }

    #[test]
    fn a_report_shows_the_line_and_what_to_do() {
        let (diagnostic, sources) = example();
        let text = report(&diagnostic, &sources, Style::default());
        for part in ["error[E0405]: `seq` is 0", "a.toml:2:7", "seq = 0", "at least 1", "note: a fact", "set it"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn json_is_one_line_with_the_position() {
        let (diagnostic, sources) = example();
        let expected = r#"{"code":"E0405","severity":"error","message":"`seq` is 0","file":"a.toml","line":2,"column":7,"label":"at least 1","notes":["a fact"],"help":"set it"}"#;
        assert_eq!(json(&diagnostic, &sources), expected);
        let keyed = expected.replace("\"help\"", "\"recipe_key\":\"seq\",\"help\"");
        assert_eq!(json(&diagnostic.key("seq"), &sources), keyed);
    }

    #[test]
    fn an_unknown_text_costs_the_excerpt_alone() {
        let (diagnostic, sources) = example();
        let known = sources.files().next().unwrap().id();
        let text = report(&diagnostic, &SourceMap::new(), Style::default());
        for part in
            ["error[E0405]: `seq` is 0", "note: a fact", "note: at least 1, in a text that is not at hand", "set it"]
        {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let expected = r#"{"code":"E0405","severity":"error","message":"`seq` is 0","label":"at least 1","notes":["a fact"],"help":"set it"}"#;
        assert_eq!(json(&diagnostic, &SourceMap::new()), expected);
        // Labels in a known text beside one that is not.
        let mixed = Diagnostic::error(codes::RECIPE_RANGE, "two places")
            .at(Span::new(FileId::of("b.toml", ""), 0, 0), "")
            .also(Span::new(known, 16, 17), "and this");
        let text = report(&mixed, &sources, Style::default());
        for part in ["note: here, in a text that is not at hand", "note: and this at a.toml:2:7"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let expected = r#""label":"","also":[{"file":"a.toml","line":2,"column":7,"label":"and this"}]"#;
        assert!(json(&mixed, &sources).contains(expected), "{}", json(&mixed, &sources));
    }

    #[test]
    fn exit_codes_tell_whose_fault_it_is() {
        let (error, _) = example();
        assert_eq!(exit_code(&[]), 0);
        assert_eq!(exit_code(&[Diagnostic::warning(codes::UNUSED, "w")]), 0);
        assert_eq!(exit_code(std::slice::from_ref(&error)), 2);
        assert_eq!(exit_code(&[Diagnostic::error(codes::PLUGIN_MISSING, "m")]), 3);
        assert_eq!(exit_code(&[Diagnostic::error(codes::CAUSALITY, "c")]), 1);
        assert_eq!(exit_code(&[error, Diagnostic::bug("b")]), 101);
    }
}
