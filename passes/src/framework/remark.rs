//! Why a pass did, or did not do, what it is for: what `--explain` shows.

use crate::framework::calls::Calls;
use halite_ir::paths::nested;
use halite_ir::{FuncId, LocId, Module};
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
    /// The change that was made, or the obstacle to it.
    pub message: String,
    /// The scopes of the instruction, such as `model.layers.0.self_attn`, one for each call of its function; they may be empty.
    pub scopes: Vec<String>,
    /// Its place in the model.
    pub span: Option<Span>,
}

impl Remark {
    /// A rule was applied at a place.
    pub fn taken(pass: impl Into<Name>, rule: impl Into<String>, message: impl Into<String>) -> Self {
        let (pass, rule, message) = (pass.into(), rule.into(), message.into());
        Self { pass, rule, taken: true, message, scopes: Vec::new(), span: None }
    }

    /// A rule almost applied.
    pub fn missed(pass: impl Into<Name>, rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self { taken: false, ..Self::taken(pass, rule, message) }
    }

    /// Sets the place: an instruction of a function.
    #[must_use]
    pub fn at(self, module: &Module, function: FuncId, loc: LocId) -> Self {
        let own = module.locs.scope(loc);
        let calls = Calls::new(module);
        let each = calls.scopes(function).iter();
        let scopes = each.flat_map(|(outer, &times)| std::iter::repeat_n(nested(outer, own.clone()), times)).collect();
        Self { scopes, span: module.locs.span(loc), ..self }
    }

    /// Sets the place, scope by scope.
    pub(crate) fn in_scopes(self, scopes: impl IntoIterator<Item = String>) -> Self {
        Self { scopes: scopes.into_iter().collect(), ..self }
    }
}

impl fmt::Display for Remark {
    /// `fuse-softmax: divide-by-sum: taken at model.layers.0: ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.taken { "taken" } else { "not taken" };
        write!(f, "{}: {}: {verdict}", self.pass, self.rule)?;
        if self.scopes.iter().any(|scope| !scope.is_empty()) {
            write!(f, " at {}", self.scopes.join(", "))?;
        }
        write!(f, ": {}", self.message)
    }
}
