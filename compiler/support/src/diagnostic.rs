//! Diagnostics: the messages of the compiler to a person, as data.

use crate::{Code, FileId, Span, codes};
use std::collections::BTreeMap;
use std::fmt;

/// The result of anything that can fail because of its input.
pub type Result<T> = std::result::Result<T, Diagnostic>;

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Suspicious; nothing stops unless asked for.
    Warning,
    /// The input is wrong; nothing is produced.
    Error,
    /// An invariant of the compiler is broken; the fault is ours.
    Bug,
}

impl Severity {
    /// The word in front of a message: `note`, `warning`, `error`, `bug`.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Bug => "bug",
        }
    }
}

/// A span with a few words on what is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The text that stands there.
    pub text: String,
}

/// One message: what was found, what was expected, what to do.
///
/// The headline is lower case without a full stop and stands alone; code stands in backticks.
#[derive(Clone, PartialEq, Eq)]
pub struct Diagnostic(Box<Data>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Data {
    code: Code,
    severity: Severity,
    message: String,
    primary: Option<Label>,
    secondary: Vec<Label>,
    notes: Vec<String>,
    help: Option<String>,
    key: Option<String>,
}

/// Puts diagnostics in the order of these texts and of places in them: those without a place first, those in other texts
/// last, equals as they are.
pub fn sort_by_place(diagnostics: &mut [Diagnostic], texts: &[FileId]) {
    let mut places = BTreeMap::new();
    for (place, text) in texts.iter().enumerate() {
        places.entry(text).or_insert(place);
    }
    let rank = |span: Span| match places.get(&span.file) {
        Some(&text) => (text, span.start, span.end),
        None => (texts.len(), 0, 0),
    };
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary().map(|label| rank(label.span)));
}

impl Diagnostic {
    fn new(code: Code, severity: Severity, message: String) -> Self {
        Self(Box::new(Data {
            code,
            severity,
            message,
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            key: None,
        }))
    }

    /// The input is wrong.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    /// The input was understood in a way that is worth knowing.
    pub fn notice(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, message.into())
    }

    /// The input is suspicious.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    /// An invariant is broken; the message names the pass or part that broke it.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(crate::codes::INTERNAL, Severity::Bug, message.into())
    }

    /// Sets the main position and what is there.
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.0.primary = Some(Label { span, text: label.into() });
        self
    }

    /// Sets the main position when there is none yet.
    #[must_use]
    pub fn or_at(mut self, span: Option<Span>, label: impl Into<String>) -> Self {
        if let (None, Some(span)) = (&self.0.primary, span) {
            self.0.primary = Some(Label { span, text: label.into() });
        }
        self
    }

    /// Adds another position that explains the first.
    #[must_use]
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.0.secondary.push(Label { span, text: label.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Names the entry of the recipe that it is about by its dotted path, entries of lists by their position from 0:
    /// `precision.override.1.op`. Whoever knows the text of the recipe adds the place.
    #[must_use]
    pub fn key(mut self, path: impl Into<String>) -> Self {
        self.0.key = Some(path.into());
        self
    }

    /// Puts `context: ` before the headline.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.0.message = format!("{context}: {}", self.0.message);
        self
    }

    /// The same message as a broken invariant of the compiler, `who` being the pass or part at fault.
    #[must_use]
    pub fn into_bug(mut self, who: impl fmt::Display) -> Self {
        self.0.message = format!("internal error: {who}: {}", self.0.message);
        self.0.severity = Severity::Bug;
        self.0.code = crate::codes::INTERNAL;
        self
    }

    /// The code in documentation and tests, such as `E0310`.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Its severity.
    pub fn severity(&self) -> Severity {
        self.0.severity
    }

    /// Whether it is a warning that something could not be proven, of causality or of what ranks hold: it may be right, and nothing shows
    /// that it is wrong.
    pub fn is_unproven(&self) -> bool {
        self.severity() == Severity::Warning && [codes::CAUSALITY, codes::REPLICAS].contains(&self.code())
    }

    /// The headline alone: without code, labels, notes and help.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The main position.
    pub fn primary(&self) -> Option<&Label> {
        self.0.primary.as_ref()
    }

    /// Further positions.
    pub fn secondary(&self) -> &[Label] {
        &self.0.secondary
    }

    /// Further facts.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// The entry of the recipe that it is about.
    pub fn recipe_key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// The remedy in this very case, where it is known.
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The remedy: [`help_text`](Self::help_text), or the usual one of this code.
    pub fn remedy(&self) -> &str {
        self.help_text().unwrap_or(self.code().remedy)
    }
}

impl fmt::Display for Diagnostic {
    /// The concise form: `error[E0203]: headline`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity().word(), self.code().id, self.message())
    }
}

impl fmt::Debug for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for Diagnostic {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    /// Ids are hashes: in their own order some of these would change places.
    #[test]
    fn diagnostics_are_sorted_by_text_and_place() {
        let names: Vec<String> = (0..8).map(|number| format!("{number}.hal")).collect();
        let texts: Vec<FileId> = names.iter().map(|name| FileId::of(name, "text")).collect();
        let at =
            |text, start, message: &str| Diagnostic::error(codes::INPUT, message).at(Span::new(text, start, start), "");
        let others: Vec<String> = (0..8).map(|number| format!("other {number}")).collect();
        let mut all: Vec<_> = others.iter().map(|name| at(FileId::of(name, ""), 0, name)).collect();
        all.push(at(texts[0], 2, "0.hal second"));
        all.extend(names.iter().zip(&texts).rev().map(|(name, &text)| at(text, 1, name)));
        all.push(Diagnostic::error(codes::INPUT, "nowhere"));
        sort_by_place(&mut all, &texts);
        let messages: Vec<&str> = all.iter().map(Diagnostic::message).collect();
        assert_eq!(messages[..3], ["nowhere", "0.hal", "0.hal second"]);
        assert_eq!(messages[3..10], names[1..]);
        assert_eq!(messages[10..], others);
    }
}
