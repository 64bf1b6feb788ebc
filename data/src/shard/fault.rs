//! Faults: the content of files that is no document.

use halite_support::{Diagnostic, codes};
use std::io::ErrorKind;
use std::str::Utf8Error;

/// The reason why something cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reason {
    Empty,
    NotUtf8,
    NotJson,
    NoColumn,
    /// A conversation, where a text is expected.
    Chat,
    TooLong,
    Damaged,
}

/// Something that cannot be used, with the exact fault.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    /// Bytes of the text, tokens or rows before it.
    pub(crate) at: u64,
    pub(crate) detail: String,
}

impl Reason {
    /// The reason in a few words, for counts.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Empty => "empty document",
            Self::NotUtf8 => "not UTF-8",
            Self::NotJson => "not a JSON object",
            Self::NoColumn => "no text under the key",
            Self::Chat => "a conversation, no text",
            Self::TooLong => "line or text too long",
            Self::Damaged => "damaged file",
        }
    }

    /// Whether it is left out even where mistakes end the run.
    pub(crate) fn is_harmless(self) -> bool {
        self == Self::Empty
    }
}

impl Fault {
    /// A document without content.
    pub(crate) fn empty(at: u64) -> Self {
        Self { reason: Reason::Empty, at, detail: "the document is empty".to_owned() }
    }

    /// A text that begins at a byte and is not UTF-8.
    pub(crate) fn not_utf8(start: u64, error: &Utf8Error) -> Self {
        let at = start + error.valid_up_to() as u64;
        Self { reason: Reason::NotUtf8, at, detail: format!("byte {at} of the text is not UTF-8") }
    }

    /// The fault as an error at a place.
    pub(crate) fn at_place(&self, place: &str) -> Diagnostic {
        let error = Diagnostic::error(codes::DATA, format!("{place}: {}", self.detail));
        match self.reason {
            Reason::Chat => error
                .note("conversations are not read: their tokens depend on the template of the tokenizer")
                .help(
                    "write each conversation as one text, as with `apply_chat_template` of Transformers; to train on answers alone, feed \
                     which tokens count: `halite help prompt masking`",
                ),
            _ => error.help("mend the file, or write `on_error = \"skip\"` to leave out what cannot be read"),
        }
    }
}

/// Whether an error of reading means that the content is wrong, rather than that it could not be read.
pub(crate) fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other)
}
