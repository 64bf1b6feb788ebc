//! Shared immutable names.

use crate::{Diagnostic, Result, codes};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An immutable string that is cheap to clone: names of functions, parameters, scopes and attributes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// Checks the name of something from outside, such as `"pass"`: an ASCII letter, then ASCII letters, digits and `marks`.
    /// Pipelines, patterns, models and files name things, so that one with a comma or a slash could not be named, or would
    /// name something else.
    ///
    /// # Errors
    /// [`NAME`](codes::NAME) when it is not of that form.
    pub fn check(&self, what: &str, marks: &str) -> Result<()> {
        let goes_on = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
        if self.starts_with(|c: char| c.is_ascii_alphabetic()) && self.chars().all(goes_on) {
            return Ok(());
        }
        let listed: Vec<_> = marks.chars().map(|mark| format!("`{mark}`")).collect();
        let (first, listed) = (marks.get(..1).unwrap_or_default(), listed.join(", "));
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        Err(Diagnostic::error(codes::NAME, format!("{article} {what} cannot be named `{}`", self.escape_debug()))
            .note(format!("its name is an ASCII letter, followed by any of: ASCII letters, digits, {listed}"))
            .help(format!("name it otherwise, e.g. `own{first}{what}`")))
    }
}

impl Default for Name {
    fn default() -> Self {
        Self::from("")
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl PartialEq<String> for Name {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}
