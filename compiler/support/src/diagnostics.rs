//! Several diagnostics as one error.

use crate::Diagnostic;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Several diagnostics of one run, in source order. It is a list of them, and an error like any other: `?` carries it into
/// `Box<dyn Error>` and what is made like that.
///
/// ```
/// use halite_support::{Diagnostic, Diagnostics, codes};
///
/// fn compile() -> Result<(), Diagnostics> {
///     Err(vec![Diagnostic::error(codes::INPUT, "there is no `a.hal`"), Diagnostic::error(codes::INPUT, "nor `b.hal`")].into())
/// }
///
/// fn main_of_another_program() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     Ok(compile()?)
/// }
///
/// let error = main_of_another_program().unwrap_err();
/// assert_eq!(error.to_string(), "error[E0401]: there is no `a.hal`\nerror[E0401]: nor `b.hal`");
/// assert_eq!(error.downcast::<Diagnostics>().unwrap().len(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// No diagnostic.
    pub const fn new() -> Self {
        Self(Vec::new())
    }
}

/// So that `?` carries one diagnostic to where several are returned.
impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(list: Vec<Diagnostic>) -> Self {
        Self(list)
    }
}

impl From<Diagnostics> for Vec<Diagnostic> {
    fn from(diagnostics: Diagnostics) -> Self {
        diagnostics.0
    }
}

impl<const N: usize> PartialEq<[Diagnostic; N]> for Diagnostics {
    fn eq(&self, other: &[Diagnostic; N]) -> bool {
        self.0 == other
    }
}

impl Deref for Diagnostics {
    type Target = Vec<Diagnostic>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Diagnostics {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(diagnostics: I) -> Self {
        Self(diagnostics.into_iter().collect())
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        self.0.extend(diagnostics);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut Diagnostics {
    type Item = &'a mut Diagnostic;
    type IntoIter = std::slice::IterMut<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl fmt::Display for Diagnostics {
    /// The concise form of each, one in a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            f.write_str(if index > 0 { "\n" } else { "" })?;
            fmt::Display::fmt(diagnostic, f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for Diagnostics {}
