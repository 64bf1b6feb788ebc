//! Names of instructions.

use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;

/// A name. One as short as most of those that are made of an opcode and a number takes no memory of its own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Name(SmallVec<[u8; 16]>);

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(SmallVec::from_slice(text.as_bytes()))
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        // It is made of text alone.
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, text: &str) -> bool {
        self.0.as_slice() == text.as_bytes()
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
