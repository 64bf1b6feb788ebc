//! How diagnostics look: a report for people, JSON for programs. Nothing here prints.

use halite_support::{Diagnostic, Label, Severity, SourceMap, Span, codes};
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

/// A report with headline, source lines, carets, notes and help.
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
    let elsewhere = diagnostic.secondary().iter().filter(|label| Some(label.span.file) != file);
    let notes = diagnostic.notes().iter().cloned().chain(elsewhere.map(|label| far(label, sources)));
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
    /// Labels in other files than the main one stand in the footer, because a report shows one text.
    fn new(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Self {
        let file = diagnostic.primary().map(|label| label.span.file);
        let all = diagnostic.primary().into_iter().chain(diagnostic.secondary());
        let here = all.filter(|label| Some(label.span.file) == file);
        let labels = here.enumerate().map(|(index, label)| labeled(label, index == 0, sources)).collect();
        Self {
            diagnostic,
            headline: plain_lines(&diagnostic.to_string(), "\n"),
            source: file.map(|file| sources.file(file)).map(|file| NamedSource::new(&file.name, file.text.clone())),
            labels,
        }
    }
}

fn labeled(label: &Label, primary: bool, sources: &SourceMap) -> LabeledSpan {
    let length = sources.file(label.span.file).text.len();
    let start = (label.span.start as usize).min(length);
    let end = (label.span.end as usize).clamp(start, length);
    let text = (!label.text.is_empty()).then(|| plain_lines(&label.text, "\n"));
    let new = if primary { LabeledSpan::new_primary_with_span } else { LabeledSpan::new_with_span };
    new(text, (start, end - start))
}

fn far(label: &Label, sources: &SourceMap) -> String {
    let place = place(label.span, sources);
    format!("{} at {}:{}:{}", label.text, place.file, place.line, place.column)
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

/// One line of JSON: code, severity, message, the main position when there is one, further positions, notes, help.
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let record = Record {
        code: diagnostic.code().id,
        severity: diagnostic.severity().word(),
        message: diagnostic.message(),
        at: diagnostic.primary().map(|label| labeled_place(label, sources)),
        also: diagnostic.secondary().iter().map(|label| labeled_place(label, sources)).collect(),
        notes: diagnostic.notes(),
        recipe_key: diagnostic.recipe_key(),
        help: diagnostic.remedy(),
    };
    serde_json::to_string(&record).expect("a record of strings and numbers has a JSON form")
}

fn place(span: Span, sources: &SourceMap) -> Place<'_> {
    let position = sources.position(span);
    Place { file: &sources.file(span.file).name, line: position.line, column: position.column, label: "" }
}

fn labeled_place<'a>(label: &'a Label, sources: &'a SourceMap) -> Place<'a> {
    Place { label: &label.text, ..place(label.span, sources) }
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

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    label: &'a str,
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
