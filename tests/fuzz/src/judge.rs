//! Requirements on every diagnostic about an input.

use halite_report::Style;
use halite_support::{Diagnostic, Severity, SourceMap, Span};

/// The verdict on an input: whether it was taken, or the fault of Halite.
pub(crate) type Verdict = Result<bool, String>;

/// The most diagnostics that are rendered; all are checked.
const RENDERED: usize = 20;

/// Judges what was said of an input that was refused.
pub(crate) fn refused(diagnostics: &[Diagnostic], sources: &SourceMap) -> Verdict {
    if diagnostics.is_empty() {
        return Err("refused without a word".to_owned());
    }
    if diagnostics.iter().all(|diagnostic| diagnostic.severity() < Severity::Error) {
        return Err("refused with warnings alone".to_owned());
    }
    said(diagnostics, sources).map(|()| false)
}

/// Judges what was said of an input.
pub(crate) fn said(diagnostics: &[Diagnostic], sources: &SourceMap) -> Result<(), String> {
    for diagnostic in diagnostics {
        let wrong = |what: &str| Err(format!("{what}: {diagnostic}"));
        if diagnostic.severity() == Severity::Bug {
            return wrong("exit code 101");
        }
        if diagnostic.message().trim().is_empty() || diagnostic.remedy().trim().is_empty() {
            return wrong("an empty headline or remedy");
        }
        let labels = diagnostic.primary().into_iter().chain(diagnostic.secondary());
        if let Some(label) = labels.into_iter().find(|label| !is_inside(label.span, sources)) {
            return wrong(&format!("a span that is none in its text ({:?})", label.span));
        }
    }
    diagnostics.iter().take(RENDERED).try_for_each(|diagnostic| rendered(diagnostic, sources, Style::default()))
}

/// Judges how a diagnostic looks.
pub(crate) fn rendered(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> Result<(), String> {
    let report = halite_report::report(diagnostic, sources, style);
    // In few columns a code stands in several lines.
    if style.width.is_none_or(|width| width >= 40) && !report.contains(diagnostic.code().id) {
        return Err("a report without its code".to_owned());
    }
    let json = halite_report::json(diagnostic, sources);
    match serde_json::from_str::<serde_json::Value>(&json) {
        Ok(value) if value["message"] == diagnostic.message() && !json.contains('\n') => Ok(()),
        _ => Err("a diagnostic whose JSON is none".to_owned()),
    }
}

/// Whether a span is a range of characters of its text. Of texts that are not at hand nothing is known.
fn is_inside(span: Span, sources: &SourceMap) -> bool {
    let inside = |text: &str| text.get(span.start as usize..span.end as usize).is_some();
    sources.file(span.file).is_none_or(|file| inside(file.text()))
}
