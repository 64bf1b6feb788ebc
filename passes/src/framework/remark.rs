//! Why a pass did, or did not do, what it is for: what `--explain` shows.

use halite_ir::{LocId, LocTable};
use halite_support::{Name, Span};
use std::fmt;

/// One decision of a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Remark {
    /// The name of the pass that decided.
    pub pass: Name,
    /// The rule or pattern of that pass, by name.
    pub rule: String,
    /// Whether it was applied.
    pub taken: bool,
    /// What was done, or what stood in the way.
    pub message: String,
    /// The scope of the instruction, such as `model.layers.0.self_attn`; may be empty.
    pub scope: String,
    /// Its place in the model.
    pub span: Option<Span>,
}

impl Remark {
    /// A rule was applied at a place.
    pub fn taken(pass: impl Into<Name>, rule: impl Into<String>, message: impl Into<String>) -> Self {
        let (pass, rule, message) = (pass.into(), rule.into(), message.into());
        Self { pass, rule, taken: true, message, scope: String::new(), span: None }
    }

    /// A rule almost applied.
    pub fn missed(pass: impl Into<Name>, rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self { taken: false, ..Self::taken(pass, rule, message) }
    }

    /// Where that was.
    #[must_use]
    pub fn at(self, locs: &LocTable, loc: LocId) -> Self {
        Self { scope: locs.scope(loc), span: locs.span(loc), ..self }
    }
}

impl fmt::Display for Remark {
    /// `fuse-softmax: divide-by-sum: taken at model.layers.0: ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.taken { "taken" } else { "not taken" };
        write!(f, "{}: {}: {verdict}", self.pass, self.rule)?;
        if !self.scope.is_empty() {
            write!(f, " at {}", self.scope)?;
        }
        write!(f, ": {}", self.message)
    }
}
