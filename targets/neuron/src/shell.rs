//! Text for shells, made of parts of which none can end another: whatever the values hold, a shell reads back exactly them
//! and runs nothing else. Everything that prints for a shell prints by this.

#[cfg(feature = "neuronx-cc")]
use std::path::Path;

/// Words that mean something else to a shell where a command is expected.
const RESERVED: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "time", "until", "while",
];

/// Text for a shell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Script(String);

impl Script {
    /// Adds text of our own.
    pub(crate) fn code(&mut self, text: &'static str) -> &mut Self {
        self.0.push_str(text);
        self
    }

    /// Adds one [word](word).
    pub(crate) fn word(&mut self, text: &str) -> &mut Self {
        self.plain(&word(text))
    }

    /// Adds a path as one word.
    #[cfg(feature = "neuronx-cc")]
    pub(crate) fn path(&mut self, path: &Path) -> &mut Self {
        self.word(&path.to_string_lossy())
    }

    /// Adds words with spaces between them.
    pub(crate) fn words<T: AsRef<str>>(&mut self, words: impl IntoIterator<Item = T>) -> &mut Self {
        for (index, word) in words.into_iter().enumerate() {
            self.code(if index == 0 { "" } else { " " }).word(word.as_ref());
        }
        self
    }

    /// Adds a comment up to the end of its line. Control characters, line breaks among them, are escaped.
    pub(crate) fn comment(&mut self, text: &str) -> &mut Self {
        self.code("# ");
        for character in text.chars() {
            match character.is_control() {
                true => self.0.extend(character.escape_default()),
                false => self.0.push(character),
            }
        }
        self.code("\n")
    }

    /// Adds what exports a variable. A shell knows no variable of another name than [`is_name`] takes, so that nothing of
    /// such a one is left but a comment.
    pub(crate) fn export(&mut self, name: &str, value: &str) -> &mut Self {
        if !is_name(name) {
            return self.comment(&format!("not exported, because it is no name of a variable: {name}"));
        }
        self.code("export ").plain(name).code("=").word(value).code("\n")
    }

    /// Adds what runs `code` where a variable is set to something else than a value.
    pub(crate) fn where_other(&mut self, name: &str, value: &str, code: impl FnOnce(&mut Self)) -> &mut Self {
        if is_name(name) {
            self.code("[ -z \"${").plain(name).code("+set}\" ] || [ \"$").plain(name).code("\" = ");
            self.word(value).code(" ] || { ");
            code(self);
            self.code(" }\n");
        }
        self
    }

    /// Adds what runs `code` where a variable is set, if only to nothing.
    pub(crate) fn where_set(&mut self, name: &str, code: impl FnOnce(&mut Self)) -> &mut Self {
        if is_name(name) {
            self.code("[ -z \"${").plain(name).code("+set}\" ] || { ");
            code(self);
            self.code(" }\n");
        }
        self
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    /// Adds text that was looked at.
    fn plain(&mut self, text: &str) -> &mut Self {
        self.0.push_str(text);
        self
    }
}

/// Whether a text is the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_part)
}

/// A word that any POSIX shell reads as this text, wherever it stands. A shell has no word with a zero byte; it drops them.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:,+=-".contains(c);
    let assigns = text.split_once('=').is_some_and(|(name, _)| is_name(name.trim_end_matches('+')));
    if !text.is_empty() && text.chars().all(is_plain) && !assigns && !RESERVED.contains(&text) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The words of a text by the quoting of shells, as Python's `shlex.split` takes it apart; `None` where a quote does not end.
pub(crate) fn split(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(rest.next()?),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        character => word.push(character),
                    }
                }
            }
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            character => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    Some(words)
}

/// Adds what stands up to the end of double quotes, in which a backslash says something before another and before a quote alone.
fn double_quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '"' => return Some(()),
            '\\' => match rest.next()? {
                escaped @ ('"' | '\\') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            character => word.push(character),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
