//! Rendering of diagnostics: a [`report`] for people, [`json`] for programs, and texts in the columns of a terminal. Nothing here
//! prints.

mod excerpt;
mod text;

pub use halite_support::text::{plain, visible};
pub use text::{columns, shortened, visible_json, wrap};

use excerpt::Excerpt;
use halite_support::{Diagnostic, Label, Position, Severity, SourceMap, Span};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, ThemeCharacters, ThemeStyles};
use serde::Serialize;
use std::fmt;

/// The style of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether to use colors.
    pub color: bool,
    /// Columns of the terminal. Where there is none, sentences are not broken into lines, and of lines of a text
    /// [`EXCERPT`] columns are shown.
    pub width: Option<usize>,
}

/// Columns of the lines of a text where there is no terminal.
pub const EXCERPT: usize = 120;
/// Columns of a line in another text than the main one.
const FAR: usize = 100;
/// The most bytes of such a line that are looked at.
const LINE: usize = 4096;
/// The most places that are shown of one diagnostic.
const PLACES: usize = 16;

/// A report with headline, source lines, carets, notes and help. What stands in a text that `sources` does not hold becomes
/// a note. Its length, and the work for it, do not depend on the size of the texts.
pub fn report(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let styles = if style.color { ThemeStyles::ansi() } else { ThemeStyles::none() };
    let theme = GraphicalTheme { characters: ThemeCharacters::unicode(), styles };
    let handler = GraphicalReportHandler::new_themed(theme).with_wrap_lines(false).with_links(false);
    let mut text = String::new();
    let view = View::new(diagnostic, sources, style);
    match handler.render_report(&mut text, &view) {
        Ok(()) => text.trim_start_matches('\n').to_owned() + &footer(diagnostic, sources, style),
        Err(fmt::Error) => format!("{diagnostic}\n"),
    }
}

/// A sentence after something of so many columns, in lines where there is a terminal.
fn sentence(text: &str, style: Style, before: usize) -> String {
    let text = visible(&text.trim_end().replace(['\t', '\r'], " "));
    style.width.map_or_else(|| text.clone(), |width| wrap(&text, width.saturating_sub(before), ""))
}

/// Notes and help, each under its word.
fn footer(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let paint = |word: &str| if style.color { format!("\u{1b}[36m{word}\u{1b}[0m") } else { word.to_owned() };
    let line = |word: &str, text: &str| {
        format!("  {}: {}\n", paint(word), sentence(text, style, 8).replace('\n', "\n        "))
    };
    let elsewhere = labels(diagnostic).filter(|label| !is_shown(label, diagnostic, sources));
    let elsewhere = elsewhere.map(|label| far(label, sources));
    let notes = diagnostic.notes().iter().cloned().chain(elsewhere);
    let notes: String = notes.map(|note| line("note", &note)).collect();
    let hidden = labels(diagnostic).filter(|label| is_shown(label, diagnostic, sources)).skip(PLACES).count();
    let hidden = if hidden == 0 { String::new() } else { line("note", &format!("and {hidden} more places")) };
    notes + &hidden + &line("help", diagnostic.remedy())
}

/// All labels, the main one first.
fn labels(diagnostic: &Diagnostic) -> impl Iterator<Item = &Label> {
    diagnostic.primary().into_iter().chain(diagnostic.secondary())
}

/// Labels in other files than the main one stand in the footer, because a report shows one text; so do those in unknown
/// files.
fn is_shown(label: &Label, diagnostic: &Diagnostic, sources: &SourceMap) -> bool {
    let file = diagnostic.primary().map(|label| label.span.file);
    Some(label.span.file) == file && sources.file(label.span.file).is_some()
}

/// A diagnostic with the parts of the source it points into, as miette sees one.
struct View<'a> {
    diagnostic: &'a Diagnostic,
    headline: String,
    excerpt: Option<Excerpt>,
}

impl<'a> View<'a> {
    fn new(diagnostic: &'a Diagnostic, sources: &'a SourceMap, style: Style) -> Self {
        let headline = sentence(&diagnostic.to_string(), style, 4);
        let file = diagnostic.primary().and_then(|label| sources.file(label.span.file));
        let excerpt = file.map(|file| {
            let here = labels(diagnostic).filter(|label| is_shown(label, diagnostic, sources));
            let name = plain(file.name());
            // Beside the name stand frame, line and column.
            let name = style.width.map_or_else(|| name.clone(), |width| shortened(&name, width.saturating_sub(30)));
            Excerpt::of(file, name, &here.take(PLACES).collect::<Vec<_>>(), style.width.unwrap_or(EXCERPT))
        });
        Self { diagnostic, headline, excerpt }
    }
}

/// The line in which a span begins, with single spaces.
fn line_of(span: Span, sources: &SourceMap) -> Option<String> {
    let file = sources.file(span.file)?;
    let start = file.line_start(file.position(span.start as usize).line)?;
    // Of a line without end no more than this is looked at.
    let most = file.text().len().min(start + LINE);
    let most = (start..=most).rev().find(|at| file.text().is_char_boundary(*at)).unwrap_or(start);
    let line = file.text()[start..most].lines().next()?;
    Some(line.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty())
}

/// A label that stands in another text than the main one: where it is, and the line there.
fn far(label: &Label, sources: &SourceMap) -> String {
    match point(label.span, sources) {
        Some(Point { file, line, column }) => {
            let at = format!("{} at {file}:{line}:{column}", label.text);
            match line_of(label.span, sources) {
                Some(line) => format!("{at}: {}", shortened(&line, FAR)),
                None => at,
            }
        }
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
            Severity::Note => miette::Severity::Advice,
            Severity::Warning => miette::Severity::Warning,
            Severity::Error | Severity::Bug => miette::Severity::Error,
        })
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = self.excerpt.as_ref()?.labels();
        (!labels.is_empty()).then(|| Box::new(labels.iter().cloned()) as Box<dyn Iterator<Item = _>>)
    }
}

/// One line of JSON: code, severity, message, the main position when there is one, further positions, notes, help. A
/// position in a text that `sources` does not hold is its label alone.
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let record = Record {
        code: diagnostic.code().id,
        severity: diagnostic.severity().word(),
        message: diagnostic.message(),
        at: diagnostic.primary().map(|label| label_record(label, sources)),
        also: diagnostic.secondary().iter().map(|label| label_record(label, sources)).collect(),
        notes: diagnostic.notes(),
        recipe_key: diagnostic.recipe_key(),
        help: diagnostic.remedy(),
    };
    visible_json(&serde_json::to_string(&record).expect("a record of strings and numbers has a JSON form"))
}

fn point(span: Span, sources: &SourceMap) -> Option<Point<'_>> {
    let Position { line, column } = sources.position(span)?;
    Some(Point { file: sources.file(span.file)?.name(), line, column })
}

fn label_record<'a>(label: &'a Label, sources: &'a SourceMap) -> LabelRecord<'a> {
    LabelRecord { point: point(label.span, sources), label: &label.text }
}

#[derive(Serialize)]
struct Record<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    #[serde(flatten)]
    at: Option<LabelRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<LabelRecord<'a>>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe_key: Option<&'a str>,
    help: &'a str,
}

/// A label; one in an unknown text has no point.
#[derive(Serialize)]
struct LabelRecord<'a> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use halite_support::{FileId, codes};

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

    /// An error at the byte of `text` where `mark` begins.
    fn error_at(text: &str, mark: &str, width: Option<usize>) -> String {
        let mut sources = SourceMap::new();
        let file = sources.add("a.json", text);
        let start = text.find(mark).unwrap();
        let diagnostic = Diagnostic::error(codes::RECIPE_RANGE, "wrong")
            .at(Span::new(file, start, start + mark.len()), "expected a whole number, found something else")
            .help("set it");
        report(&diagnostic, &sources, Style { color: false, width })
    }

    #[test]
    fn of_a_long_line_the_part_with_the_label_is_shown() {
        let text = format!("{{\"x\": \"{}\", \"late\": -4, \"y\": \"{}\"}}", "a".repeat(70_000), "b".repeat(70_000));
        let shown = error_at(&text, "-4", Some(60));
        let expected = "  × error[E0405]: wrong
   ╭─[a.json:1:70019]
 1 │ …aa\", \"late\": -4, \"y\": \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…
   ·               ─┬
   ·                ╰─┤ expected a whole number, found
   ·                  │ something else
   ╰────
  help: set it
";
        assert_eq!(shown, expected, "\n{shown}");
        assert!(error_at(&text, "-4", None).contains("\"late\": -4"));
        assert!(error_at(&text, "-4", Some(usize::MAX)).contains("\"late\": -4"));
    }

    #[test]
    fn labels_stand_below_tabs_wide_and_hidden_characters() {
        let shown = error_at("\tx = 中文\u{1b}[2J\u{202e} oops\n", "oops", Some(80));
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[2], " 1 │     x = 中文\\u{1b}[2J\\u{202e} oops");
        let marked = columns(&lines[3][..lines[3].find('─').unwrap()]);
        assert_eq!(marked, columns(&lines[2][..lines[2].find("oops").unwrap()]), "\n{shown}");
    }

    #[test]
    fn of_labels_far_apart_the_lines_between_are_left_out() {
        let text: String = (1..=60).map(|line| format!("line {line}\n")).collect();
        let mut sources = SourceMap::new();
        let file = sources.add("a.hal", text.as_str());
        let at = |line: &str| Span::new(file, text.find(line).unwrap(), text.find(line).unwrap() + 4);
        let diagnostic =
            Diagnostic::error(codes::INPUT, "twice").at(at("line 55\n"), "again").also(at("line 5\n"), "first");
        // A label over many lines is shown where it begins.
        let diagnostic = diagnostic.also(at("line 30\n").to(at("line 50\n")), "all of it");
        let shown = report(&diagnostic, &sources, Style::default());
        let numbers: Vec<&str> =
            shown.lines().filter_map(|line| line.split_once(" │ line").map(|(number, _)| number.trim())).collect();
        assert_eq!(numbers, ["4", "5", "6", "29", "30", "31", "54", "55", "56"], "\n{shown}");
        assert!(shown.contains("a.hal:55:1") && shown.contains("a.hal:5:1"), "{shown}");
    }

    /// Texts of random bytes, read as most of them would be, with labels anywhere.
    #[test]
    fn nothing_that_a_terminal_obeys_goes_out_and_no_line_is_too_long() {
        let mut state = 7u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below.max(1)
        };
        let pieces = [
            "word ",
            "\t",
            "\n",
            "\r\n",
            "\r",
            "中文",
            "é",
            "e\u{301}",
            "\u{1b}[31m",
            "\u{9b}",
            "\u{202e}",
            "\u{200b}",
            "\u{7}",
            "👩\u{200d}👩",
            "\u{e0041}",
            " ",
        ];
        for round in 0..400 {
            let mut text = String::new();
            for _ in 0..random(if round % 5 == 0 { 3000 } else { 60 }) {
                match random(3) {
                    0 => text.push_str(&String::from_utf8_lossy(&[random(256) as u8, random(256) as u8])),
                    _ => text.push_str(pieces[random(pieces.len())]),
                }
            }
            let mut sources = SourceMap::new();
            let file = sources.add("a\u{1b}]0;b.hal", text.as_str());
            let mut span = || Span::new(file, random(text.len() + 3), random(text.len() + 3));
            let mut diagnostic = Diagnostic::error(
                codes::INPUT,
                format!("found `{}`", &text.chars().take(9).collect::<String>()),
            )
            .at(span(), "a label of a few words that is longer than many")
            .note("a note about \u{1b}[2J what is there, at some length so that it needs another line to be shown");
            for _ in 0..round % 4 {
                diagnostic = diagnostic.also(span(), "further");
            }
            for width in [60, 80, 120] {
                let shown = report(&diagnostic, &sources, Style { color: false, width: Some(width) });
                assert!(
                    !shown.chars().any(|character| character != '\n' && halite_support::text::is_hidden(character)),
                    "{shown:?}"
                );
                let widest = shown.lines().map(columns).max().unwrap();
                assert!(widest <= width, "{widest} columns of {width}\n{shown}");
            }
            let json = json(&diagnostic, &sources);
            assert!(!json.chars().any(halite_support::text::is_hidden), "{json:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["notes"][0], diagnostic.notes()[0]);
        }
    }
}
